// A file for results. It is opened before anything is measured, so that a file that cannot be written is an
// error at once. It is written at the end; until then it keeps its contents.
#pragma once

#include <string>

namespace weft::bench {

class OutputFile {
 public:
  /// With an empty name there is no file. `what` is what errors begin with: the program, or its argument.
  /// Throws `weft::Error` if the file cannot be written.
  explicit OutputFile(std::string name, std::string what = "weft-bench");
  /// Removes the file if it is new and nothing was written.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const std::string& text);

 private:
  [[noreturn]] void fail() const;

  std::string name_, what_;
  bool is_new_ = false;
};

/// The text of a file. Throws `weft::Error` if it cannot be read.
std::string read_file(const std::string& name);

}  // namespace weft::bench
