#pragma once
// What the host knows of a Metal rung: the names of its kernels, and their launch.

#include <cstdint>
#include <string_view>

#include "device/metal/problem.h"

namespace rung::metal {

struct Size3 {
  std::int64_t x = 1, y = 1, z = 1;

  constexpr std::int64_t count() const { return x * y * z; }
};

/// How a kernel is dispatched: dispatchThreadgroups:threadsPerThreadgroup:.
struct Launch {
  Size3 threadgroups;                  // 0 where there is nothing to do
  Size3 threads;                       // of a threadgroup
  std::int64_t threadgroup_bytes = 0;  // of [[threadgroup(0)]]
};

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The types that kernels are instantiated for.
struct Types {
  bool f32 = true, i32 = true, bf16 = true, f16 = true;
};

/// One gemm rung. The kernel of a type is `<entry>_<dtype>`; its buffers are GemmScalars, A, B, C.
struct GemmRung {
  std::string_view entry;
  Types types;
  int BM, BN;        // of the tile of C that a threadgroup computes
  Size3 threads;     // of a threadgroup
  int multiple = 1;  // m, n and k must be multiples of it

  constexpr Launch launch(std::int64_t m, std::int64_t n) const {
    return {{ceil_div(n, BN), ceil_div(m, BM)}, threads};
  }
};

}  // namespace rung::metal
