#include "output_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "weft/error.hpp"

namespace weft::bench {

void OutputFile::fail() const {
  throw Error(what_, "cannot write " + name_ + ": " + std::strerror(errno),
              "a file in a folder that is there and that this user may write");
}

OutputFile::OutputFile(std::string name, std::string what) : name_(std::move(name)), what_(std::move(what)) {
  if (name_.empty()) return;
  std::error_code none;
  const bool is_new = !std::filesystem::exists(name_, none);
  if (!std::ofstream(name_, std::ios::app)) fail();
  is_new_ = is_new;
}

OutputFile::~OutputFile() {
  std::error_code none;
  if (is_new_) std::filesystem::remove(name_, none);
}

void OutputFile::write(const std::string& text) {
  if (name_.empty()) return;
  std::ofstream out(name_);
  out << text;
  out.close();
  if (!out) fail();
  is_new_ = false;
}

std::string read_file(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || text.bad()) throw Error("weft-bench", "a file that cannot be read: " + name, "its name");
  return text.str();
}

}  // namespace weft::bench
