#pragma once
// A product as it is, or transposed: C^T = B^T A^T. wgmma has any multiple of eight columns, but 64
// rows, so that a tile of the transposed product may have any multiple of eight rows of C.

#include "core/problem.hpp"

namespace rung::cuda {

/// The same product, whose result is C if not TRANSPOSED, and the transpose of C otherwise.
template <bool TRANSPOSED, class In, class Out>
constexpr Gemm<In, Out> maybe_transposed(const Gemm<In, Out>& g) {
  if constexpr (!TRANSPOSED) return g;
  return {g.n, g.m, g.k, g.alpha, g.b.transposed(), g.a.transposed(), g.beta, g.c.transposed()};
}

}  // namespace rung::cuda
