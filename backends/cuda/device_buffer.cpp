#include "backends/cuda/device_buffer.hpp"

#include "core/cuda_driver/error.hpp"

namespace rung::cuda {

DeviceBuffer::DeviceBuffer(Gpu& gpu, std::size_t bytes)
    : gpu_(gpu), generation_(gpu.generation()), bytes_(bytes) {
  if (bytes > 0) check(gpu.api(), gpu.api().cuMemAlloc(&address_, bytes), "cuMemAlloc");
}

void DeviceBuffer::set_to_zero() {
  if (bytes_ > 0) check(gpu_.api(), gpu_.api().cuMemsetD8(address_, 0, bytes_), "cuMemsetD8");
}

DeviceBuffer::~DeviceBuffer() {
  if (address_ != 0 && is_present()) gpu_.api().cuMemFree(address_);
}

}  // namespace rung::cuda
