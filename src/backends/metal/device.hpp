#pragma once
// A device that runs Metal kernels, as Metal's host API sees one: buffers, pipelines, a queue.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "device/metal/descriptor.hpp"

namespace rung::metal {

/// Memory of the device. Offsets and sizes are in bytes.
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

/// What a kernel finds at [[buffer(i)]]: a copy of bytes, or memory from an offset on.
struct Argument {
  std::span<const std::byte> bytes;  // setBytes, where there are any
  Buffer* buffer = nullptr;          // else setBuffer; null for memory of no size
  std::int64_t offset = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  /// "Apple M1 Pro (16 cores, simulated by this CPU)"
  virtual std::string describe() const = 0;
  /// The virtual one notices itself what is read or written out of bounds.
  virtual bool is_virtual() const = 0;
  /// Of the last cache before memory.
  virtual std::int64_t cache_bytes() const = 0;
  /// In what form the device takes a rung; empty if it has none of that name.
  virtual std::string code(std::string_view rung) const = 0;
  /// Why the device takes no such launch; nothing if it does.
  virtual std::optional<std::string> why_not(const Launch& launch) const = 0;

  /// Uninitialised, and aligned to 512 bytes at least. Throws std::bad_alloc.
  virtual std::unique_ptr<Buffer> allocate(std::int64_t bytes) = 0;
  /// A kernel of a rung by its name, compiled at its first use; lives as long as the device. Throws
  /// KernelError.
  virtual Pipeline& pipeline(std::string_view rung, const std::string& kernel) = 0;

  /// Puts a dispatch into the queue; arguments are those of buffers 0, 1, …. `threads` is the most
  /// that the virtual GPU may use of this machine. Throws KernelError, here or in wait(), for one
  /// that goes wrong.
  virtual void dispatch(Pipeline& pipeline, const Launch& launch,
                        std::span<const Argument> arguments, int threads) = 0;
  /// Puts the zeroing of so many bytes into the queue.
  virtual void set_to_zero(Buffer& buffer, std::int64_t offset, std::int64_t bytes) = 0;
  /// Returns when the queue is empty.
  virtual void wait() = 0;
};

}  // namespace rung::metal
