#pragma once
// What the kernel of repitch.cu is told.

#include <cstdint>

namespace rung::cuda {

struct Repitch {
  static constexpr int threads = 256;

  const void* from;
  void* to;
  std::int64_t length, lines;  // elements in a line of the copy, and lines
  std::int64_t from_ld, to_ld;
  int element_bytes;     // 1, 2 or 4
  bool from_transposed;  // the copy's lines are columns of what is copied; not of 2 bytes

  /// Of the square tiles in which it is transposed: a line of one is 64 or 128 bytes.
  static constexpr int tile(int element_bytes) { return element_bytes == 1 ? 64 : 32; }
};

}  // namespace rung::cuda
