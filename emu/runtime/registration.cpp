// The functions that compiled code calls: before main for every translation unit with device code,
// and around every kernel<<<…>>>(…). Names and signatures are those of clang's CUDA code generation
// (clang/lib/CodeGen/CGCUDANV.cpp).

#include <vector>

#include "cuda_runtime_api.h"
#include "emu/runtime/locate.hpp"
#include "emu/runtime/runtime.hpp"

using namespace rung::emu;

namespace {

// The argument of __cudaRegisterFatBinary. `rung emu` passes the PTX text itself, terminated by a
// zero byte, where nvcc passes a container.
struct FatBinaryWrapper {
  unsigned magic;
  unsigned version;
  const char* data;
  void* unused;
};

struct CallConfiguration {
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;
  const char* file;
  int line;
};

thread_local std::vector<CallConfiguration> configurations;

}  // namespace

extern "C" {

RUNG_EMU_API void** __cudaRegisterFatBinary(void* wrapper) {
  const char* ptx = static_cast<const FatBinaryWrapper*>(wrapper)->data;
  return reinterpret_cast<void**>(Runtime::get().add_image(ptx));
}

RUNG_EMU_API void __cudaRegisterFatBinaryEnd(void** handle) {
  Runtime::get().start_managed(*reinterpret_cast<Image*>(handle));
}

RUNG_EMU_API void rung_emu_is_missing__link_by_rung_nvcc_or_with_its_toolkit_folder(
    const void* begin, const void* end) {
  Runtime::get().add_managed_range(begin, end);
}

RUNG_EMU_API void __cudaUnregisterFatBinary(void** handle) {
  Runtime::get().remove_image(reinterpret_cast<Image*>(handle));
}

RUNG_EMU_API int __cudaRegisterFunction(void** handle, const char* stub, char* /*device_function*/,
                                        const char* name, int /*thread_limit*/, void* /*tid*/,
                                        void* /*bid*/, void* /*block*/, void* /*grid*/,
                                        int* /*warp_size*/) {
  Runtime::get().add_kernel(stub, reinterpret_cast<Image*>(handle), name);
  return 0;
}

RUNG_EMU_API void __cudaRegisterVar(void** handle, char* shadow, char* /*device_address*/,
                                    const char* name, int /*is_extern*/, std::size_t /*bytes*/,
                                    int /*is_constant*/, int /*is_normalized*/) {
  Runtime::get().add_variable(shadow, reinterpret_cast<Image*>(handle), name);
}

RUNG_EMU_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes,
                                                  cudaStream_t stream, const char* file, int line) {
  configurations.push_back({grid, block, shared_bytes, stream, file, line});
  return 0;
}

RUNG_EMU_API cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block,
                                                    std::size_t* shared_bytes, void* stream) {
  if (configurations.empty()) return finish(cudaErrorMissingConfiguration);
  const CallConfiguration& last = configurations.back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = last.stream;
  locate(last.file, last.line);
  configurations.pop_back();
  return cudaSuccess;
}

}  // extern "C"
