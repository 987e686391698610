#pragma once
// What the kernel of repitch.cu is told.

#include <cstdint>

namespace rung::cuda {

struct Repitch {
  static constexpr int threads = 256;

  const void* from;
  void* to;
  std::int64_t length, lines;  // elements of 16 bits in a line, and lines
  std::int64_t from_ld, to_ld;
};

}  // namespace rung::cuda
