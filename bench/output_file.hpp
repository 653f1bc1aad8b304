// A file for results. It is opened before anything is measured, so that a name that cannot be written is an
// error at once, and filled at the end; what was in it until then stays if there is no end.
#pragma once

#include <string>

namespace weft::bench {

class OutputFile {
 public:
  /// An empty name is none. Throws `weft::Error` if the file cannot be written.
  explicit OutputFile(std::string name);
  /// A file that was not there before, and that nothing was written to, goes again.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const std::string& text);

 private:
  std::string name_;
  bool is_new_ = false;
};

}  // namespace weft::bench
