#pragma once
// The operations of an epilogue on the sums of wgmma while they are in registers, 64 or 128 columns at
// a time, and the store of the results by TMA. Each operation is a branch that all threads take alike,
// so one kernel serves every epilogue.

#include <cstdint>

#include "core/epilogue.hpp"
#include "device/cuda/epilogue/element.cuh"
#include "device/cuda/epilogue/fused_boxes.cuh"
#include "device/cuda/epilogue/half_pairs.cuh"
#include "device/cuda/epilogue/scaled_bias.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/tile/operand.cuh"

namespace rung::cuda {

/// Shared memory of a warpgroup for results: boxes of 64 rows of 128 bytes, two or more.
template <int COUNT>
using FusedBoxes = unsigned char[COUNT][64 * 128];

#ifndef RUNG_HOST

/// One warpgroup's epilogue for tiles of ROWS x BN sums, 64 rows after the other. With a box for each 64 x
/// 64 results, all are stored together; with two, these alternate.
template <int ROWS, int BN, int BOXES>
class FusedEpilogue {
  static_assert(ROWS % 64 == 0 && BN % 64 == 0);
  // Of a slab, which is processed at a time. A consumer of 128 rows has no registers for wider ones.
  static constexpr int COLS = ROWS == 64 && BN % 128 == 0 ? 128 : 64;
  static constexpr int J = COLS / 8;
  using Sums = float[J][4];

 public:
  using Boxes = FusedBoxes<BOXES>;

  /// `map` and `aux`: of C, and of the aux output if there is one. `boxes` and `bias`: shared memory of
  /// this warpgroup; the boxes at a multiple of 1024.
  /// `barrier`: a named barrier of it.
  __device__ __forceinline__ FusedEpilogue(const EpilogueArgs& args, const EncodedTensorMap& map,
                                           const EncodedTensorMap& aux, Boxes& boxes,
                                           float (&bias)[BN], int barrier)
      : args_(args), map_(map), aux_(aux), boxes_(boxes), bias_(args, bias), barrier_(barrier) {
    result_factor_ = static_cast<float>(args.result_factor) * scale_of<float>(args.result_scale);
    is_simple_ = args.row_scale.data == nullptr && args.col_scale.data == nullptr &&
                 args.row_bias.data == nullptr && args.beta == 0.0 && args.aux.data == nullptr &&
                 args.residual.data == nullptr && args.amax == nullptr && result_factor_ == 1.0f;
  }

  /// Loads what run() will need first of a tile, before its sums are computed.
  __device__ __forceinline__ void prefetch(std::int64_t row, std::int64_t col, bool /*is_part*/) {
    bias_.prefetch(args_, col);
    if (args_.residual.data != nullptr) fetch(args_.residual, pairs_of(row, col), residual_);
  }

  /// The results of a tile whose sums begin at (row, col).
  __device__ __forceinline__ void run(std::int64_t row, std::int64_t col,
                                      float (&acc)[ROWS / 64 * BN / 8][4]) {
    bias_.share(args_);
    // sync: the bias is there, and TMA has read the boxes of the previous tile
    if (threadIdx.x % 128 == 0) ptx::tma_store_wait_group_read<0>();
    ptx::bar_sync(barrier_, 128);
    // The sums of the next slab move to the front, so that one store is compiled, not several.
    RUNG_NO_UNROLL
    for (int slab = 0; slab < SLABS; ++slab) {
      Sums& t = reinterpret_cast<Sums&>(acc);
      const std::int64_t slab_row = row + row_of(slab);
      const std::int64_t slab_col = col + col_of(slab);
      if (is_simple_) {
        bias_.add(bias_.factor(), col_of(slab), t);
      } else {
        before_activation(pairs_of(slab_row, slab_col), col_of(slab), t);
        if (args_.aux.data != nullptr) store_aux(row, col, slab, t);
      }
      activate(t);
      if (!is_simple_) after_activation(row, col, slab, t);
      store_slab(row, col, slab, t);
      if (slab + 1 == SLABS) return;
      RUNG_UNROLL
      for (int j = 0; j < (SLABS - 1) * J; ++j) {
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
  static constexpr int SLABS = ROWS / 64 * BN / COLS;  // of 64 x COLS sums
  static constexpr int PARTS = COLS / 64;              // of a slab: 64 x 64 results

  static constexpr __device__ int row_of(int slab) { return slab / (BN / COLS) * 64; }
  static constexpr __device__ int col_of(int slab) { return slab % (BN / COLS) * COLS; }

  /// This thread's pairs of elements of a slab: in each group of 8 columns, two columns of two rows.
  struct Pairs64 {
    std::int64_t row, col;
    bool has_row[2];
    int columns;  // from col to the end of C

    __device__ __forceinline__ Pairs64(const EpilogueArgs& args, std::int64_t r, std::int64_t c)
        : row(r), col(c), has_row{r < args.m, r + 8 < args.m} {
      columns = args.n - c > BN ? BN : static_cast<int>(args.n - c);
    }
    __device__ __forceinline__ bool has(int j, int half) const {
      return has_row[half] && j * 8 < columns;
    }
  };

  /// This thread's pairs in the 64 x 64 sums from element (row, col) of the product on.
  __device__ __forceinline__ Pairs64 pairs_of(std::int64_t row, std::int64_t col) const {
    const int warp = static_cast<int>(threadIdx.x) % 128 / 32;
    return {args_, row + warp * 16 + accumulator_row(), col + accumulator_col()};
  }

  /// All loads first, so that they are in flight together.
  static __device__ __forceinline__ void fetch(const EpilogueOperand& operand, const Pairs64& pairs,
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
  /// t += factor * the elements that were fetched.
  static __device__ __forceinline__ void add(bool is_f16, const std::uint32_t (&words)[J][2],
                                             float factor, Sums& t) {
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
      const float x = at < args_.m ? vector_element(operand, at) : 0.0f;
      RUNG_UNROLL
      for (int j = 0; j < J; ++j) {
        t[j][2 * half] = f(t[j][2 * half], x);
        t[j][2 * half + 1] = f(t[j][2 * half + 1], x);
      }
    }
  }

  /// Steps 1 to 5 of rung::Epilogue, of sums from column `col` of the tile on.
  __device__ __forceinline__ void before_activation(const Pairs64& pairs, int col, Sums& t) const {
    for_each(t, [&](float s) RUNG_INLINE_LAMBDA { return bias_.factor() * s; });
    const auto times = [](float x, float y) RUNG_INLINE_LAMBDA { return x * y; };
    const auto plus = [](float x, float y) RUNG_INLINE_LAMBDA { return x + y; };
    if (args_.row_scale.data != nullptr) with_rows(args_.row_scale, pairs.row, t, times);
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
    if (args_.row_bias.data != nullptr) with_rows(args_.row_bias, pairs.row, t, plus);
    bias_.add(1.0f, col, t);
  }

  /// Steps 7 and 8, and the factor of the result, of a slab of the tile at (row, col).
  __device__ __forceinline__ void after_activation(std::int64_t row, std::int64_t col, int slab,
                                                   Sums& t) {
    if (args_.residual.data != nullptr) {
      add(args_.residual.type == ElementType::f16, residual_, 1.0f, t);
      if (slab + 1 < SLABS) {
        fetch(args_.residual, pairs_of(row + row_of(slab + 1), col + col_of(slab + 1)), residual_);
      }
    }
    if (args_.amax != nullptr) raise_largest(pairs_of(row + row_of(slab), col + col_of(slab)), t);
    for_each(t, [&](float v) RUNG_INLINE_LAMBDA { return result_factor_ * v; });
  }

  __device__ __forceinline__ void raise_largest(const Pairs64& pairs, const Sums& t) {
    RUNG_UNROLL
    for (int j = 0; j < J; ++j) {
      RUNG_UNROLL
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t magnitude = pairs.has(j, i / 2) ? magnitude_of(t[j][i]) : 0;
        largest_ = magnitude > largest_ ? magnitude : largest_;
      }
    }
  }

  /// t /= divisor(t), by fewer reciprocals than divisors: special function units have an eighth of the
  /// others' rate.
  template <class F>
  static __device__ __forceinline__ void divide(Sums& t, const F& divisor) {
    RUNG_UNROLL
    for (int j = 0; j < J; ++j) {
      const float by[] = {divisor(t[j][0]), divisor(t[j][1]), divisor(t[j][2]), divisor(t[j][3])};
      Activations<GpuMath>::divide(t[j], by);
    }
  }

  __device__ __forceinline__ void activate(Sums& t) const {
    using Function = Activations<GpuMath>;
    switch (args_.activation) {
      case Activation::relu:
        return for_each(t, [](float x) RUNG_INLINE_LAMBDA { return Function::relu(x); });
      case Activation::gelu_tanh:
        return divide(t, [](float x) RUNG_INLINE_LAMBDA {
          return Function::divisor(Function::gelu_tanh_exponent(x));
        });
      case Activation::gelu_erf:
        return for_each(t, [](float x) RUNG_INLINE_LAMBDA { return Function::gelu_erf(x); });
      case Activation::silu:
        return divide(t, [](float x) RUNG_INLINE_LAMBDA {
          return Function::divisor(Function::silu_exponent(x));
        });
      default: return;
    }
  }

  /// Stores the results of a slab of the tile at (row, col), or waits for more that will be stored with
  /// them. 64 x 64 results of 4 bytes fill two boxes, those of 1 byte half of one.
  __device__ __forceinline__ void store_slab(std::int64_t row, std::int64_t col, int slab,
                                             const Sums& t) const {
    const auto bytes = static_cast<int>(bytes_of(args_.c.type));
    const int first = slab * PARTS;  // of its parts
    const bool at_once = stores_at_once(bytes);
    const int half = at_once ? first * bytes : first * bytes % 4;
    // sync: TMA has read the earlier contents of the box
    if (args_.aux.data != nullptr) {
      free_boxes<0>();
    } else if (!at_once && first * bytes >= 4 && half % 2 == 0) {
      if (PARTS * bytes >= 4) {
        free_boxes<0>();
      } else {
        free_boxes<1>();
      }
    }
    RUNG_UNROLL
    for (int part = 0; part < PARTS; ++part) {
      if (bytes == 4 && part > 0) {
        store(map_, bytes, row, col, first, first, 0);
        free_boxes<0>();
      }
      const int to = bytes == 4 ? 0 : half + part * bytes;
      put_results(args_.c.type, box(to / 2), to % 2, part_of(t, part));
    }
    const int last = first + PARTS - 1;
    if (bytes == 4) {
      store(map_, bytes, row, col, last, last, 0);
    } else if (at_once) {
      if (slab + 1 == SLABS) store(map_, bytes, row, col, 0, last, 0);
    } else if (bytes == 2 || last % 2 == 1) {
      store(map_, bytes, row, col, bytes == 2 ? first : last - 1, last, half / 2);
    }
  }

  /// Stores a slab of the aux output, of 2 bytes an element, by way of boxes that hold no results.
  __device__ __forceinline__ void store_aux(std::int64_t row, std::int64_t col, int slab,
                                            const Sums& t) const {
    const auto bytes = static_cast<int>(bytes_of(args_.c.type));
    const int first = slab * PARTS;
    int first_box = stores_at_once(bytes) ? first : first % 2;
    // Of a pair of slabs, the first one's results of 1 byte wait in a box for those of the second.
    if (bytes == 1 && PARTS == 1) first_box = 1 - slab / 2 % 2;
    // sync: TMA has read the earlier contents of the box
    if (slab > 0) free_boxes<0>();
    RUNG_UNROLL
    for (int part = 0; part < PARTS; ++part) {
      put_16_bits(args_.aux.type, box(first_box + part), part_of(t, part));
    }
    store(aux_, 2, row, col, first, first + PARTS - 1, first_box);
  }

  /// Whether a whole tile is stored at once. bytes: of a result.
  static constexpr __device__ bool stores_at_once(int bytes) {
    return SLABS * PARTS <= BOXES && bytes <= 2;
  }

  /// The address of a box in shared memory.
  __device__ __forceinline__ std::uint32_t box(int index) const {
    return ptx::cvta_to_shared(boxes_[0]) + index * int{sizeof boxes_[0]};
  }

  static __device__ __forceinline__ auto part_of(const Sums& t, int part) -> const float (&)[8][4] {
    return reinterpret_cast<const float(&)[8][4]>(t[part * 8]);
  }

  /// Waits until TMA has read the boxes, but for those that it stores by the last PENDING groups.
  template <int PENDING>
  __device__ __forceinline__ void free_boxes() const {
    if (threadIdx.x % 128 == 0) ptx::tma_store_wait_group_read<PENDING>();
    ptx::bar_sync(barrier_, 128);
  }

  /// Stores parts `first` to `last` of the tile at (row, col), which are in the boxes from `first_box` on.
  /// bytes: of an element.
  __device__ __forceinline__ void store(const EncodedTensorMap& map, int bytes, std::int64_t row,
                                        std::int64_t col, int first, int last,
                                        int first_box) const {
    // sync: the boxes are complete, for TMA too
    ptx::fence_proxy_async();
    ptx::bar_sync(barrier_, 128);
    if (threadIdx.x % 128 != 0) return;
    std::uint32_t from = box(first_box);
    RUNG_NO_UNROLL
    for (int part = first; part <= last; part += bytes == 1 ? 2 : 1) {
      const int x = static_cast<int>(col) + part % (BN / 64) * 64;
      const int y = static_cast<int>(row) + part / (BN / 64) * 64;
      ptx::tma_store_2d(&map, x, y, from);
      from += sizeof boxes_[0];
      if (bytes == 4 && x + 32 < args_.n) ptx::tma_store_2d(&map, x + 32, y, from);
    }
    ptx::tma_store_commit_group();
  }

  const EpilogueArgs& args_;
  const EncodedTensorMap& map_;
  const EncodedTensorMap& aux_;
  Boxes& boxes_;
  ScaledBias<BN> bias_;
  int barrier_;
  float result_factor_;
  bool is_simple_;                // no more than alpha, a bias of columns, an activation
  std::uint32_t residual_[J][2];  // of the next columns
  std::uint32_t largest_ = 0;
};

#endif

}  // namespace rung::cuda
