#include "backends/cuda/dot_operands.hpp"

#include "core/cuda_driver/error.hpp"
#include "core/dtype.hpp"

namespace rung::cuda {

DotOperands::DotOperands(Gpu& gpu, const DotCall& call, void* result)
    : Operands(gpu),
      x_(gpu, host_storage_of_x(call, gpu.is_virtual()), call.x),
      y_(gpu, host_storage_of_y(call, gpu.is_virtual()), call.y),
      result_(gpu, output_bytes(call.dtype)),
      host_result_(result),
      vectors_return_(call.x_storage.begin != nullptr) {}

void DotOperands::download() const {
  gpu().make_current();
  check(gpu().api(), gpu().api().cuMemcpyDtoH(host_result_, result_.address(), result_.bytes()),
        "cuMemcpyDtoH");
  download_vectors();
}

void DotOperands::download_vectors() const {
  gpu().make_current();
  if (!vectors_return_) return;
  x_.download();
  y_.download();
}

}  // namespace rung::cuda
