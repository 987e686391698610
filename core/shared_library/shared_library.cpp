#include "core/shared_library/shared_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

namespace rung {
namespace {

constexpr int mode = RTLD_NOW | RTLD_LOCAL;  // local: two libraries export the same cblas_sgemm

}  // namespace

SharedLibrary::SharedLibrary(std::initializer_list<const char*> names) { open_first(names); }

SharedLibrary::SharedLibrary(const char* path_variable, std::initializer_list<const char*> names) {
  if (const char* path = std::getenv(path_variable)) {
    handle_ = dlopen(path, mode);
    if (handle_ == nullptr) why_not_ = std::string(path_variable) + ": " + dlerror();
    return;
  }
  open_first(names);
}

SharedLibrary SharedLibrary::at(const std::string& path) {
  SharedLibrary library;
  library.handle_ = dlopen(path.c_str(), mode);
  if (library.handle_ == nullptr) library.why_not_ = dlerror();
  return library;
}

void SharedLibrary::open_first(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (handle_ == nullptr) handle_ = dlopen(name, mode);
  }
  if (handle_ == nullptr) why_not_ = "not installed";
}

void SharedLibrary::close() {
  if (handle_ != nullptr) dlclose(handle_);
  handle_ = nullptr;
}

void* SharedLibrary::address(const char* symbol) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, symbol);
}

std::string SharedLibrary::path(const char* symbol) const {
  Dl_info info{};
  if (dladdr(address(symbol), &info) == 0 || info.dli_fname == nullptr) return "unknown path";
  std::error_code error;
  const auto path = std::filesystem::canonical(info.dli_fname, error);
  return error ? info.dli_fname : path.string();
}

}  // namespace rung
