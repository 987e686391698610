#include "virtual_backend.hpp"

#include "backends/cuda/cuda.hpp"
#include "vgpu/memory/device_memory.hpp"

namespace rung {

const Backend& virtual_backend() {
  static const auto backend = [] {
    vgpu::let_host_access_device_memory();  // fake_cublas.cpp and fake_cub.cpp compute on the host
    return make_backend("virtual", {.gpu = "h200,multiprocessors=1,l2_bytes=65536", .code = ""});
  }();
  return *backend;
}

cuda::Gpu& virtual_gpu() {
  cuda::Gpu& gpu = *gpu_of(virtual_backend());
  gpu.make_current();
  return gpu;
}

}  // namespace rung
