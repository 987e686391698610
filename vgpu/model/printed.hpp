#pragma once
// The output of printf in kernels: a ring buffer, as on a GPU (CUDA C++ Programming Guide,
// "Formatted Output").

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

namespace rung::vgpu {

/// Default size of the ring in bytes (cudaLimitPrintfFifoSize).
inline constexpr std::size_t default_printf_bytes = std::size_t{1} << 20;

/// The newest output of one block. If the ring is full, whole printf calls are dropped, oldest
/// first.
class PrintRing {
 public:
  explicit PrintRing(std::size_t capacity) : capacity_(capacity) {}

  void add(std::string text);
  void clear();
  void drop_oldest();
  bool empty() const { return calls_.empty(); }
  std::size_t bytes() const { return bytes_; }
  std::string text() const;

 private:
  std::size_t capacity_, bytes_ = 0;
  std::deque<std::string> calls_;
};

/// The output of a launch, in block order. Output of later blocks replaces that of earlier ones, so
/// the result does not depend on the number of CPU threads.
class PrintedByBlock {
 public:
  explicit PrintedByBlock(std::size_t capacity) : capacity_(capacity) {}

  /// Adds a block's output. `block`: linear index in the grid. Call once per block.
  void add(std::uint64_t block, PrintRing ring);
  std::string text() const;

 private:
  std::size_t capacity_, bytes_ = 0;
  std::uint64_t first_ = 0;  // first block whose output is kept
  std::map<std::uint64_t, PrintRing> rings_;
};

}  // namespace rung::vgpu
