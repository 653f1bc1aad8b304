#include "weft/error.hpp"

namespace weft {

namespace {
std::string message(const std::string& operation, const std::string& got, const std::string& expected,
                    int rank) {
  std::string text = "weft: " + operation + ": " + got;
  if (!expected.empty()) text += "; expected " + expected;
  if (rank >= 0) text += " (rank " + std::to_string(rank) + ")";
  return text;
}
}  // namespace

Error::Error(std::string operation, std::string got, std::string expected, int rank)
    : std::runtime_error(message(operation, got, expected, rank)),
      operation_(std::move(operation)),
      got_(std::move(got)),
      expected_(std::move(expected)),
      rank_(rank) {}

}  // namespace weft
