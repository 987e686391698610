#pragma once
// A device that runs Metal kernels, modelled on Metal's host API: buffers, pipelines and a queue.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "device/metal/descriptor.hpp"

namespace rung::metal {

/// Device memory. Offsets and sizes are in bytes.
class Buffer {
 public:
  virtual ~Buffer() = default;
  virtual void write(std::int64_t offset, const void* from, std::int64_t bytes) = 0;
  virtual void read(void* to, std::int64_t offset, std::int64_t bytes) const = 0;
};

/// A kernel, ready to be dispatched.
class Pipeline {
 public:
  virtual ~Pipeline() = default;
};

/// The argument at [[buffer(i)]]: bytes that are copied, or memory starting at an offset.
struct Argument {
  std::span<const std::byte> bytes;  // setBytes, if not empty
  Buffer* buffer = nullptr;          // otherwise setBuffer; null for memory of size 0
  std::int64_t offset = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  /// A description such as "Apple M1 Pro (16 cores, simulated by this CPU)".
  virtual std::string describe() const = 0;
  /// The virtual GPU detects out-of-bounds accesses itself, so operands need no guards there.
  virtual bool is_virtual() const = 0;
  /// The size of the last-level cache.
  virtual std::int64_t cache_bytes() const = 0;
  /// The form in which the device loads a rung; empty if there is no such rung.
  virtual std::string code(std::string_view rung) const = 0;
  /// The reason why the device does not support a launch; empty if it does.
  virtual std::optional<std::string> why_not(const Launch& launch) const = 0;

  /// Allocates uninitialized memory, aligned to at least 512 bytes. Throws std::bad_alloc.
  virtual std::unique_ptr<Buffer> allocate(std::int64_t bytes) = 0;
  /// A kernel of a rung by name. It is compiled at its first use and lives as long as the device.
  /// Throws KernelError.
  virtual Pipeline& pipeline(std::string_view rung, const std::string& kernel) = 0;

  /// Enqueues a dispatch; the arguments are those of buffers 0, 1, …. `threads` is the maximum
  /// number of host threads that the virtual GPU uses. A failure throws KernelError here or in
  /// wait().
  virtual void dispatch(Pipeline& pipeline, const Launch& launch,
                        std::span<const Argument> arguments, int threads) = 0;
  /// Enqueues zeroing of `bytes` bytes.
  virtual void set_to_zero(Buffer& buffer, std::int64_t offset, std::int64_t bytes) = 0;
  /// Waits until the queue is empty.
  virtual void wait() = 0;
  /// The duration of the work that the last wait() waited for, by the device's own clock; empty if
  /// there is no clock.
  virtual std::optional<double> seconds() const { return std::nullopt; }
};

}  // namespace rung::metal
