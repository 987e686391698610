#pragma once
// What printf in kernels writes: a ring, as on a GPU (CUDA C++ Programming Guide, "Formatted
// Output").

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

namespace rung::vgpu {

/// The size of the ring where nobody sets another one (cudaLimitPrintfFifoSize), bytes.
inline constexpr std::size_t default_printf_bytes = std::size_t{1} << 20;

/// The newest output of one block. Output is lost by whole calls of printf, the oldest first.
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

/// The output of a launch, in the order of its blocks: blocks that come later there overwrite what
/// earlier ones printed, so that what is left does not depend on the CPU's threads.
class PrintedByBlock {
 public:
  explicit PrintedByBlock(std::size_t capacity) : capacity_(capacity) {}

  /// `block` counts in the grid; each adds once.
  void add(std::uint64_t block, PrintRing ring);
  std::string text() const;

 private:
  std::size_t capacity_, bytes_ = 0;
  std::uint64_t first_ = 0;  // of the blocks before, all is lost
  std::map<std::uint64_t, PrintRing> rings_;
};

}  // namespace rung::vgpu
