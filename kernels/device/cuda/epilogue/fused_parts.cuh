#pragma once
// Epilogue operations on sums in registers, in wgmma's layout: for each 8 columns, a thread holds
// two adjacent columns of two rows that are 8 apart. Operands have the types and strides that the
// kernel supports (has_kernel() in library/cuda/fused_epilogue.cpp): rows end at multiples of 16
// bytes, so both elements of a pair exist, or neither does.

#include <cstdint>

#include "core/epilogue.hpp"
#include "device/cuda/epilogue/activation_formula.cuh"
#include "device/cuda/epilogue/element.cuh"
#include "device/cuda/epilogue/half_pairs.cuh"
#include "device/cuda/epilogue/scaled_bias.cuh"
#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/warp.cuh"
#include "device/cuda/types.cuh"

#ifndef RUNG_HOST

namespace rung::cuda {

/// The positions of a thread's pairs of elements: pairs start at (row, col) and repeat every 8
/// columns, and again 8 rows below.
struct PairsOfRows {
  std::int64_t row, col;
  bool has_row[2];
  int columns;  // number of the matrix's columns here, counted from col

  /// For a rows x cols matrix, restricted to at most `most` columns.
  __device__ __forceinline__ PairsOfRows(std::int64_t rows, std::int64_t cols,
                                         std::int64_t first_row, std::int64_t first_col, int most)
      : row(first_row), col(first_col), has_row{first_row < rows, first_row + 8 < rows} {
    columns = cols - first_col > most ? most : static_cast<int>(cols - first_col);
  }
  __device__ __forceinline__ bool has(int j, int half) const {
    return has_row[half] && j * 8 < columns;
  }
};

/// The epilogue of one thread.
class FusedParts {
 public:
  __device__ __forceinline__ explicit FusedParts(const EpilogueArgs& args)
      : args_(args), activation_(args.activation) {
    result_factor_ = static_cast<float>(args.result_factor) * scale_of<float>(args.result_scale);
    is_simple_ = args.row_scale.data == nullptr && args.col_scale.data == nullptr &&
                 args.row_bias.data == nullptr && args.beta == 0.0 && args.aux.data == nullptr &&
                 args.residual.data == nullptr && args.amax == nullptr && result_factor_ == 1.0f;
  }

  /// True if the epilogue has only alpha, a column bias and an activation.
  __device__ __forceinline__ bool is_simple() const { return is_simple_; }
  __device__ __forceinline__ bool is_gated() const { return args_.pairs == Pairs::of_columns; }

  /// Loads the pairs of a 16-bit operand, with 0 for pairs outside the matrix; all loads are in
  /// flight at once.
  template <int J>
  static __device__ __forceinline__ void fetch(const EpilogueOperand& operand,
                                               const PairsOfRows& pairs,
                                               std::uint32_t (&to)[J][2]) {
    const WordsOfTwoRows words(operand, pairs.row, pairs.col);
    RUNG_UNROLL
    for (int j = 0; j < J; ++j) {
      RUNG_UNROLL
      for (int half = 0; half < 2; ++half) {
        to[j][half] = pairs.has(j, half) ? words.at[half][j * 4] : 0;
      }
    }
  }

  /// Steps 1 to 4 of rung::Epilogue. `bias` points to the bias of the pairs' columns.
  template <int J>
  __device__ __forceinline__ void before_activation(const PairsOfRows& pairs, float factor,
                                                    const float* bias, float (&t)[J][4]) const {
    for_each(t, [&](float s) RUNG_INLINE_LAMBDA { return factor * s; });
    const auto times = [](float x, float y) RUNG_INLINE_LAMBDA { return x * y; };
    const auto plus = [](float x, float y) RUNG_INLINE_LAMBDA { return x + y; };
    if (args_.row_scale.data != nullptr) {
      const auto* const scales = static_cast<const float*>(args_.row_scale.data);
      with_rows(pairs, t, [&](std::int64_t row) RUNG_INLINE_LAMBDA { return scales[row]; }, times);
    }
    if (args_.col_scale.data != nullptr) {
      const auto* const scales = static_cast<const float*>(args_.col_scale.data) + pairs.col;
      RUNG_UNROLL
      for (int j = 0; j < J; ++j) {
        RUNG_UNROLL
        for (int i = 0; i < 2; ++i) {
          const float by = j * 8 < pairs.columns ? scales[j * 8 + i] : 0.0f;
          t[j][i] *= by;
          t[j][i + 2] *= by;
        }
      }
    }
    if (args_.beta != 0.0) {
      std::uint32_t old[J][2];
      fetch(args_.c, pairs, old);
      add(args_.c.type == ElementType::f16, old, static_cast<float>(args_.beta), t);
    }
    if (args_.row_bias.data != nullptr) {
      const auto bias_of = [&](std::int64_t row)
                               RUNG_INLINE_LAMBDA { return vector_element(args_.row_bias, row); };
      with_rows(pairs, t, bias_of, plus);
    }
    add_bias(1.0f, bias, t);
  }

  template <int J>
  __device__ __forceinline__ void activate(float (&t)[J][4]) const {
    if (args_.activation == Activation::none) return;
    if (args_.activation == Activation::gelu_erf) {
      for_each(t, [](float x) RUNG_INLINE_LAMBDA { return Activations<GpuMath>::gelu_erf(x); });
    } else {
      activation_.apply(t);
    }
  }

  /// Step 6 of a gated epilogue without gelu_erf. The results occupy the first half of t: 16
  /// columns of sums become 8 columns of results, which lanes exchange so that each has two
  /// adjacent columns again.
  template <int J>
  __device__ __forceinline__ void gate(float (&t)[J][4]) const {
    float u[J / 2][4];
    RUNG_UNROLL
    for (int j = 0; j < J / 2; ++j) {
      RUNG_UNROLL
      for (int i = 0; i < 4; ++i) u[j][i] = t[2 * j + i % 2][i / 2 * 2];
    }
    activation_.apply(u);
    RUNG_UNROLL
    for (int j = 0; j < J / 2; ++j) {
      RUNG_UNROLL
      for (int i = 0; i < 4; ++i) u[j][i] *= t[2 * j + i % 2][i / 2 * 2 + 1];
    }
    // Lane l of a group of four holds columns l and 4 + l. Adjacent lanes exchange one of them,
    // then the middle two lanes swap both.
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const bool is_odd = lane % 2 == 1;
    const int from = lane % 4 == 1 || lane % 4 == 2 ? lane ^ 3 : lane;
    RUNG_UNROLL
    for (int j = 0; j < J / 2; ++j) {
      RUNG_UNROLL
      for (int half = 0; half < 4; half += 2) {
        const float mine = is_odd ? u[j][half + 1] : u[j][half];
        const float theirs = ptx::shfl_idx(is_odd ? u[j][half] : u[j][half + 1], lane ^ 1);
        t[j][half] = ptx::shfl_idx(is_odd ? theirs : mine, from);
        t[j][half + 1] = ptx::shfl_idx(is_odd ? mine : theirs, from);
      }
    }
  }

  /// Step 7. `residual` was loaded by fetch().
  template <int J>
  __device__ __forceinline__ void add_residual(const std::uint32_t (&residual)[J][2],
                                               float (&t)[J][4]) const {
    add(args_.residual.type == ElementType::f16, residual, 1.0f, t);
  }

  /// Step 8 and the result factor.
  template <int J>
  __device__ __forceinline__ void scale_results(const PairsOfRows& pairs, float (&t)[J][4]) {
    if (args_.amax != nullptr) raise_largest(pairs, t);
    for_each(t, [&](float v) RUNG_INLINE_LAMBDA { return result_factor_ * v; });
  }

  /// All steps for the sums at (row, col) and (row, col + 1), and for those 8 rows below. `bias`
  /// points to the bias of the two columns.
  __device__ __forceinline__ void store_four(std::int64_t row, std::int64_t col, float factor,
                                             const float* bias, const float (&sums)[4]) {
    const PairsOfRows pairs(args_.m, args_.n, row, col, 8);
    float t[1][4] = {{sums[0], sums[1], sums[2], sums[3]}};
    before_activation(pairs, factor, bias, t);
    if (args_.aux.data != nullptr) store_words(args_.aux, pairs, t);
    const float values[] = {t[0][1], t[0][3]};
    activate(t);
    if (is_gated()) return store_gated(pairs, values[0] * t[0][0], values[1] * t[0][2]);
    if (args_.residual.data != nullptr) {
      std::uint32_t residual[1][2];
      fetch(args_.residual, pairs, residual);
      add_residual(residual, t);
    }
    scale_results(pairs, t);
    store_results(pairs, t);
  }

  /// Call after all results.
  __device__ __forceinline__ void store_largest() const {
    if (args_.amax == nullptr) return;
    const std::uint32_t largest = ptx::redux_max_u32(largest_);
    if (threadIdx.x % 32 == 0) ptx::red_max_u32(args_.amax, largest);
  }

 private:
  template <int J, class F>
  static __device__ __forceinline__ void for_each(float (&t)[J][4], const F& f) {
    RUNG_UNROLL
    for (int j = 0; j < J; ++j) {
      RUNG_UNROLL
      for (int i = 0; i < 4; ++i) t[j][i] = f(t[j][i]);
    }
  }

  /// t += factor * the elements loaded by fetch().
  template <int J>
  static __device__ __forceinline__ void add(bool is_f16, const std::uint32_t (&words)[J][2],
                                             float factor, float (&t)[J][4]) {
    RUNG_UNROLL
    for (int j = 0; j < J; ++j) {
      RUNG_UNROLL
      for (int half = 0; half < 2; ++half) {
        const Two two = widened(is_f16, words[j][half]);
        t[j][2 * half] += factor * two.first;
        t[j][2 * half + 1] += factor * two.second;
      }
    }
  }

  /// t = f(t, number(row)) for each t.
  template <int J, class Number, class F>
  static __device__ __forceinline__ void with_rows(const PairsOfRows& pairs, float (&t)[J][4],
                                                   const Number& number, const F& f) {
    RUNG_UNROLL
    for (int half = 0; half < 2; ++half) {
      const float x = pairs.has_row[half] ? number(pairs.row + half * 8) : 0.0f;
      RUNG_UNROLL
      for (int j = 0; j < J; ++j) {
        t[j][2 * half] = f(t[j][2 * half], x);
        t[j][2 * half + 1] = f(t[j][2 * half + 1], x);
      }
    }
  }

  template <int J>
  __device__ __forceinline__ void raise_largest(const PairsOfRows& pairs, const float (&t)[J][4]) {
    RUNG_UNROLL
    for (int j = 0; j < J; ++j) {
      RUNG_UNROLL
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t magnitude = pairs.has(j, i / 2) ? magnitude_of(t[j][i]) : 0;
        largest_ = magnitude > largest_ ? magnitude : largest_;
      }
    }
  }

  /// Stores two pairs, 8 rows apart, to a 16-bit operand.
  static __device__ __forceinline__ void store_words(const EpilogueOperand& operand,
                                                     const PairsOfRows& pairs,
                                                     const float (&t)[1][4]) {
    const WordsOfTwoRows words(operand, pairs.row, pairs.col);
    RUNG_UNROLL
    for (int half = 0; half < 2; ++half) {
      if (pairs.has(0, half)) {
        *words.at[half] = narrowed(words.is_f16, t[0][2 * half], t[0][2 * half + 1]);
      }
    }
  }

  /// Stores two pairs of results, 8 rows apart.
  __device__ __forceinline__ void store_results(const PairsOfRows& pairs,
                                                const float (&t)[1][4]) const {
    const EpilogueOperand& c = args_.c;
    if (bytes_of(c.type) == 2) return store_words(c, pairs, t);
    RUNG_UNROLL
    for (int half = 0; half < 2; ++half) {
      if (!pairs.has(0, half)) continue;
      const float first = t[0][2 * half], second = t[0][2 * half + 1];
      const std::int64_t at = c.at(pairs.row + half * 8, pairs.col);
      if (c.type == ElementType::f32) {
        *reinterpret_cast<Vector<float, 2>*>(static_cast<float*>(c.data) + at) = {{first, second}};
      } else {
        *reinterpret_cast<std::uint16_t*>(static_cast<unsigned char*>(c.data) + at) =
            c.type == ElementType::e4m3 ? ptx::cvt_rn_satfinite_e4m3x2_f32(second, first)
                                        : ptx::cvt_rn_satfinite_e5m2x2_f32(second, first);
      }
    }
  }

  /// Steps 7 to 9 for two gated results, 8 rows apart.
  __device__ __forceinline__ void store_gated(const PairsOfRows& pairs, float first, float second) {
    float u[1][4] = {{first, 0.0f, second, 0.0f}};
    const std::int64_t col = pairs.col / 2;
    if (args_.residual.data != nullptr) {
      RUNG_UNROLL
      for (int half = 0; half < 2; ++half) {
        if (!pairs.has(0, half)) continue;
        const auto& bits = element<std::uint16_t>(args_.residual, pairs.row + half * 8, col);
        u[0][2 * half] += widened(args_.residual.type == ElementType::f16, bits).first;
      }
    }
    scale_results(pairs, u);
    RUNG_UNROLL
    for (int half = 0; half < 2; ++half) {
      if (!pairs.has(0, half)) continue;
      const std::int64_t row = pairs.row + half * 8;
      if (args_.c.type == ElementType::f32) {
        element<float>(args_.c, row, col) = u[0][2 * half];
      } else {
        const bool is_f16 = args_.c.type == ElementType::f16;
        element<std::uint16_t>(args_.c, row, col) =
            static_cast<std::uint16_t>(narrowed(is_f16, u[0][2 * half], 0.0f));
      }
    }
  }

  const EpilogueArgs& args_;
  ActivationFormula activation_;
  float result_factor_;
  bool is_simple_;
  std::uint32_t largest_ = 0;
};

}  // namespace rung::cuda

#endif
