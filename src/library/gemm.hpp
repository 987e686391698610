#pragma once
// Runs a checked gemm of any types with the rung that the rules select for the CPU.

#include <algorithm>
#include <cstdint>

#include "library/canonical.hpp"
#include "rung/options.hpp"

namespace rung::cpu {

/// Throws rung::Error (Status::unavailable) if no CPU rung has the types, and std::bad_alloc.
void gemm(const CanonicalCall& canonical, const GemmOptions& options);
/// Throws rung::Error (Status::unavailable): no CPU rung has the type.
[[noreturn]] void refuse(Dtype dtype);

/// C = beta * C.
template <class In, class Out>
void scale(const Gemm<In, Out>& g) {
  if (g.n == 0 || g.beta == Scalar<Out>{1}) return;
  for (std::int64_t i = 0; i < g.m; ++i) {
    Out* row = &g.c(i, 0);
    if (g.beta == Scalar<Out>{}) {
      std::fill_n(row, g.n, Out{});
    } else {
      std::for_each_n(row, g.n, [beta = g.beta](Out& element) { element *= beta; });
    }
  }
}

}  // namespace rung::cpu
