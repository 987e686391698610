#pragma once
// Random shapes of gemm, the same on every machine.

#include <cstdint>

#include "core/dtype.hpp"
#include "measure/workload.hpp"

namespace rung {

/// By default: the virtual GPU takes seconds where a GPU takes microseconds.
inline constexpr std::int64_t max_size_on_virtual_gpu = 64;

struct DrawLimits {
  std::int64_t max_size = 16384;  // of m, n and k
  double max_bytes = 4e9;         // of A, B and C together
  double max_seconds = 10e-3;     // of one call, at the rates of an H200
};

/// Shape number `index` of a seed. Half of the shapes have m, n and k in multiples of 64, three in
/// ten in multiples of 8, and the rest in any integers. Each of m, n and k is distributed
/// log-uniformly from that multiple to max_size. A shape beyond the limits is drawn again, so the
/// shapes of two types differ only where one of them is too large.
///
/// Only integers and square roots are used, which IEEE 754 rounds the same everywhere: a libm's
/// exp2() is not.
Size draw_shape(std::uint64_t seed, std::uint64_t index, Dtype dtype, const DrawLimits& limits);

double gemm_flops(const Size& size);
/// A and B read once, C written once.
double gemm_bytes(const Size& size, Dtype dtype);

}  // namespace rung
