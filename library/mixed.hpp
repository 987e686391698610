#pragma once
// Products of bfloat16 and float matrices, as float products with one narrow operand.

#include <cstdint>

#include "library/canonical.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"
#include "rung/types.hpp"

namespace rung {

struct MixedCall {
  /// Has Dtype::f32. The pointer to the narrow operand is to elements of bfloat16.
  CanonicalCall product;
  bool a_is_narrow;  // otherwise B is

  AnyMatrix<const void*>& narrow() { return a_is_narrow ? product.call.a : product.call.b; }
};

/// The memory layout of a MixedCall's narrow operand: `count` lines, `ld` elements apart.
struct NarrowLines {
  std::int64_t count, length, ld;
};
NarrowLines narrow_lines(const MixedCall& mixed);

/// The call with the narrow operand replaced by its float copy, whose lines are `ld` apart.
CanonicalCall with_floats(MixedCall mixed, const float* floats, std::int64_t ld);

/// check::apart() for a product that reads A and B.
void check_apart(const MixedCall& mixed);

/// Throws rung::Error (Status::invalid_argument).
MixedCall canonical(float alpha, const MatrixView<const bfloat16>& a,
                    const MatrixView<const float>& b, float beta, const MatrixView<float>& c);
MixedCall canonical(float alpha, const MatrixView<const float>& a,
                    const MatrixView<const bfloat16>& b, float beta, const MatrixView<float>& c);

namespace cpu {

/// Widens the narrow operand and multiplies. Throws like cpu::gemm().
void gemm_mixed(const MixedCall& mixed, const GemmOptions& options);

}  // namespace cpu
}  // namespace rung
