#pragma once
// What a caller may choose beyond the problem itself. Name the fields, as in {.threads = 1}: later
// versions add some, each with a default that keeps today's meaning.

namespace rung {

/// The arithmetic of a matrix product, apart from the types of its operands.
enum class ComputeMode : int {
  /// Elements are multiplied as they are, and summed in the type of alpha and beta: what cuBLAS
  /// calls CUBLAS_COMPUTE_32F, 64F and 32I. Every combination of types has it.
  standard = 0,
};

struct GemmOptions {
  /// The most threads to use, the calling one included. 0: the processors that the calling thread
  /// may run on at the time of the call. Small problems use fewer, and no call uses more than four
  /// for each processor of the machine.
  int threads = 0;
  ComputeMode compute_mode = ComputeMode::standard;
};

/// What is promised of a dot product's bits, and of its error: u is the unit roundoff of the result
/// type, gamma(n) = n u / (1 - n u), and |x| . |y| the sum of |x[i] y[i]|. The bounds of the first
/// three leave out underflow, of at most the smallest normal number a term, and overflow within the
/// sum, which makes it infinite or NaN.
enum class DotMode {
  /// As fast as memory allows. The last bits may change from call to call.
  /// |result - exact| <= gamma(n) |x| . |y|.
  fast,
  /// The same bits from call to call, for any number of threads; they may change with the machine,
  /// the length, the increments, the alignment and the version of the library. The bound is that of
  /// fast.
  deterministic,
  /// As if summed in twice the precision and rounded once: Dot2 of Ogita, Rump and Oishi, "Accurate
  /// sum and dot product", SIAM J. Sci. Comput. 26 (2005). Deterministic.
  /// |result - exact| <= u |exact| + gamma(n)^2 |x| . |y|.
  compensated,
  /// The exact sum, rounded once to nearest, ties to even; so the same bits on every CPU and GPU,
  /// and for any order of the elements. |result - exact| <= u |exact|, or half of the smallest
  /// number. Infinite only if the exact sum is too large, or an element is infinite; a NaN is
  /// always the same one, and a sum of 0 is +0. Slower, the more the exponents vary.
  reproducible,
};

struct DotOptions {
  /// As in GemmOptions.
  int threads = 0;
  DotMode mode = DotMode::deterministic;
};

}  // namespace rung
