#pragma once
// NVIDIA's cuBLAS, if it is installed: for all calls that Rung has no kernel for.

#include "library/cublas/api.hpp"

namespace rung::cublas {

/// The function of this name; null if there is no cuBLAS, or if it has no such function. The library is
/// the one that the process has loaded; otherwise the file that the environment variable RUNG_CUBLAS
/// names (none if it is empty); otherwise libcublas.so.13, .12 or .11 where the dynamic linker finds it.
void* real_function(const char* name);

/// Calls a function of the real cuBLAS that has the parameters of `Function`.
template <class Function, class... Arguments>
int pass_on(const char* name, Arguments... arguments) {
  void* const found = real_function(name);
  if (found == nullptr) return not_supported;
  return reinterpret_cast<Function*>(found)(arguments...);
}

}  // namespace rung::cublas
