#include "library/cublas/real.hpp"

#include <dlfcn.h>

#include <cstdlib>

CUBLAS_API int cublasCreate_v2(rung::cublas::Handle* handle);

namespace rung::cublas {
namespace {

constexpr const char* names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};

/// The library, unless it is this one under another name.
void* open(const char* name, int flags) {
  void* const library = dlopen(name, RTLD_LAZY | RTLD_LOCAL | flags);
  if (library == nullptr) return nullptr;
  void* const create = dlsym(library, "cublasCreate_v2");
  if (create != nullptr && create != reinterpret_cast<void*>(&cublasCreate_v2)) return library;
  dlclose(library);
  return nullptr;
}

void* find_library() {
  for (const char* name : names) {
    if (void* const loaded = open(name, RTLD_NOLOAD)) return loaded;
  }
  if (const char* const chosen = std::getenv("RUNG_CUBLAS"); chosen != nullptr) {
    return *chosen == '\0' ? nullptr : open(chosen, 0);
  }
  for (const char* name : names) {
    if (void* const library = open(name, 0)) return library;
  }
  return nullptr;
}

}  // namespace

void* real_function(const char* name) {
  static void* const library = find_library();
  return library == nullptr ? nullptr : dlsym(library, name);
}

}  // namespace rung::cublas
