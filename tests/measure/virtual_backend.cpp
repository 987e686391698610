#include "virtual_backend.hpp"

#include "backends/cuda/cuda.hpp"

namespace rung {

const Backend& virtual_backend() {
  static const auto backend =
      make_backend("virtual", {.gpu = "h200,multiprocessors=1,l2_bytes=65536", .code = ""});
  return *backend;
}

cuda::Gpu& virtual_gpu() {
  cuda::Gpu& gpu = *gpu_of(virtual_backend());
  gpu.make_current();
  return gpu;
}

}  // namespace rung
