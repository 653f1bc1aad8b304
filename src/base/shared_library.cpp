#include "base/shared_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "base/environment.hpp"

namespace weft {

std::optional<SharedLibrary> SharedLibrary::open(const std::string& file, std::string* why,
                                                 [[maybe_unused]] Prefers prefers) {
  int flags = RTLD_LAZY | RTLD_LOCAL;
#ifdef RTLD_DEEPBIND
  if (prefers == Prefers::its_own) flags |= RTLD_DEEPBIND;
#endif
  void* handle = dlopen(file.c_str(), flags);
  if (handle != nullptr) return SharedLibrary(handle);
  const char* message = dlerror();
  if (why != nullptr) *why = message != nullptr ? message : "unknown error of the loader";
  return std::nullopt;
}

std::optional<SharedLibrary> SharedLibrary::open(const std::string& file, const Bind& bind, std::string& why,
                                                 Prefers prefers) {
  std::optional<SharedLibrary> library = open(file, &why, prefers);
  if (!library) return library;
  Binder binder(*library);
  bind(binder);
  if (binder.lacks() == nullptr) return library;
  why = file + " lacks " + binder.lacks();
  return std::nullopt;
}

SharedLibrary::SharedLibrary(SharedLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)) {}

SharedLibrary& SharedLibrary::operator=(SharedLibrary&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}

SharedLibrary::~SharedLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

void* SharedLibrary::address(const char* symbol) const {
  return dlsym(handle_, symbol);
}

std::string open_for_good(const char* variable, const std::vector<const char*>& names, const char* remedy,
                          const SharedLibrary::Bind& bind, Prefers prefers) {
  const std::optional<std::string> named = environment_value(variable);
  std::vector<std::string> files(names.begin(), names.end());
  if (named) files = {*named};
  std::string first;
  for (const std::string& file : files) {
    std::string why;
    if (std::optional<SharedLibrary> library = SharedLibrary::open(file, bind, why, prefers)) {
      library->keep_open();
      return "";
    }
    if (first.empty()) first = why;
  }
  return first + "; " + remedy + " in the environment variable " + variable;
}

std::string file_of(const void* address) {
  Dl_info info{};
  if (address == nullptr || dladdr(address, &info) == 0 || info.dli_fname == nullptr) return "";
  return info.dli_fname;
}

void make_visible(const std::string& prefix) {
  struct Search {
    const std::string& prefix;
    std::vector<std::string> files;
  } search{prefix, {}};
  const auto collect = [](dl_phdr_info* info, std::size_t, void* data) {
    auto& found = *static_cast<Search*>(data);
    const std::string file = info->dlpi_name != nullptr ? info->dlpi_name : "";
    if (std::filesystem::path(file).filename().string().starts_with(found.prefix))
      found.files.push_back(file);
    return 0;
  };
  // The loader is locked during `dl_iterate_phdr`, so libraries are opened after it.
  dl_iterate_phdr(collect, &search);
  for (const std::string& file : search.files) dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
}

}  // namespace weft
