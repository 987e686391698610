#pragma once
// NVIDIA's cuBLAS and cuBLASLt, if they are installed: for all calls that Rung has no kernel for.

#include "library/cublas/api.hpp"

namespace rung::cublas {

enum class Library { cublas, cublas_lt };

/// The function of this name; null if there is no such library, or if it has no such function. The
/// library is the one that the process has loaded; otherwise the file that the environment variable
/// RUNG_CUBLAS or RUNG_CUBLASLT names (none if it is empty); otherwise libcublas.so.13, .12 or .11, or
/// libcublasLt.so likewise, where the dynamic linker finds it.
void* real_function(const char* name, Library library = Library::cublas);

/// Calls a real function that has these parameters.
template <Library LIBRARY = Library::cublas, class... Arguments>
int pass_on(const char* name, Arguments... arguments) {
  void* const found = real_function(name, LIBRARY);
  if (found == nullptr) return not_supported;
  return reinterpret_cast<int (*)(Arguments...)>(found)(arguments...);
}

}  // namespace rung::cublas
