#pragma once
// Activations and element types of epilogues.

namespace rung {

/// The element type of a matrix or a vector if it is known only at run time. The values equal those
/// of rung_dtype.
enum class ElementType : int {
  f32 = 0,
  f64 = 1,
  i32 = 2,
  bf16 = 3,
  f16 = 4,
  tf32 = 5,
  i8 = 6,
  e4m3 = 7,
  e5m2 = 8
};

/// A function applied to each element. It maps NaN to NaN.
enum class Activation : int {
  none = 0,
  /// max(x, 0)
  relu = 1,
  /// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))): Hendrycks and Gimpel, "Gaussian error linear
  /// units (GELUs)", arXiv:1606.08415, section 2.
  gelu_tanh = 2,
  /// x / 2 (1 + erf(x / sqrt(2))): the exact GELU.
  gelu_erf = 3,
  /// x / (1 + exp(-x)): section 2 of the same paper; also called swish.
  silu = 4
};

}  // namespace rung
