#pragma once
// The operations of an epilogue on the sums of wgmma while they are in registers, 64 columns at a
// time, and the store of the results by TMA. Each operation is a branch that all threads take alike,
// so one kernel serves every epilogue.

#include <cstdint>

#include "core/epilogue.hpp"
#include "device/cuda/epilogue/element.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/tile/operand.cuh"

namespace rung::cuda {

#ifndef RUNG_HOST

/// Two neighbours along a row of an operand, which has float, bfloat16 or float16 at multiples of their
/// bytes.
struct Two {
  float first, second;
};
__device__ __forceinline__ Two load_two(const EpilogueOperand& operand, std::int64_t row,
                                        std::int64_t col) {
  const std::int64_t at = operand.at(row, col);
  if (operand.type == ElementType::f32) {
    const auto both =
        *reinterpret_cast<const Vector<float, 2>*>(static_cast<const float*>(operand.data) + at);
    return {both.at[0], both.at[1]};
  }
  const auto both = *reinterpret_cast<const Vector<std::uint16_t, 2>*>(
      static_cast<const std::uint16_t*>(operand.data) + at);
  if (operand.type == ElementType::f16) {
    return {ptx::cvt_f32_f16(both.at[0]), ptx::cvt_f32_f16(both.at[1])};
  }
  return {ptx::mov_f32_b32(std::uint32_t{both.at[0]} << 16),
          ptx::mov_f32_b32(std::uint32_t{both.at[1]} << 16)};
}

__device__ __forceinline__ Vector<std::uint16_t, 2> narrowed(ElementType type, float first,
                                                             float second) {
  if (type == ElementType::f16) {
    return {ptx::cvt_rn_f16_f32(first), ptx::cvt_rn_f16_f32(second)};
  }
  return {ptx::cvt_rn_bf16_f32(first), ptx::cvt_rn_bf16_f32(second)};
}

__device__ __forceinline__ void store_two(const EpilogueOperand& operand, std::int64_t row,
                                          std::int64_t col, float first, float second) {
  const std::int64_t at = operand.at(row, col);
  if (operand.type == ElementType::f32) {
    *reinterpret_cast<Vector<float, 2>*>(static_cast<float*>(operand.data) + at) = {first, second};
  } else {
    *reinterpret_cast<Vector<std::uint16_t, 2>*>(static_cast<std::uint16_t*>(operand.data) + at) =
        narrowed(operand.type, first, second);
  }
}

/// One warpgroup's epilogue for tiles of 64 x BN sums.
template <int BN>
class FusedEpilogue {
  static_assert(BN % 64 == 0);
  static constexpr int J = 8;  // groups of 8 columns that are processed at a time
  using Sums = float[J][4];

 public:
  using Boxes = unsigned char[2][64 * 128];

  /// `map`: of C. `boxes` and `bias`: shared memory of this warpgroup; the boxes at a multiple of 1024.
  /// `barrier`: a named barrier of it.
  __device__ __forceinline__ FusedEpilogue(const EpilogueArgs& args, const EncodedTensorMap& map,
                                           Boxes& boxes, float (&bias)[BN], int barrier)
      : args_(args), map_(map), boxes_(boxes), shared_bias_(bias), barrier_(barrier) {
    factor_ = static_cast<float>(args.alpha) * scale_of<float>(args.scale_a) *
              scale_of<float>(args.scale_b);
    result_factor_ = static_cast<float>(args.result_factor) * scale_of<float>(args.result_scale);
  }

  /// Loads what run() will need of a tile, before its sums are computed.
  __device__ __forceinline__ void prefetch(std::int64_t col) {
    const int thread = static_cast<int>(threadIdx.x) % 128;
    RUNG_UNROLL
    for (int i = 0; i < BIASES; ++i) {
      const std::int64_t at = col + i * 128 + thread;
      bias_[i] = args_.col_bias.data != nullptr && at < args_.n
                     ? load<float>(args_.col_bias, 0, at)
                     : 0.0f;
    }
  }

  /// The results of a tile whose sums begin at (row, col).
  __device__ __forceinline__ void run(std::int64_t row, std::int64_t col, float (&acc)[BN / 8][4]) {
    const int thread = static_cast<int>(threadIdx.x) % 128;
    RUNG_UNROLL
    for (int i = 0; i < BIASES; ++i) {
      if (i * 128 + thread < BN) shared_bias_[i * 128 + thread] = bias_[i];
    }
    // sync: the bias is there
    ptx::bar_sync(barrier_, 128);
    // The sums of the next columns move to the front, so that one store is compiled, not several.
    RUNG_NO_UNROLL
    for (int first = 0; first < BN; first += 64) {
      Sums& t = reinterpret_cast<Sums&>(acc);
      const std::int64_t my_row = row + thread / 32 * 16 + accumulator_row();
      const std::int64_t my_col = col + first + accumulator_col();
      operate(my_row, my_col, shared_bias_ + first + accumulator_col(), t);
      store(row, col + first, first / 64, t);
      RUNG_UNROLL
      for (int j = 0; j < BN / 8 - J; ++j) {
        RUNG_UNROLL
        for (int i = 0; i < 4; ++i) acc[j][i] = acc[j + J][i];
      }
    }
  }

  /// After the last tile.
  __device__ __forceinline__ void finish() const {
    if (threadIdx.x % 128 == 0) ptx::tma_store_wait_group_read<0>();
    if (args_.amax == nullptr) return;
    const std::uint32_t largest = ptx::redux_max_u32(largest_);
    if (threadIdx.x % 32 == 0) ptx::red_max_u32(args_.amax, largest);
  }

 private:
  static constexpr int BIASES = (BN + 127) / 128;

  /// Calls f(row, col, first, second) for each pair of this thread's elements that exists. n is even.
  template <class F>
  __device__ __forceinline__ void for_pairs(std::int64_t row, std::int64_t col, Sums& t,
                                            const F& f) const {
    RUNG_UNROLL
    for (int j = 0; j < J; ++j) {
      RUNG_UNROLL
      for (int i = 0; i < 4; i += 2) {
        const std::int64_t at_row = row + i * 4, at_col = col + j * 8;
        if (at_row < args_.m && at_col < args_.n) f(at_row, at_col, t[j][i], t[j][i + 1]);
      }
    }
  }
  template <class F>
  static __device__ __forceinline__ void for_each(Sums& t, const F& f) {
    RUNG_UNROLL
    for (int j = 0; j < J; ++j) {
      RUNG_UNROLL
      for (int i = 0; i < 4; ++i) t[j][i] = f(t[j][i]);
    }
  }
  /// f(t, element of its row) for each t.
  template <class F>
  __device__ __forceinline__ void with_rows(const EpilogueOperand& operand, std::int64_t row,
                                            Sums& t, const F& f) const {
    RUNG_UNROLL
    for (int half = 0; half < 2; ++half) {
      const std::int64_t at = row + half * 8;
      const float x = at < args_.m ? load<float>(operand, at, 0) : 0.0f;
      RUNG_UNROLL
      for (int j = 0; j < J; ++j) {
        t[j][2 * half] = f(t[j][2 * half], x);
        t[j][2 * half + 1] = f(t[j][2 * half + 1], x);
      }
    }
  }

  /// Steps 1 to 8 of rung::Epilogue. `bias`: that of this thread's first column.
  __device__ __forceinline__ void operate(std::int64_t row, std::int64_t col, const float* bias,
                                          Sums& t) {
    for_each(t, [&](float s) RUNG_INLINE_LAMBDA { return factor_ * s; });
    const auto times = [](float x, float y) RUNG_INLINE_LAMBDA { return x * y; };
    const auto plus = [](float x, float y) RUNG_INLINE_LAMBDA { return x + y; };
    if (args_.row_scale.data != nullptr) with_rows(args_.row_scale, row, t, times);
    if (args_.col_scale.data != nullptr) {
      for_pairs(row, col, t,
                [&](std::int64_t, std::int64_t c, float& x, float& y) RUNG_INLINE_LAMBDA {
                  x *= static_cast<const float*>(args_.col_scale.data)[c];
                  y *= static_cast<const float*>(args_.col_scale.data)[c + 1];
                });
    }
    if (args_.beta != 0.0) {
      const auto beta = static_cast<float>(args_.beta);
      for_pairs(row, col, t,
                [&](std::int64_t r, std::int64_t c, float& x, float& y) RUNG_INLINE_LAMBDA {
                  const Two old = load_two(args_.c, r, c);
                  x += beta * old.first;
                  y += beta * old.second;
                });
    }
    if (args_.row_bias.data != nullptr) with_rows(args_.row_bias, row, t, plus);
    if (args_.col_bias.data != nullptr) {
      RUNG_UNROLL
      for (int j = 0; j < J; ++j) {
        const auto two = *reinterpret_cast<const Vector<float, 2>*>(bias + j * 8);
        RUNG_UNROLL
        for (int i = 0; i < 4; ++i) t[j][i] += two.at[i % 2];
      }
    }
    if (args_.aux.data != nullptr) {
      for_pairs(row, col, t,
                [&](std::int64_t r, std::int64_t c, float& x, float& y) RUNG_INLINE_LAMBDA {
                  store_two(args_.aux, r, c, x, y);
                });
    }
    activate(t);
    if (args_.residual.data != nullptr) {
      for_pairs(row, col, t,
                [&](std::int64_t r, std::int64_t c, float& x, float& y) RUNG_INLINE_LAMBDA {
                  const Two by = load_two(args_.residual, r, c);
                  x += by.first;
                  y += by.second;
                });
    }
    if (args_.amax != nullptr) {
      for_pairs(row, col, t,
                [&](std::int64_t, std::int64_t, float& x, float& y) RUNG_INLINE_LAMBDA {
                  const std::uint32_t a = magnitude_of(x), b = magnitude_of(y);
                  largest_ = a > largest_ ? a : largest_;
                  largest_ = b > largest_ ? b : largest_;
                });
    }
    for_each(t, [&](float v) RUNG_INLINE_LAMBDA { return result_factor_ * v; });
  }

  __device__ __forceinline__ void activate(Sums& t) const {
    using Function = Activations<GpuMath>;
    switch (args_.activation) {
      case Activation::relu:
        return for_each(t, [](float x) RUNG_INLINE_LAMBDA { return Function::relu(x); });
      case Activation::gelu_tanh:
        return for_each(t, [](float x) RUNG_INLINE_LAMBDA { return Function::gelu_tanh(x); });
      case Activation::gelu_erf:
        return for_each(t, [](float x) RUNG_INLINE_LAMBDA { return Function::gelu_erf(x); });
      case Activation::silu:
        return for_each(t, [](float x) RUNG_INLINE_LAMBDA { return Function::silu(x); });
      default: return;
    }
  }

  /// Stores 64 x 64 results, from element (row, col) of C on: 4 bytes each in two boxes of 32 columns,
  /// fewer in one box; two such boxes alternate.
  __device__ __forceinline__ void store(std::int64_t row, std::int64_t col, int number,
                                        const Sums& t) {
    const bool is_wide = args_.c.type == ElementType::f32;
    const bool stores = threadIdx.x % 128 == 0;
    unsigned char* const box = boxes_[is_wide ? 0 : number % 2];
    // sync: TMA has read the earlier contents of the box
    if (stores) {
      if (is_wide) {
        ptx::tma_store_wait_group_read<0>();
      } else {
        ptx::tma_store_wait_group_read<1>();
      }
    }
    ptx::bar_sync(barrier_, 128);

    put(box, t);

    // sync: the box is complete, for TMA too
    ptx::fence_proxy_async();
    ptx::bar_sync(barrier_, 128);
    if (stores) {
      const int x = static_cast<int>(col), y = static_cast<int>(row);
      ptx::tma_store_2d(&map_, x, y, ptx::cvta_to_shared(box));
      if (is_wide && col + 32 < args_.n) {
        ptx::tma_store_2d(&map_, x + 32, y, ptx::cvta_to_shared(boxes_[1]));
      }
      ptx::tma_store_commit_group();
    }
  }

  /// Writes this thread's results to the boxes, whose rows have 128 bytes, or 64 of 8-bit types. The
  /// 128-byte swizzle exchanges bits of addresses.
  __device__ __forceinline__ void put(unsigned char* box, const Sums& t) const {
    const int row = static_cast<int>(threadIdx.x) % 128 / 32 * 16 + accumulator_row();
    const std::uint32_t begin = ptx::cvta_to_shared(box);
    const auto swizzled = [&](int byte) RUNG_INLINE_LAMBDA {
      return begin + static_cast<std::uint32_t>(byte ^ (byte >> 3 & 0x70));
    };
    const ElementType type = args_.c.type;
    RUNG_UNROLL
    for (int j = 0; j < J; ++j) {
      RUNG_UNROLL
      for (int half = 0; half < 2; ++half) {
        const float first = t[j][2 * half], second = t[j][2 * half + 1];
        const int at_row = row + half * 8, at_col = j * 8 + accumulator_col();
        if (type == ElementType::f32) {
          const int of_box = at_col / 32 * (64 * 128);
          ptx::st_shared_v2(swizzled(of_box + at_row * 128 + at_col % 32 * 4), first, second);
        } else if (type == ElementType::bf16 || type == ElementType::f16) {
          const auto both = narrowed(type, first, second);
          ptx::st_shared_v2(swizzled(at_row * 128 + at_col * 2), both.at[0], both.at[1]);
        } else {
          const std::uint16_t both = type == ElementType::e4m3
                                         ? ptx::cvt_rn_satfinite_e4m3x2_f32(second, first)
                                         : ptx::cvt_rn_satfinite_e5m2x2_f32(second, first);
          ptx::st_shared_u16(swizzled(at_row * 64 + at_col), both);
        }
      }
    }
  }

  const EpilogueArgs& args_;
  const EncodedTensorMap& map_;
  Boxes& boxes_;
  float (&shared_bias_)[BN];
  int barrier_;
  float factor_, result_factor_;
  float bias_[BIASES];
  std::uint32_t largest_ = 0;
};

#endif

}  // namespace rung::cuda
