#pragma once
// What the host knows of a Metal rung: the names of its kernels, and their launch.

#include <array>
#include <cstdint>
#include <string_view>

#include "core/integers.hpp"
#include "device/metal/problem.h"

namespace rung::metal {

struct Size3 {
  std::int64_t x = 1, y = 1, z = 1;

  constexpr std::int64_t count() const { return x * y * z; }
};

/// Bytes of [[threadgroup(0)]], [[threadgroup(1)]], …: setThreadgroupMemoryLength:atIndex:.
using ThreadgroupMemory = std::array<std::int64_t, 31>;

/// How a kernel is dispatched: dispatchThreadgroups:threadsPerThreadgroup:.
struct Launch {
  Size3 threadgroups;                      // 0 where there is nothing to do
  Size3 threads;                           // of a threadgroup
  ThreadgroupMemory threadgroup_memory{};  // besides what the kernel declares
};

/// The types that kernels are instantiated for.
struct Types {
  bool f32 = true, i32 = true, bf16 = true, f16 = true;
};

/// The tiles of a gemm rung, in elements, by the names that cuda::Tiling has for them.
struct Tiling {
  int BM, BN;          // of C, of a threadgroup
  int BK = 0;          // steps along k at a time by way of threadgroup memory; 0: none
  int TM = 1, TN = 1;  // of C, of a thread
  int WM = 0, WN = 0;  // of C, of a simdgroup, where simdgroups multiply; else 0
};

/// One gemm rung. The kernel of a type is `<entry>_<dtype>`; its buffers are GemmScalars, A, B, C.
struct GemmRung {
  std::string_view entry;
  Types types;
  Tiling tiling;
  Size3 threads;     // of a threadgroup
  int multiple = 1;  // m, n and k must be multiples of it

  constexpr Launch launch(std::int64_t m, std::int64_t n) const {
    return {{ceil_div(n, tiling.BN), ceil_div(m, tiling.BM)}, threads};
  }
};

}  // namespace rung::metal
