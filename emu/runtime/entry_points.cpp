// The driver's functions by their names.

#include <dlfcn.h>

#include <string>

#include "cuda_runtime_api.h"
#include "emu/runtime/runtime.hpp"

using namespace rung::emu;
namespace cuda = rung::cuda;

namespace {

/// This library, or the program that contains it. A program may have loaded it for itself alone, and another library
/// with the driver's names for all.
void* own_symbols() {
  Dl_info own;
  if (dladdr(reinterpret_cast<void*>(&own_symbols), &own) == 0) return RTLD_DEFAULT;
  void* const library = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  return library == nullptr ? RTLD_DEFAULT : library;
}

/// A call by its name. A plain name means the newest of several versions.
void* find_call(const char* name) {
  // Replacements of a single call of the driver come first.
  if (void* found = dlsym(RTLD_DEFAULT, ("rung_emu_" + std::string(name)).c_str())) return found;
  static void* const own = own_symbols();
  for (const char* suffix : {"_v3", "_v2", ""}) {
    if (void* found = dlsym(own, (name + std::string(suffix)).c_str())) return found;
  }
  return nullptr;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long /*flags*/,
                                    cudaDriverEntryPointQueryResult* result) {
  if (name == nullptr || function == nullptr) return finish(cudaErrorInvalidValue);
  *function = find_call(name);
  if (result != nullptr) {
    *result =
        *function == nullptr ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
  }
  return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function,
                                             unsigned int /*version*/, unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* result) {
  return cudaGetDriverEntryPoint(name, function, flags, result);
}

// The same numbers say there how it went.
RUNG_EMU_API cuda::Result cuGetProcAddress_v2(const char* name, void** function, int /*version*/,
                                              std::uint64_t flags,
                                              cudaDriverEntryPointQueryResult* result) {
  if (cudaGetDriverEntryPoint(name, function, flags, result) != cudaSuccess) {
    return cuda::Result::invalid_value;
  }
  return *function == nullptr ? cuda::Result::not_found : cuda::Result::success;
}

}  // extern "C"
