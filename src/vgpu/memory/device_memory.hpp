#pragma once
// The virtual GPU's memory. Device addresses are addresses of this process, so that managed memory
// needs nothing special; what makes them "device" is that they lie in a known allocation.

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

/// One allocation. `bytes` is what was asked for; what lies beyond is nobody's.
struct Allocation {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  std::string name;        // of a module's variable; empty for memory that the program asked for
  bool read_only = false;  // constant memory
  bool host = false;       // pinned or registered host memory, managed memory: always initialised
  bool all_initialised = false;         // a hint: the whole range has been written
  std::uint8_t* initialised = nullptr;  // a byte for each byte: 0 until written
  // For race detection, lazily committed: a GlobalGranule (observers/global_races.hpp), 32 bytes,
  // for each byte at most.
  std::uint64_t* stamps = nullptr;
  std::uint64_t serial = 0;  // counts what has no name, from 1: stands for one in reports

  /// Where `initialised` speaks of the address: see written_bytes.hpp. Not of host memory.
  std::uint8_t* shadow(std::uint64_t at) const { return initialised + (at - address); }
};

/// Allocations, found by address. Thread-safe; launches hold no lock while they run: allocations
/// found by a launch stay valid until it ends because free() and launches exclude each other by the
/// driver's own rules.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t capacity);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// 512-byte aligned. Throws std::bad_alloc when the capacity is exhausted.
  std::uint64_t allocate(std::size_t bytes, std::string name = {}, bool host = false);
  /// Takes memory of the caller's as device-visible (cuMemHostRegister).
  void adopt(void* memory, std::size_t bytes);
  void release_adopted(void* memory);
  /// False if it is not the beginning of a live allocation.
  bool free(std::uint64_t address);

  /// The allocation that holds the address, or nullptr. One byte past the end is outside.
  const Allocation* find(std::uint64_t address) const;
  Allocation* find(std::uint64_t address);
  /// Whether the address belongs to a live or freed allocation, or to the space between them: it
  /// can be no address of the program's own.
  bool reserves(std::uint64_t address) const;
  /// The nearest live allocation that begins at or before the address, or else a freed one that
  /// held it: for messages such as "allocation 3 of 4096 bytes + 4100", "freed allocation 3 of …".
  std::string describe(std::uint64_t address) const;

  /// Copies from the host, to the host, within the device, fill; each checks that the device range
  /// lies in one allocation (false if not) and keeps track of what is initialised.
  bool write(std::uint64_t to, const void* from, std::size_t bytes);
  bool read(void* to, std::uint64_t from, std::size_t bytes) const;
  bool copy(std::uint64_t to, std::uint64_t from, std::size_t bytes);
  bool fill(std::uint64_t to, std::uint64_t pattern, int pattern_bytes, std::size_t count);

  /// A launch begins: nothing has been accessed in it yet (Allocation::stamps).
  void forget_accesses();
  /// After a launch that was not observed: nobody knows what it has written.
  void assume_initialised();

  std::size_t capacity() const { return capacity_; }
  std::size_t used() const;
  /// What the program allocated and has not freed, oldest first.
  std::vector<Allocation> live() const;
  /// Drops everything (cuCtxDestroy, cudaDeviceReset).
  void clear();

 private:
  struct Block;
  // With the mutex held.
  Block* block_at_or_before(std::uint64_t address) const;
  Block* block_of(std::uint64_t address, std::size_t bytes) const;

  std::size_t capacity_;
  std::size_t used_ = 0;
  std::uint64_t next_serial_ = 1;
  mutable std::shared_mutex mutex_;
  std::map<std::uint64_t, std::unique_ptr<Block>> blocks_;
  /// The latest freed ones, oldest first. They keep their addresses, so that a use after free is
  /// told as such and hits no new allocation.
  std::deque<std::unique_ptr<Block>> freed_;
  std::size_t freed_bytes_ = 0;
};

}  // namespace rung::vgpu
