#pragma once
// A copy of an operand in device memory.

#include "backends/metal/device.hpp"
#include "core/call.hpp"

namespace rung::metal {

/// Device memory with the contents of a block of host memory and the same alignment modulo 512
/// bytes.
class DeviceOperand {
 public:
  /// Copies `host`, which contains `data`. Throws std::bad_alloc.
  DeviceOperand(Device& device, const Storage& host, const void* data);

  Argument argument() const { return {{}, buffer_.get(), data_}; }
  /// True if the first element is aligned to that many bytes.
  bool is_aligned(std::int64_t bytes) const { return data_ % bytes == 0; }

  /// Copies the device memory back to the host.
  void download() const;

 private:
  Storage host_;
  std::unique_ptr<Buffer> buffer_;     // null for memory of size 0
  std::int64_t begin_ = 0, data_ = 0;  // offsets of host_ and of the operand's first element
};

}  // namespace rung::metal
