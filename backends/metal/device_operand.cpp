#include "backends/metal/device_operand.hpp"

namespace rung::metal {

DeviceOperand::DeviceOperand(Device& device, const Storage& host, const void* data) : host_(host) {
  if (host.rows == 0 || host.row_bytes == 0) return;
  constexpr std::uintptr_t alignment = 512;
  begin_ = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(host.begin) % alignment);
  data_ = begin_ + (static_cast<const std::byte*>(data) - host.begin);
  buffer_ = device.allocate(begin_ + (host.rows - 1) * host.pitch + host.row_bytes);
  for (std::int64_t row = 0; row < host.rows; ++row) {
    buffer_->write(begin_ + row * host.pitch, host.begin + row * host.pitch, host.row_bytes);
  }
}

void DeviceOperand::download() const {
  for (std::int64_t row = 0; row < host_.rows && buffer_ != nullptr; ++row) {
    buffer_->read(host_.begin + row * host_.pitch, begin_ + row * host_.pitch, host_.row_bytes);
  }
}

}  // namespace rung::metal
