#pragma once
// Random GEMM shapes, identical on all machines.

#include <cstdint>

#include "core/element_types.hpp"
#include "tools/measure/workload.hpp"

namespace rung {

/// The default limit: the virtual GPU takes seconds where a GPU takes microseconds.
inline constexpr std::int64_t max_size_on_virtual_gpu = 64;

struct DrawLimits {
  std::int64_t max_size = 16384;  // of m, n and k
  double max_bytes = 4e9;         // of A, B and C together
  double max_seconds = 10e-3;     // of one call at the rates of an H200
};

/// Shape number `index` of a seed. In half of the shapes, m, n and k are multiples of 64; in three
/// of ten, multiples of 8; and in the rest, arbitrary integers. Each extent is distributed
/// log-uniformly from this divisor to max_size. Shapes beyond the limits are drawn again, so the
/// shapes of two data types differ only if one of them is too large.
///
/// Uses only integers and square roots, which IEEE 754 rounds identically everywhere; exp2() of
/// different libraries may differ.
Size draw_shape(std::uint64_t seed, std::uint64_t index, Dtype dtype, const DrawLimits& limits);

double gemm_flops(const Size& size);
/// Reads A and B once, and writes C once.
double gemm_bytes(const Size& size, Dtype dtype);

}  // namespace rung
