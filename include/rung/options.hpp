#pragma once
// Options of a call. Set fields by name, as in {.threads = 1}: later versions add fields, whose
// defaults keep the current behavior.

namespace rung {

/// The arithmetic of a matrix product. On CPUs, reproducible and batch_invariant compute in the
/// default floating-point environment (rounding to nearest, subnormal numbers kept, no traps);
/// standard and split compute in the caller's environment (rung/gemm.hpp).
enum class ComputeMode : int {
  /// Multiplies elements as they are and accumulates in the type of alpha and beta, like cuBLAS's
  /// CUBLAS_COMPUTE_32F, 64F and 32I. Available for every combination of types.
  standard = 0,
  /// f32 and f64 may be computed on faster units.
  ///
  /// - f32: on sm_90, large products are sums of three products of float16 halves on tensor cores,
  ///   promoted to float every 64 k-steps. |error| <= (k / 4 + 160) u |A||B| with u = 2^-24.
  ///   Elements that two halves cannot represent accurately are detected on the device, and their
  ///   sums are computed as in standard.
  /// - f64: if a model predicts a gain, operands are rounded to integers, and tensor cores compute
  ///   their products modulo 15 numbers of 8 bits. |error| <= (sqrt(k) / 20 + 8) u ||a|| ||b|| with
  ///   u = 2^-53 and the Euclidean norms of the row and the column, plus the error of adding beta
  ///   C.
  ///
  /// Both bounds are at most that of standard. Other products, types and devices compute as in
  /// standard.
  split = 1,
  /// The bits of an element of C depend only on its row of A, its column of B, k, alpha, beta and
  /// its old value: not on the device (CPU or GPU), m, n, other elements, layouts, the batch or the
  /// number of threads. Rows of A and columns of B are scaled and rounded to integers of three
  /// 8-bit digits, whose products are summed exactly, in slabs of 32768 k-steps. |error| <= (568 +
  /// k / 1024) u ||a|| ||b|| with the Euclidean norms of the row and the column, plus the error of
  /// adding beta C. Rows and columns whose largest element exceeds eight times their root mean
  /// square are multiplied in double precision instead, which is slower. Available for f32 on CPUs
  /// and on GPUs of sm_90, and for integers; other types and GPUs throw Status::unavailable.
  reproducible = 2,
  /// The bits of a row of C depend only on its row of A, its old elements, B, alpha, beta, n, k,
  /// the storage orders, and whether rows begin at multiples of 16 bytes: not on m, the other rows,
  /// the row's position, the batch, groups of rows, the number of threads or SMs, or the workspace.
  /// If C is column-major, the same holds for columns, with B and n instead of A and m. The bits
  /// may change with the device and the version of the library. Errors are bounded as in standard.
  /// On CPUs, bfloat16 and float16 are widened to float, and AMX is not used. GPUs support f32, f64
  /// and integers from sm_80 on and the other types on sm_90. Other GPUs, and arrays of pointers on
  /// any GPU, throw Status::unavailable.
  batch_invariant = 3,
};

struct GemmOptions {
  /// The maximum number of threads, including the calling one. 0 (default): the processors that the
  /// calling thread may run on at the time of the call, or fewer if rung/threads.hpp or the
  /// environment sets a limit. Small problems use fewer, and no call uses more than four threads
  /// per processor of the machine.
  int threads = 0;
  ComputeMode compute_mode = ComputeMode::standard;
};

/// Guarantees for the bits and the error of a dot product. u is the unit roundoff of the result
/// type, gamma(n) = n u / (1 - n u), and |x| . |y| is the sum of |x[i] y[i]|. On CPUs, all modes
/// but fast compute in the default floating-point environment. The bounds of the first three modes
/// exclude underflow (at most the smallest normal number per term) and overflow within the sum,
/// which makes the result infinite or NaN.
enum class DotMode {
  /// As fast as memory bandwidth allows. Low-order bits may differ between calls. |result - exact|
  /// <= gamma(n) |x| . |y|.
  fast,
  /// The same bits in every call and for any number of threads. They may change with the machine,
  /// the length, the increments, the alignment and the version of the library. The error bound is
  /// that of fast.
  deterministic,
  /// As accurate as summation in twice the precision, rounded once: Dot2 of Ogita, Rump and Oishi,
  /// "Accurate sum and dot product", SIAM J. Sci. Comput. 26 (2005). Deterministic. |result -
  /// exact| <= u |exact| + gamma(n)^2 |x| . |y|.
  compensated,
  /// The exact sum, rounded once to nearest, ties to even. The bits are therefore the same on every
  /// CPU and GPU and for any order of the elements. |result - exact| <= u |exact|, or half of the
  /// smallest subnormal number. Infinite only if the exact sum overflows or an element is infinite;
  /// a NaN always has the same bits, and a sum of 0 is +0. Slower for a wide range of exponents.
  reproducible,
};

struct DotOptions {
  /// As in GemmOptions.
  int threads = 0;
  DotMode mode = DotMode::deterministic;
};

}  // namespace rung
