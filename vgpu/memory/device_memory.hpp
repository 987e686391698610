#pragma once
// The virtual GPU's memory. An address is a device address if it is in a known allocation. Managed
// and page-locked memory has the same addresses for the host and for kernels: those of its data.
// The host cannot access the addresses of other allocations (device_addresses.hpp).

#include <array>
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

namespace rung::vgpu {

/// The accesses of a launch to an allocation, recorded by rows (observers/row_stamps.hpp).
/// Only for launches on one CPU thread. With several, all granules have stamps of their own.
struct RecordedRows {
  std::uint64_t launch = 0;        // by its first block; what follows is of this launch
  std::size_t begin = 0, end = 0;  // the recorded rows are among these
  std::uint32_t count = 0;         // how many there are,
  std::uint32_t apart = 0;         // and how many rows whose granules have stamps
  bool all_apart = false;          // there are no rows any more
  bool stays_apart = false;        // nor will there be in later launches
};

class TouchedBytes;

/// One allocation. `bytes` is the requested size; bytes beyond it are out of bounds.
struct Allocation {
  std::uint64_t address = 0;
  // added to a device address, gives the address of its data in this process
  std::uint64_t to_data = 0;
  std::size_t bytes = 0;
  std::string name;        // of a module variable; empty for memory allocated by the program
  bool read_only = false;  // constant memory
  bool host = false;       // pinned or registered host memory, managed memory: always initialised
  bool is_io = false;      // registered as memory-mapped I/O: its pages stay as they are
  bool all_initialised = false;         // a hint: all bytes are written
  std::uint8_t* initialised = nullptr;  // one shadow byte per byte: 0 until written
  // Stamps for race detection, lazily committed: 42 bytes per byte
  // (happens_before/global_shadow.hpp).
  std::uint64_t* stamps = nullptr;
  // The last launch with a recorded read, and the last one with a second reader of some granule.
  // Launches are identified by their first block. Blocks write these concurrently.
  mutable std::uint64_t read_in_launch = 0, reread_in_launch = 0;
  /// The last launch with an atomic after a plain write.
  mutable std::uint64_t plain_in_launch = 0;
  /// The last launch with a bulk copy that writes here.
  mutable std::uint64_t copied_in_launch = 0;
  mutable RecordedRows rows;
  /// The records of the running launch, early and other accesses (memory/launch_accesses.hpp).
  mutable std::array<TouchedBytes*, 2> touched{};
  std::uint64_t serial = 0;  // of unnamed allocations, from 1, for reports

  /// The data at a device address.
  std::byte* data(std::uint64_t at) const { return reinterpret_cast<std::byte*>(at + to_data); }
  /// The shadow of an address in `initialised`, see written_bytes.hpp. Not for host memory.
  std::uint8_t* shadow(std::uint64_t at) const { return initialised + (at - address); }
};

/// From now on, allocations are accessible by the host. For tests whose host code replaces kernels,
/// such as a fake cuBLAS.
void let_host_access_device_memory();

/// Allocations, found by address. Thread-safe. Launches run without holding a lock: allocations
/// that a launch has found stay valid until it ends, because the driver does not call free() during
/// launches.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t capacity);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Addresses are multiples of 512 bytes. Throws std::bad_alloc when the capacity is exhausted.
  std::uint64_t allocate(std::size_t bytes, std::string name = {}, bool host = false);
  /// Registers the caller's memory as accessible to the device (cuMemHostRegister). `is_io`: the host's accesses to it
  /// are not observed.
  void adopt(void* memory, std::size_t bytes, bool is_io = false);
  void release_adopted(void* memory);
  /// Returns false if the address is not the start of a live allocation.
  bool free(std::uint64_t address);

  /// The allocation that contains the address, or nullptr. The address one past the end is outside.
  const Allocation* find(std::uint64_t address) const;
  Allocation* find(std::uint64_t address);
  /// True if the address belongs to a live or freed allocation, or to the space between them. Then
  /// it is not an address of the program's own memory.
  bool reserves(std::uint64_t address) const;
  /// Describes an address for messages: by the nearest live allocation that starts at or before it,
  /// or by the freed one that contained it ("allocation 3 of 4096 bytes + 4100", "freed allocation
  /// 3 of …").
  std::string describe(std::uint64_t address) const;

  /// Copies from and to the host and within the device, and fills. They track initialisation. Each
  /// returns false if the device range is not within one allocation.
  bool write(std::uint64_t to, const void* from, std::size_t bytes);
  bool read(void* to, std::uint64_t from, std::size_t bytes) const;
  bool copy(std::uint64_t to, std::uint64_t from, std::size_t bytes);
  bool fill(std::uint64_t to, std::uint64_t pattern, int pattern_bytes, std::size_t count);

  /// Starts a launch of `count` blocks, for which no accesses are recorded yet. Returns the number
  /// of its first block in stamps (happens_before/global_shadow.hpp). Stamps of earlier launches
  /// have lower numbers, so they need not be cleared.
  std::uint64_t number_blocks(std::uint64_t count);
  /// Call after a launch that was not observed, because its writes are unknown.
  void assume_initialised();

  std::size_t capacity() const { return capacity_; }
  std::size_t used() const;
  /// The program's live allocations, oldest first.
  std::vector<Allocation> live() const;
  /// Frees everything (cuCtxDestroy, cudaDeviceReset).
  void clear();

 private:
  struct Block;
  // These require the mutex.
  Block* block_at_or_before(std::uint64_t address) const;
  Block* block_of(std::uint64_t address, std::size_t bytes) const;

  std::size_t capacity_;
  std::size_t used_ = 0;
  std::uint64_t next_serial_ = 1;
  std::uint64_t next_block_ = 1;  // 0 means never written
  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, std::unique_ptr<Block>> blocks_;
  /// The most recently freed allocations, oldest first. They keep their addresses, so that use
  /// after free is recognised and cannot access a new allocation.
  std::deque<std::unique_ptr<Block>> freed_;
  std::size_t freed_bytes_ = 0;
};

}  // namespace rung::vgpu
