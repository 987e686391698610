#include "backends/cuda/gemm_operands.hpp"

#include "core/dtype.hpp"

namespace rung::cuda {
namespace {

template <class Pointer>
DeviceMatrix matrix_on(Gpu& gpu, const GemmCall& call, const AnyMatrix<Pointer>& matrix,
                       std::int64_t rows, std::int64_t cols, std::size_t element_bytes) {
  if (call.on_device) return {gpu, reinterpret_cast<DevicePointer>(matrix.data)};
  return {gpu, host_storage(matrix, rows, cols, element_bytes, gpu.is_virtual(), call.batch),
          matrix.data};
}

}  // namespace

GemmOperands::GemmOperands(Gpu& gpu, const GemmCall& call)
    : Operands(gpu),
      a_(matrix_on(gpu, call, call.a, call.m, call.k, input_bytes(call.dtype))),
      b_(matrix_on(gpu, call, call.b, call.k, call.n, input_bytes(call.dtype))),
      c_(matrix_on(gpu, call, call.c, call.m, call.n, output_bytes(call.dtype))),
      inputs_return_(call.a.storage.begin != nullptr && call.b.storage.begin != nullptr) {}

void GemmOperands::upload_c() const {
  gpu().make_current();
  c_.upload();
}

void GemmOperands::download() const {
  gpu().make_current();
  c_.download();
  if (!inputs_return_) return;
  a_.download();
  b_.download();
}

}  // namespace rung::cuda
