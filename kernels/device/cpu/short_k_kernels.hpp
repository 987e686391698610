#pragma once
// Micro-kernels for a k so short that all of B, for a few vectors of columns, stays in registers
// while the rows of A and of C pass by. One set per instruction set, for float and double.

#include <cstdint>

namespace rung::cpu {

/// C (rows x cols) = alpha * A (rows x k) * B (k x cols) + beta * C, where rows of B and of C are
/// contiguous. The called function fixes k and the number of vectors that cols takes. With
/// beta == 0, C is not read.
template <class T>
struct ShortStrip {
  std::int64_t rows, cols;
  const T* a;
  std::int64_t a_row;  // elements from one row of A to the next, and from one step of k
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
  // [k - 1][vectors - 1]; null where B does not fit the registers
  void (*strips[max_k][max_vectors])(const ShortStrip<T>& strip);

  /// The most vectors of a strip; 0 where k is not short.
  std::int64_t vectors(std::int64_t k) const {
    if (k < 1 || k > max_k) return 0;
    std::int64_t count = max_vectors;
    while (count > 0 && strips[k - 1][count - 1] == nullptr) --count;
    return count;
  }
  /// The vectors that `cols` columns take, at most max_vectors. It does without a division.
  std::int64_t vectors_of(std::int64_t cols) const {
    return 1 + (cols > lanes) + (cols > 2 * lanes) + (cols > 3 * lanes);
  }
};

/// The set for this machine. T is float or double.
template <class T>
const ShortKKernels<T>& short_k_kernels();

}  // namespace rung::cpu
