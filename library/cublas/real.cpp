#include "library/cublas/real.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

#include "core/ignored_variable.hpp"

CUBLAS_API int cublasCreate_v2(rung::cublas::Handle* handle);

namespace rung::cublas {
namespace {

/// The file name of a library, the environment variable that overrides it, and a function that
/// distinguishes it from this library, which exports the same names.
struct Names {
  const char* file;
  const char* variable;
  const char* probe;
};
constexpr Names names_of[] = {
    {.file = "libcublas.so.", .variable = "RUNG_CUBLAS", .probe = "cublasCreate_v2"},
    {.file = "libcublasLt.so.", .variable = "RUNG_CUBLASLT", .probe = "cublasLtMatmul"}};

bool is_own(const void* function) {
  Dl_info found, own;
  return dladdr(function, &found) != 0 &&
         dladdr(reinterpret_cast<void*>(&cublasCreate_v2), &own) != 0 &&
         found.dli_fbase == own.dli_fbase;
}

/// Opens the library, unless it is this one under another name.
void* open(const Names& names, const std::string& file, int flags) {
  void* const library = dlopen(file.c_str(), RTLD_LAZY | RTLD_LOCAL | flags);
  if (library == nullptr) return nullptr;
  void* const probed = dlsym(library, names.probe);
  if (probed != nullptr && !is_own(probed)) return library;
  dlclose(library);
  return nullptr;
}

void* find(const Names& names) {
  constexpr const char* versions[] = {"13", "12", "11"};
  for (const char* version : versions) {
    if (void* const loaded = open(names, std::string(names.file) + version, RTLD_NOLOAD)) {
      return loaded;
    }
  }
  if (const char* const chosen = std::getenv(names.variable); chosen != nullptr) {
    if (*chosen == '\0') return nullptr;
    void* const library = open(names, chosen, 0);
    if (library == nullptr) {
      ignore_variable(names.variable, chosen,
                      "cannot be opened as another " + std::string(names.file) +
                          "*; without it, calls that Rung does not compute fail");
    }
    return library;
  }
  for (const char* version : versions) {
    if (void* const library = open(names, std::string(names.file) + version, 0)) return library;
  }
  return nullptr;
}

}  // namespace

void* real_function(const char* name, Library library) {
  static void* const cublas = find(names_of[0]);
  if (library == Library::cublas) return cublas == nullptr ? nullptr : dlsym(cublas, name);
  static void* const cublas_lt = find(names_of[1]);
  return cublas_lt == nullptr ? nullptr : dlsym(cublas_lt, name);
}

}  // namespace rung::cublas
