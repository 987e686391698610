#pragma once
// What an epilogue is made of: activations, and the types of the elements that it reads and writes.

namespace rung {

/// The type of a matrix's or a vector's elements, where it is known at run time only. The values are
/// those of rung_dtype.
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

/// A function of each element. That of a NaN is a NaN.
enum class Activation : int {
  none = 0,
  /// max(x, 0)
  relu = 1,
  /// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))): Hendrycks and Gimpel, "Gaussian error linear
  /// units (GELUs)", arXiv:1606.08415, section 2.
  gelu_tanh = 2,
  /// x / 2 (1 + erf(x / sqrt(2))): the same, exactly.
  gelu_erf = 3,
  /// x / (1 + exp(-x)): section 2 there; also called swish.
  silu = 4
};

}  // namespace rung
