#pragma once
// Options of a call. Set the fields by name, as in {.threads = 1}: later versions add fields, whose
// defaults keep today's behaviour.

namespace rung {

/// The arithmetic of a matrix product, apart from the types of its operands.
enum class ComputeMode : int {
  /// Elements are multiplied as they are, and summed in the type of alpha and beta: what cuBLAS
  /// calls CUBLAS_COMPUTE_32F, 64F and 32I. Every combination of types has it.
  standard = 0,
  /// f32 and f64 may be computed on faster units, with an error bound at most that of standard. On GPUs of
  /// sm_90, large products are sums of three products of float16 halves on tensor cores, promoted to
  /// float every 64 k-steps: |error| <= (k / 4 + 160) u |A||B|, where u is 2^-24. Elements that halves
  /// cannot represent well enough are found on the device, and their sums are computed as in
  /// standard. f64, where a model of the time says that it pays, is computed from integers that tensor cores
  /// multiply modulo 15 numbers of 8 bits: |error| <= (sqrt(k) / 20 + 8) u ||a|| ||b|| (Euclidean norms of the row
  /// and of the column), where u is 2^-53, besides that of adding beta C. Other products, types and devices compute
  /// as in standard.
  split = 1,
  /// The bits of each element of C depend on its row of A, its column of B, k, alpha, beta and the old
  /// element alone: not on the device, CPU or GPU, on m, n, the other elements, the layouts, the batch
  /// or the threads. Floats are scaled, by rows of A and columns of B, and rounded to integers of three
  /// digits of 8 bits, whose products are summed exactly, slab by slab of 32768 steps. |error| <= (568 +
  /// k / 1024) u ||a|| ||b|| (Euclidean norms of the row and of the column), besides that of adding beta
  /// C. Rows and columns whose largest element exceeds eight times their root mean square are
  /// multiplied in double precision instead, which is slower. For f32, on CPUs and on GPUs of sm_90, and
  /// for integers; other types and GPUs are refused.
  reproducible = 2,
  /// The bits of a row of C depend on its row of A, its old elements, B, alpha, beta, n, k, the
  /// orders of storage, and whether rows begin at multiples of 16 bytes: not on m, the other rows,
  /// its place among them, the batch, groups of rows, the number of threads or SMs, nor the
  /// workspace. If C is column-major, the same holds with columns, B and n in the place of rows, A
  /// and m. They may change with the device and the version of the library. Errors are bounded as
  /// in standard. On CPUs, bfloat16 and float16 are widened to float, and AMX is not used. GPUs
  /// have f32, f64 and integers from sm_80 on, the other types on sm_90. Other GPUs are refused,
  /// and on all GPUs arrays of pointers.
  batch_invariant = 3,
};

struct GemmOptions {
  /// The most threads to use, the calling one included. 0: the processors that the calling thread
  /// may run on at the time of the call. Small problems use fewer, and no call uses more than four
  /// for each processor of the machine.
  int threads = 0;
  ComputeMode compute_mode = ComputeMode::standard;
};

/// The promises for the bits and the error of a dot product. u is the unit roundoff of the result
/// type, gamma(n) = n u / (1 - n u), and |x| . |y| is the sum of |x[i] y[i]|. The bounds of the
/// first three modes exclude underflow (at most the smallest normal number per term) and overflow
/// within the sum, which makes the result infinite or NaN.
enum class DotMode {
  /// As fast as memory allows. The low-order bits may change from call to call. |result - exact| <=
  /// gamma(n) |x| . |y|.
  fast,
  /// The same bits from call to call, for any number of threads. They may change with the machine,
  /// the length, the increments, the alignment and the version of the library. The error bound is
  /// that of fast.
  deterministic,
  /// As accurate as if summed in twice the precision and rounded once: Dot2 of Ogita, Rump and
  /// Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26 (2005). Deterministic. |result
  /// - exact| <= u |exact| + gamma(n)^2 |x| . |y|.
  compensated,
  /// The exact sum, rounded once to nearest, ties to even. The bits are therefore the same on every
  /// CPU and GPU, and for any order of the elements. |result - exact| <= u |exact|, or half of the
  /// smallest subnormal number. Infinite only if the exact sum overflows or an element is infinite;
  /// a NaN always has the same bits, and a sum of 0 is +0. Slower when exponents vary more.
  reproducible,
};

struct DotOptions {
  /// As in GemmOptions.
  int threads = 0;
  DotMode mode = DotMode::deterministic;
};

}  // namespace rung
