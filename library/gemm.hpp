#pragma once
// Runs a checked gemm of any type with the rung that the rules select for the CPU.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "library/canonical.hpp"
#include "rung/options.hpp"

namespace rung::cpu {

/// The products of one call. All required memory is allocated before the first product writes: if
/// scratch memory runs out later, a product is only slower.
class Products {
 public:
  /// For products up to the extents of `largest`. Throws std::bad_alloc, and rung::Error
  /// (Status::unavailable) for a mode that the types do not support.
  Products(const CanonicalCall& largest, const GemmOptions& options);
  /// Must be called by the thread that created this object. Throws rung::Error
  /// (Status::unavailable) if no CPU rung supports the types.
  void run(const CanonicalCall& one) const;

 private:
  GemmOptions options_;
  std::unique_ptr<std::byte[]> memory_;
};

/// Throws rung::Error (Status::unavailable) if no CPU rung supports the types, and std::bad_alloc.
void gemm(const CanonicalCall& canonical, const GemmOptions& options);
/// Throws rung::Error (Status::unavailable): no CPU rung supports the type.
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
