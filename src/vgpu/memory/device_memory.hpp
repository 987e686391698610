#pragma once
// The virtual GPU's memory. Device addresses are addresses of this process, so that managed memory
// needs no special handling; an address is a device address if it is in a known allocation.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "vgpu/memory/recorded_rows.hpp"

namespace rung::vgpu {

/// One allocation. `bytes` is the requested size; bytes beyond it are out of bounds.
struct Allocation {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  std::string name;        // of a module's variable; empty for memory allocated by the program
  bool read_only = false;  // constant memory
  bool host = false;       // pinned or registered host memory, managed memory: always initialised
  bool all_initialised = false;         // a hint: the whole range has been written
  std::uint8_t* initialised = nullptr;  // one shadow byte per byte: 0 until written
  // For race detection, lazily committed: 32 bytes per byte (happens_before/global_shadow.hpp).
  std::uint64_t* stamps = nullptr;
  // The launches, by their first block, that last recorded a read, and a second reader of some
  // granule. Blocks write them at the same time.
  mutable std::uint64_t read_in_launch = 0, reread_in_launch = 0;
  mutable std::uint64_t copied_in_launch =
      0;  // likewise the last one with a bulk copy that writes here
  mutable RecordedRows rows;
  std::uint64_t serial = 0;  // numbers unnamed allocations from 1, for reports

  /// The shadow of the address in `initialised`: see written_bytes.hpp. Not for host memory.
  std::uint8_t* shadow(std::uint64_t at) const { return initialised + (at - address); }
};

/// Allocations, found by address. Thread-safe. Launches hold no lock while they run: allocations
/// that a launch has found stay valid until it ends, because the driver does not run free() during
/// launches.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t capacity);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// 512-byte aligned. Throws std::bad_alloc when the capacity is exhausted.
  std::uint64_t allocate(std::size_t bytes, std::string name = {}, bool host = false);
  /// Registers the caller's memory as accessible to the device (cuMemHostRegister).
  void adopt(void* memory, std::size_t bytes);
  void release_adopted(void* memory);
  /// False if the address is not the beginning of a live allocation.
  bool free(std::uint64_t address);

  /// The allocation that contains the address, or nullptr. One byte past the end is outside.
  const Allocation* find(std::uint64_t address) const;
  Allocation* find(std::uint64_t address);
  /// Whether the address belongs to a live or freed allocation, or to the space between them, so
  /// that it cannot be an address of the program's own.
  bool reserves(std::uint64_t address) const;
  /// Describes, for messages, the nearest live allocation that begins at or before the address, or
  /// a freed one that contained it: "allocation 3 of 4096 bytes + 4100", "freed allocation 3 of …".
  std::string describe(std::uint64_t address) const;

  /// Copies from the host, to the host and within the device, and fills. Each returns false unless
  /// the device range is in one allocation, and tracks initialisation.
  bool write(std::uint64_t to, const void* from, std::size_t bytes);
  bool read(void* to, std::uint64_t from, std::size_t bytes) const;
  bool copy(std::uint64_t to, std::uint64_t from, std::size_t bytes);
  bool fill(std::uint64_t to, std::uint64_t pattern, int pattern_bytes, std::size_t count);

  /// Starts a launch of that many blocks, in which nothing has been accessed yet, and returns the
  /// number of its first block in stamps (happens_before/global_shadow.hpp). Stamps of earlier
  /// launches have lower numbers, so that they need not be cleared.
  std::uint64_t number_blocks(std::uint64_t count);
  /// After a launch that was not observed, whose writes are unknown.
  void assume_initialised();

  std::size_t capacity() const { return capacity_; }
  std::size_t used() const;
  /// Allocations by the program that are not freed, oldest first.
  std::vector<Allocation> live() const;
  /// Frees everything (cuCtxDestroy, cudaDeviceReset).
  void clear();

 private:
  struct Block;
  // Requires the mutex.
  Block* block_at_or_before(std::uint64_t address) const;
  Block* block_of(std::uint64_t address, std::size_t bytes) const;

  std::size_t capacity_;
  std::size_t used_ = 0;
  std::uint64_t next_serial_ = 1;
  std::uint64_t next_block_ = 1;  // 0 is in stamps that were never written
  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, std::unique_ptr<Block>> blocks_;
  /// The most recently freed allocations, oldest first. They keep their addresses, so that a use
  /// after free is recognised and hits no new allocation.
  std::deque<std::unique_ptr<Block>> freed_;
  std::size_t freed_bytes_ = 0;
};

}  // namespace rung::vgpu
