// A shared library opened at run time, and where code of this process comes from. Libraries that Weft can do
// without are found this way when they are first asked for, so that neither building nor starting Weft needs
// them.
#pragma once

#include <optional>
#include <string>

namespace weft {

/// An open library; closed with the object.
class SharedLibrary {
 public:
  /// Opens a file, or by a bare name what the loader finds under it. Its symbols serve nobody else. Nothing
  /// if that fails; `why`, if given, then receives the loader's message.
  static std::optional<SharedLibrary> open(const std::string& file, std::string* why = nullptr);

  SharedLibrary(SharedLibrary&& other) noexcept;
  SharedLibrary& operator=(SharedLibrary&& other) noexcept;
  ~SharedLibrary();

  /// Null if the library has no such symbol.
  void* address(const char* symbol) const;

  /// Sets `function` to what is called `symbol`; false if there is no such symbol.
  template <class Function>
  bool bind(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(address(symbol));
    return function != nullptr;
  }

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  void* handle_;
};

/// The file that a function or object was loaded from; empty if it is in none. The address of a function may
/// also be that of an entry of the program itself, if the program was linked for a fixed place in memory.
std::string file_of(const void* address);

template <class Result, class... Arguments>
std::string file_of(Result (*function)(Arguments...)) {
  return file_of(reinterpret_cast<const void*>(function));
}

/// Makes the symbols of every loaded library whose file name starts with `prefix` visible to the whole
/// process, ahead of those of any library that becomes visible later. They stay loaded from then on.
void make_visible(const std::string& prefix);

}  // namespace weft
