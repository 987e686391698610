#pragma once
// Micro-kernels for a short k: B, for a few vectors of columns, stays in registers while the rows
// of A and C are streamed. One set per instruction set, for float and double.

#include <cstdint>

namespace rung::cpu {

/// C (rows x cols) = alpha * A (rows x k) * B (k x cols) + beta * C, where rows of B and of C are
/// contiguous. The called function fixes k and the number of vectors that cover cols. With beta ==
/// 0, C is not read.
template <class T>
struct ShortStrip {
  std::int64_t rows, cols;
  const T* a;
  std::int64_t a_row;  // elements between rows of A
  std::int64_t a_k;
  const T* b;
  std::int64_t b_k;
  T alpha, beta;
  T* c;
  std::int64_t ldc;
};

template <class T>
struct ShortKKernels {
  static constexpr std::int64_t max_k = 12;
  static constexpr std::int64_t max_vectors = 4;

  std::int64_t lanes;  // elements per vector
  // [k - 1][vectors - 1]; null if B does not fit in registers.
  void (*strips[max_k][max_vectors])(const ShortStrip<T>& strip);

  /// The maximum number of vectors in a strip; 0 if k is not short.
  std::int64_t vectors(std::int64_t k) const {
    if (k < 1 || k > max_k) return 0;
    std::int64_t count = max_vectors;
    while (count > 0 && strips[k - 1][count - 1] == nullptr) --count;
    return count;
  }
  /// The number of vectors that cover `cols` columns, at most max_vectors. Avoids a division.
  std::int64_t vectors_of(std::int64_t cols) const {
    return 1 + (cols > lanes) + (cols > 2 * lanes) + (cols > 3 * lanes);
  }
};

/// The kernels for this machine. T is float or double.
template <class T>
const ShortKKernels<T>& short_k_kernels();

}  // namespace rung::cpu
