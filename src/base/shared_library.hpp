// A shared library opened at run time, and the file that loaded code comes from. Optional libraries are
// opened when they are first needed, so that neither building nor starting Weft requires them.
#pragma once

#include <optional>
#include <string>

namespace weft {

/// An open library. The destructor closes it.
class SharedLibrary {
 public:
  /// Opens a file, or searches for a bare name as the loader does. The library's symbols are visible only
  /// through this object. Returns nothing on failure, and the loader's message in `why`, if given.
  static std::optional<SharedLibrary> open(const std::string& file, std::string* why = nullptr);

  SharedLibrary(SharedLibrary&& other) noexcept;
  SharedLibrary& operator=(SharedLibrary&& other) noexcept;
  ~SharedLibrary();

  /// The address of a symbol; null if the library has none of this name.
  void* address(const char* symbol) const;

  /// Sets `function` to the address of `symbol`; false if there is no such symbol.
  template <class Function>
  bool bind(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(address(symbol));
    return function != nullptr;
  }

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  void* handle_;
};

/// The file that a function or object was loaded from; empty if unknown. In a program linked for a fixed
/// address, the address of a library's function may be that of the program's own linkage table, and the file
/// then is the program.
std::string file_of(const void* address);

template <class Result, class... Arguments>
std::string file_of(Result (*function)(Arguments...)) {
  return file_of(reinterpret_cast<const void*>(function));
}

/// Moves every loaded library whose file name starts with `prefix` into the process's global scope, ahead of
/// libraries that are put there later. These libraries stay loaded from then on.
void make_visible(const std::string& prefix);

}  // namespace weft
