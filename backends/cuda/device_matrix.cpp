#include "backends/cuda/device_matrix.hpp"

#include <cstddef>

#include "core/cuda_driver/error.hpp"

namespace rung::cuda {

DeviceMatrix::DeviceMatrix(Gpu& gpu, const Storage& host, const void* data)
    : gpu_(gpu), generation_(gpu.generation()), host_(host) {
  if (host.rows == 0 || host.row_bytes == 0) return;
  constexpr std::uintptr_t alignment = 512;
  const std::uintptr_t before = reinterpret_cast<std::uintptr_t>(host.begin) % alignment;
  const std::int64_t bytes = (host.rows - 1) * host.pitch + host.row_bytes;
  const DriverApi& api = gpu.api();
  check(api, api.cuMemAlloc(&allocated_, before + static_cast<std::size_t>(bytes)), "cuMemAlloc");
  begin_ = allocated_ + before;
  data_ = begin_ + static_cast<DevicePointer>(static_cast<const std::byte*>(data) - host.begin);
  upload();
}

DeviceMatrix::DeviceMatrix(Gpu& gpu, DevicePointer data)
    : gpu_(gpu), generation_(gpu.generation()), host_(), data_(data) {}

DeviceMatrix::~DeviceMatrix() {
  if (allocated_ != 0 && generation_ == gpu_.generation()) gpu_.api().cuMemFree(allocated_);
}

void DeviceMatrix::upload() const {
  const DriverApi& api = gpu_.api();
  for (std::int64_t row = 0; row < host_.rows && allocated_ != 0; ++row) {
    const std::int64_t at = row * host_.pitch;
    check(api,
          api.cuMemcpyHtoD(begin_ + static_cast<DevicePointer>(at), host_.begin + at,
                           static_cast<std::size_t>(host_.row_bytes)),
          "cuMemcpyHtoD");
  }
}

void DeviceMatrix::download() const {
  const DriverApi& api = gpu_.api();
  for (std::int64_t row = 0; row < host_.rows && allocated_ != 0; ++row) {
    const std::int64_t at = row * host_.pitch;
    check(api,
          api.cuMemcpyDtoH(host_.begin + at, begin_ + static_cast<DevicePointer>(at),
                           static_cast<std::size_t>(host_.row_bytes)),
          "cuMemcpyDtoH");
  }
}

}  // namespace rung::cuda
