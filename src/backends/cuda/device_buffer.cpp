#include "backends/cuda/device_buffer.hpp"

#include "backends/cuda/driver_error.hpp"

namespace rung::cuda {

DeviceBuffer::DeviceBuffer(Gpu& gpu, std::size_t bytes)
    : gpu_(gpu), generation_(gpu.generation()), bytes_(bytes) {
  check(gpu.api(), gpu.api().cuMemAlloc(&address_, bytes), "cuMemAlloc");
}

DeviceBuffer::~DeviceBuffer() {
  if (is_present()) gpu_.api().cuMemFree(address_);
}

}  // namespace rung::cuda
