// A shared library opened at run time, and the file that loaded code comes from. Optional libraries are
// opened when they are first needed, so that neither building nor starting Weft requires them.
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "weft/error.hpp"

namespace weft {

/// Whose functions a library calls where the program has functions of the same names: the program's, or its
/// own. The latter hides replaced allocators from the library, and the sanitizers refuse it.
enum class Prefers { the_program, its_own };

/// An open library. The destructor closes it.
class SharedLibrary {
 public:
  /// Opens a file, or searches for a bare name as the loader does. The library's symbols are visible only
  /// through this object. Returns nothing on failure, and the loader's message in `why`, if given.
  static std::optional<SharedLibrary> open(const std::string& file, std::string* why = nullptr,
                                           Prefers prefers = Prefers::the_program);

  SharedLibrary(SharedLibrary&& other) noexcept;
  SharedLibrary& operator=(SharedLibrary&& other) noexcept;
  ~SharedLibrary();

  /// Leaves it open as long as the process lasts.
  void keep_open() { handle_ = nullptr; }

  /// The address of a symbol; null if the library has none of this name.
  void* address(const char* symbol) const;

  /// Sets function pointers to the addresses of symbols, one a call, and notes the first symbol that is not
  /// there.
  class Binder {
   public:
    explicit Binder(const SharedLibrary& library) : library_(library) {}
    template <class Function>
    void operator()(Function*& function, const char* symbol) {
      function = reinterpret_cast<Function*>(library_.address(symbol));
      if (function == nullptr && lacks_ == nullptr) lacks_ = symbol;
    }
    /// Null if the library has none of this name.
    template <class Function>
    void if_there(Function*& function, const char* symbol) {
      function = reinterpret_cast<Function*>(library_.address(symbol));
    }
    const char* lacks() const { return lacks_; }

   private:
    const SharedLibrary& library_;
    const char* lacks_ = nullptr;
  };
  using Bind = std::function<void(Binder&)>;

  /// The same, of a library that has all functions that `bind` asks for: "libx.so lacks x_open" else.
  static std::optional<SharedLibrary> open(const std::string& file, const Bind& bind, std::string& why,
                                           Prefers prefers = Prefers::the_program);

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  void* handle_;
};

/// Opens the library that the environment variable names, or else the first of `names` that can be used, for
/// good: its threads and objects may outlive main. Returns why there is none, with what to do about it in
/// `remedy`, or nothing.
std::string open_for_good(const char* variable, const std::vector<const char*>& names, const char* remedy,
                          const SharedLibrary::Bind& bind, Prefers prefers = Prefers::the_program);

/// The functions of an optional library. `find` sets them and returns why there are none, or nothing; it is
/// called when they are first asked for. The library's threads and objects may outlive main, and so do they.
template <class Functions, std::string (*find)(Functions&)>
class OptionalLibrary {
 public:
  /// Why it cannot be used in this process, or nothing.
  static const std::string& missing() {
    static const std::string nothing;
    return replacement.load(std::memory_order_acquire) != nullptr ? nothing : found().missing;
  }
  /// Not to be called if it is missing.
  static const Functions& functions() {
    const Functions* const other = replacement.load(std::memory_order_acquire);
    return other != nullptr ? *other : found().functions;
  }
  /// Throws `weft::Error` if it is missing.
  static const Functions& functions(const char* operation, const char* expected) {
    if (!missing().empty()) throw Error(operation, missing(), expected);
    return functions();
  }
  /// Puts others in their place (null: gives them back); for tests.
  static void replace(const Functions* others) { replacement.store(others, std::memory_order_release); }

 private:
  struct Found {
    Functions functions{};
    std::string missing = find(functions);
  };
  static const Found& found() {
    static const auto* const instance = new Found;
    return *instance;
  }

  static inline std::atomic<const Functions*> replacement{nullptr};
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
