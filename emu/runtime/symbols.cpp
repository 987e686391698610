// __device__ and __constant__ variables, by the address of their shadow on the host.

#include <fmt/format.h>

#include "cuda_runtime_api.h"
#include "emu/reports/launch_json.hpp"
#include "emu/runtime/runtime.hpp"

using namespace rung::emu;
namespace cuda = rung::cuda;

namespace {

struct Variable {
  cuda::DevicePointer address = 0;
  std::size_t bytes = 0;
};

cudaError_t find(const void* symbol, Variable& variable) {
  const cuda::Result entered = Runtime::get().enter();
  if (entered != cuda::Result::success) return to_error(entered);
  return Runtime::get().find_variable(symbol, variable.address, variable.bytes);
}

// The variable's bytes [offset, offset + bytes), for a copy of them.
cudaError_t find_part(const void* symbol, std::size_t offset, std::size_t bytes, void*& part) {
  Variable variable;
  if (const cudaError_t error = find(symbol, variable); error != cudaSuccess) return finish(error);
  if (offset > variable.bytes || bytes > variable.bytes - offset) {
    return finish(
        cudaErrorInvalidValue,
        fmt::format("the copy of {} bytes at offset {} exceeds {}, which has {} bytes", bytes,
                    offset, readable_name(Runtime::get().variable_name(symbol)), variable.bytes));
  }
  part = reinterpret_cast<void*>(variable.address + offset);
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes,
                                    size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  void* to = nullptr;
  const cudaError_t error = find_part(symbol, offset, bytes, to);
  if (error != cudaSuccess) return error;
  return cudaMemcpyAsync(to, from, bytes, kind, stream);
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset,
                               cudaMemcpyKind kind) {
  return cudaMemcpyToSymbolAsync(symbol, from, bytes, offset, kind, cudaStreamLegacy);
}

cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  void* from = nullptr;
  const cudaError_t error = find_part(symbol, offset, bytes, from);
  if (error != cudaSuccess) return error;
  return cudaMemcpyAsync(to, from, bytes, kind, stream);
}

cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset,
                                 cudaMemcpyKind kind) {
  const cudaError_t error =
      cudaMemcpyFromSymbolAsync(to, symbol, bytes, offset, kind, cudaStreamLegacy);
  return error != cudaSuccess ? error : cudaStreamSynchronize(cudaStreamLegacy);
}

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  if (pointer == nullptr) return finish(cudaErrorInvalidValue);
  return find_part(symbol, 0, 0, *pointer);
}

cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  if (bytes == nullptr) return finish(cudaErrorInvalidValue);
  Variable variable;
  const cudaError_t error = find(symbol, variable);
  if (error == cudaSuccess) *bytes = variable.bytes;
  return finish(error);
}

}  // extern "C"
