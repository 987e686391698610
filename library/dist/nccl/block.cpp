#include "library/dist/nccl/block.hpp"

namespace rung::nccl {

void copy(const cuda::DriverApi& driver, const Block& from, cuda::DevicePointer to,
          std::int64_t pitch, cuda::Stream stream) {
  if (from.is_empty()) return;
  if (from.line_bytes == pitch && from.pitch == pitch) {
    const auto bytes = static_cast<std::size_t>(from.lines * pitch);
    return require(driver, driver.cuMemcpyDtoDAsync(to, from.data, bytes, stream),
                   "cuMemcpyDtoDAsync");
  }
  cuda::Memcpy2D rectangle = {};
  rectangle.source_type = rectangle.destination_type = cuda::MemoryType::device;
  rectangle.source_device = from.data;
  rectangle.source_pitch = static_cast<std::size_t>(from.pitch);
  rectangle.destination_device = to;
  rectangle.destination_pitch = static_cast<std::size_t>(pitch);
  rectangle.width_bytes = static_cast<std::size_t>(from.line_bytes);
  rectangle.height = static_cast<std::size_t>(from.lines);
  require(driver, driver.cuMemcpy2DAsync(&rectangle, stream), "cuMemcpy2DAsync");
}

}  // namespace rung::nccl
