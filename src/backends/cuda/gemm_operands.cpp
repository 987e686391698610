#include "backends/cuda/gemm_operands.hpp"

namespace rung::cuda {
namespace {

template <class Pointer>
Storage host_storage(const AnyMatrix<Pointer>& matrix, std::int64_t rows, std::int64_t cols,
                     std::size_t element_bytes, bool is_virtual) {
  // The virtual GPU itself notices what is read or written past the matrix; a GPU needs the guards.
  if (!is_virtual && matrix.storage.begin != nullptr) return matrix.storage;
  return storage_of(matrix, rows, cols, static_cast<std::int64_t>(element_bytes));
}

}  // namespace

GemmOperands::GemmOperands(Gpu& gpu, const GemmCall& call)
    : Operands(gpu),
      a_(gpu, host_storage(call.a, call.m, call.k, input_bytes(call.dtype), gpu.is_virtual()),
         call.a.data),
      b_(gpu, host_storage(call.b, call.k, call.n, input_bytes(call.dtype), gpu.is_virtual()),
         call.b.data),
      c_(gpu, host_storage(call.c, call.m, call.n, output_bytes(call.dtype), gpu.is_virtual()),
         call.c.data),
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
