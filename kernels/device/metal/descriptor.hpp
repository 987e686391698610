#pragma once
// Host-side descriptor of a Metal rung: the names of its kernels and their launch.

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

/// Bytes of [[threadgroup(0)]], [[threadgroup(1)]], …, as in setThreadgroupMemoryLength:atIndex:.
using ThreadgroupMemory = std::array<std::int64_t, 31>;

/// The launch of a kernel, as in dispatchThreadgroups:threadsPerThreadgroup:.
struct Launch {
  Size3 threadgroups;                      // all 0 if there is nothing to do
  Size3 threads;                           // per threadgroup
  ThreadgroupMemory threadgroup_memory{};  // in addition to the kernel's declarations
};

/// The types for which kernels are instantiated.
struct Types {
  bool f32 = true, i32 = true, bf16 = true, f16 = true;
};

/// The tile sizes of a gemm rung, in elements, named as in cuda::Tiling.
struct Tiling {
  int BM, BN;          // of C, per threadgroup
  int BK = 0;          // k-block staged in threadgroup memory; 0: none
  int TM = 1, TN = 1;  // of C, per thread
  int WM = 0, WN = 0;  // of C, per simdgroup, with simdgroup matrices; otherwise 0
};

/// A gemm rung. The kernel for a type is `<entry>_<dtype>`; its buffers are GemmScalars, A, B, C.
struct GemmRung {
  std::string_view entry;
  Types types;
  Tiling tiling;
  Size3 threads;     // per threadgroup
  int multiple = 1;  // m, n and k must be multiples of this

  constexpr Launch launch(std::int64_t m, std::int64_t n) const {
    return {{ceil_div(n, tiling.BN), ceil_div(m, tiling.BM)}, threads};
  }
};

}  // namespace rung::metal
