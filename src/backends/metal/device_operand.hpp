#pragma once
// A copy of an operand in device memory.

#include "backends/metal/device.hpp"
#include "core/call.hpp"

namespace rung::metal {

/// The contents and, modulo 512 bytes, the alignment of a block of host memory.
class DeviceOperand {
 public:
  /// Copies `host`, into which `data` points. Throws std::bad_alloc.
  DeviceOperand(Device& device, const Storage& host, const void* data);

  Argument argument() const { return {{}, buffer_.get(), data_}; }
  /// Whether its first element is aligned to that many bytes.
  bool is_aligned(std::int64_t bytes) const { return data_ % bytes == 0; }

  /// Copies it back to the host.
  void download() const;

 private:
  Storage host_;
  std::unique_ptr<Buffer> buffer_;     // null for memory of size 0
  std::int64_t begin_ = 0, data_ = 0;  // of host_ and of the operand's first element
};

}  // namespace rung::metal
