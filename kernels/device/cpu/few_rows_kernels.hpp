#pragma once
// Kernels for up to four rows of A: B is read once, in storage order, so that memory is the only
// bottleneck. It is interleaved in registers for dot-product instructions, or widened in registers
// with AVX2.

#include <algorithm>
#include <cstdint>

#include "core/problem.hpp"
#include "device/cpu/integers.hpp"
#include "device/cpu/parallel.hpp"
#include "rung/types.hpp"

namespace rung::cpu {

/// C = alpha * A * B + beta * C for `depth` rows of B, whose rows are contiguous. With beta == 0, C
/// is not read. The called function fixes the number of rows of A and C.
template <class In, class Acc>
struct FewRows {
  std::int64_t n;
  std::int64_t depth;  // in [1, FewRowsKernels::depth]
  const In* a;
  std::int64_t a_row, a_k;  // elements between rows of A, and between k-steps
  const In* b;
  std::int64_t b_row;
  Acc alpha, beta;
  Acc* c;
  std::int64_t ldc;
};

template <class In, class Acc>
struct FewRowsKernels {
  static constexpr int max_rows = 4;

  std::int64_t depth;  // maximum number of rows of B per call
  void (*rows[max_rows])(const FewRows<In, Acc>&);
};

/// The kernels for this machine, or null if it lacks the instructions.
template <class In, class Acc>
const FewRowsKernels<In, Acc>* few_rows_kernels() {
  return nullptr;
}
/// AVX512-BF16, or AVX2 on machines without wider extensions.
template <>
const FewRowsKernels<bfloat16, float>* few_rows_kernels<bfloat16, float>();
/// AVX2, on machines without wider extensions.
template <>
const FewRowsKernels<float16, float>* few_rows_kernels<float16, float>();
/// AVX512-VNNI, or AVX2 on machines without wider extensions.
template <>
const FewRowsKernels<std::int8_t, std::uint32_t>* few_rows_kernels<std::int8_t, std::uint32_t>();

/// Multiplies up to four rows of A without packing. Each pass processes a few rows of B over a
/// range of columns whose part of C stays in L1. Returns false if there are more rows, B is not
/// row-major, k is 0, or the machine lacks the instructions.
template <class In, class Out>
bool multiply_few_rows(const Gemm<In, Out>& g, int threads) {
  constexpr std::int64_t c_bytes = 16 << 10;
  constexpr std::int64_t unit = 64;  // columns per step of the kernels
  const auto* const kernels = few_rows_kernels<In, Out>();
  if (kernels == nullptr || g.m > kernels->max_rows || g.b.col_stride != 1 || g.k == 0)
    return false;
  const auto in_l1 = c_bytes / (g.m * std::int64_t{sizeof(Out)});
  const std::int64_t cols = round_up(std::min(in_l1, ceil_div(g.n, threads)), unit);
  parallel_for(ceil_div(g.n, cols), threads, [&](std::int64_t part) {
    const std::int64_t j = part * cols;
    for (std::int64_t k = 0; k < g.k; k += kernels->depth) {
      kernels->rows[g.m - 1]({std::min(cols, g.n - j), std::min(kernels->depth, g.k - k),
                              &g.a(0, k), g.a.row_stride, g.a.col_stride, &g.b(k, j),
                              g.b.row_stride, g.alpha, k == 0 ? g.beta : Out{1}, &g.c(0, j),
                              g.c.row_stride});
    }
  });
  return true;
}

}  // namespace rung::cpu
