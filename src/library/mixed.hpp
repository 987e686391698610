#pragma once
// Products of bfloat16 and float matrices: as products of floats, one of whose operands is narrow.

#include <cstdint>

#include "library/canonical.hpp"
#include "rung/matrix.hpp"
#include "rung/options.hpp"
#include "rung/types.hpp"

namespace rung {

struct MixedCall {
  /// Of f32. The pointer to the narrow operand is to elements of bfloat16.
  CanonicalCall product;
  bool a_is_narrow;  // else B is

  AnyMatrix<const void*>& narrow() { return a_is_narrow ? product.call.a : product.call.b; }
};

/// How the elements of a MixedCall's narrow operand lie: in `count` lines, `ld` elements apart.
struct NarrowLines {
  std::int64_t count, length, ld;
};
NarrowLines narrow_lines(const MixedCall& mixed);

/// The call with a copy of the narrow operand as floats in its place, whose lines are `ld` apart.
CanonicalCall with_floats(MixedCall mixed, const float* floats, std::int64_t ld);

/// Throws rung::Error (Status::invalid_argument).
MixedCall canonical(float alpha, const MatrixView<const bfloat16>& a,
                    const MatrixView<const float>& b, float beta, const MatrixView<float>& c);
MixedCall canonical(float alpha, const MatrixView<const float>& a,
                    const MatrixView<const bfloat16>& b, float beta, const MatrixView<float>& c);

namespace cpu {

/// Widens the narrow operand, and multiplies. Throws as cpu::gemm().
void gemm_mixed(const MixedCall& mixed, const GemmOptions& options);

}  // namespace cpu
}  // namespace rung
