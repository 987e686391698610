#pragma once
// NVIDIA's cuBLAS and cuBLASLt, if installed, for calls that Rung has no kernel for.

#include "library/cublas/api.hpp"

namespace rung::cublas {

enum class Library { cublas, cublas_lt };

/// The function with that name; null if the library or the function is missing. Uses the library
/// that the process has already loaded; otherwise the file named by the environment variable
/// RUNG_CUBLAS or RUNG_CUBLASLT (empty: none); otherwise libcublas.so.13, .12 or .11 (or
/// libcublasLt.so likewise), as found by the dynamic linker.
void* real_function(const char* name, Library library = Library::cublas);

/// Calls a real function with these parameter types.
template <Library LIBRARY = Library::cublas, class... Arguments>
int pass_on(const char* name, Arguments... arguments) {
  void* const found = real_function(name, LIBRARY);
  if (found == nullptr) return not_supported;
  return reinterpret_cast<int (*)(Arguments...)>(found)(arguments...);
}

}  // namespace rung::cublas
