#pragma once
// Dot-product instructions for up to four rows of A: B is interleaved in registers and read once, in
// the order in which it is stored, so that memory is the only limit.

#include <cstdint>

#include "rung/types.hpp"

namespace rung::cpu {

/// C = alpha * A * B + beta * C for `depth` rows of B, whose rows are contiguous. With beta == 0, C
/// is not read. The called function fixes the number of rows of A and C.
template <class In, class Acc>
struct FewRows {
  std::int64_t n;
  std::int64_t depth;  // from 1 to FewRowsKernels::depth
  const In* a;
  std::int64_t a_row, a_k;  // elements from one row of A to the next, and from one k
  const In* b;
  std::int64_t b_row;
  Acc alpha, beta;
  Acc* c;
  std::int64_t ldc;
};

template <class In, class Acc>
struct FewRowsKernels {
  static constexpr int max_rows = 4;

  std::int64_t depth;  // the most rows of B at a time
  void (*rows[max_rows])(const FewRows<In, Acc>&);
};

/// The set for this machine, or null if it has no such instructions.
template <class In, class Acc>
const FewRowsKernels<In, Acc>* few_rows_kernels() {
  return nullptr;
}
/// AVX512-BF16.
template <>
const FewRowsKernels<bfloat16, float>* few_rows_kernels<bfloat16, float>();
/// AVX512-VNNI.
template <>
const FewRowsKernels<std::int8_t, std::uint32_t>* few_rows_kernels<std::int8_t, std::uint32_t>();

}  // namespace rung::cpu
