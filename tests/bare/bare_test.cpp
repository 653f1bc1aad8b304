// A build without any local FFT library compiles, links and says what it lacks, and why it has no arrays in
// memory of GPUs, which the argument is part of. Exits with 1 if it does not.
#include <cstdio>
#include <string>

#include "weft/weft.hpp"

namespace {

bool is_refused(weft::MemoryKind memory, const std::string& why) {
  weft::Problem problem;
  problem.shape = {8, 8, 8};
  problem.memory = memory;
  try {
    const weft::Plan plan(weft::Comm::self(), problem);
  } catch (const weft::Error& e) {
    std::printf("%s\n", e.what());
    return std::string(e.what()).find(why) != std::string::npos;
  }
  return false;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 1;
  const bool refused = is_refused(weft::MemoryKind::host, "without any local FFT library");
  return is_refused(weft::MemoryKind::cuda, arguments[1]) && refused ? 0 : 1;
}
