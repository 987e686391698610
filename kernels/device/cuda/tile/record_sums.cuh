#pragma once
// Multiplies one row of A by records of packed weights, with matrix instructions whose columns keep
// scale groups apart.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/ptx/mma.cuh"
#include "device/cuda/ptx/warp.cuh"
#include "device/cuda/tile/weight_record.cuh"

namespace rung::cuda {

inline constexpr int record_columns = 8;  // columns of a matrix instruction, one per scale group

/// The sums of a warp's records. In the second operand of the matrix instructions, column c
/// contains the row of A in the k-steps of group c of a batch of records, and zeros elsewhere. The
/// sums of groups thus stay separate until the whole batch is scaled. A batch has up to COLS groups
/// of one tile.
template <class In, int BITS, class Records>
class RecordSums {
  static constexpr int BK = WeightLayout::steps;
  static constexpr int COLS = record_columns;
  using Form = RecordForm<BITS>;

 public:
  /// `in_tile`: records per tile. `partial`: one row of sums per tile. xs, zeros: shared-memory
  /// addresses of the row of A, and of zeros for all k-steps of a record.
  __device__ __forceinline__ RecordSums(const Form& form, const Records& records, int in_tile,
                                        float (*partial)[WeightLayout::rows], std::uint32_t xs,
                                        std::uint32_t zeros)
      : form_(form),
        partial_(partial),
        in_tile_(in_tile),
        at_(records.at()),
        left_(records.count()),
        groups_(form.has_two_groups ? 2 : 1) {
    // This lane provides ldmatrix with the addresses of column lane % 8.
    xs_ = xs + lane() / 8 * 16;
    zeros_ = zeros + lane() / 8 * 16;
    // Its sums are in columns 2 (lane % 4) and 2 (lane % 4) + 1: of two records, or of two groups
    // of one record.
    const int column = lane() % 4 * 2;
    record_of_column_[0] = column / groups_;
    record_of_column_[1] = (column + 1) / groups_;
    // 4-bit elements without zero points have an implicit zero point of 8.
    constexpr std::uint32_t eights[2] = {8, 8};
    RUNG_UNROLL
    for (auto& of_half : minus_zeros_) minus_zeros_of<In>(of_half, eights);
  }

  /// The number of remaining records.
  __device__ __forceinline__ int left() const { return left_; }

  __device__ __forceinline__ void add_batch(Records& records) {
    constexpr std::uint32_t STEP = BK * sizeof(In);
    int count = COLS / groups_;
    if (count > in_tile_ - at_) count = in_tile_ - at_;
    if (count > left_) count = left_;
    std::uint32_t x = xs_ + static_cast<std::uint32_t>(at_) * STEP;
    const std::uint32_t end = x + static_cast<std::uint32_t>(count) * STEP;
    // The addresses of the row of A for this lane's column, in both halves of a record.
    const int mine = lane() % COLS;
    const std::uint32_t at = x + static_cast<std::uint32_t>(mine / groups_) * STEP;
    const std::uint32_t first = mine % groups_ == 0 ? at : 0;
    const std::uint32_t second = mine % groups_ == groups_ - 1 ? at : 0;
    RUNG_NO_UNROLL
    for (; x != end; x += STEP) {
      records.wait();
      if (BITS == 4 && form_.has_zeros) load_zeros(records.zeros());
      add_record(records, x == first ? x : zeros_, x == second ? x : zeros_);
      records.advance();
    }
    add_scaled(records, records.count() - left_, count);
    RUNG_UNROLL
    for (float& sum : sums_) sum = 0;
    at_ += count;
    left_ -= count;
    if (at_ == in_tile_ || left_ == 0) end_tile();
  }

 private:
  static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % 32; }

  /// acc_ += the sums of a batch (`count` records from `first`), times their scales.
  __device__ __forceinline__ void add_scaled(const Records& records, int first, int count) {
    // sync: the scales copied by all lanes have arrived
    ptx::bar_warp_sync();
    RUNG_UNROLL
    for (int i = 0; i < 2; ++i) {
      if (record_of_column_[i] >= count) continue;
      const unsigned char* const scales = records.scales(first + record_of_column_[i]);
      const int of_group = i * (groups_ - 1) * WeightLayout::rows;
      RUNG_UNROLL
      for (int half = 0; half < 2; ++half) {
        acc_[half] += scale_at(scales, of_group + lane() / 4 + half * 8) * sums_[half * 2 + i];
      }
    }
    // sync: all lanes have read the scales before they are overwritten
    ptx::bar_warp_sync();
  }

  __device__ __forceinline__ float scale_at(const unsigned char* scales, int i) const {
    if (form_.scale == WeightScale::f32) return reinterpret_cast<const float*>(scales)[i];
    if (form_.scale == WeightScale::bf16) {
      return static_cast<float>(reinterpret_cast<const bfloat16*>(scales)[i]);
    }
    return static_cast<float>(reinterpret_cast<const float16*>(scales)[i]);
  }

  /// Stores this warp's part of the tile's sums.
  __device__ __forceinline__ void end_tile() {
    RUNG_UNROLL
    for (int half = 0; half < 2; ++half) {
      float sum = acc_[half] * WeightPair<In, BITS>::inverse_of_fraction;
      sum += ptx::shfl_idx(sum, lane() ^ 1);
      sum += ptx::shfl_idx(sum, lane() ^ 2);
      if (lane() % 4 == 0) (*partial_)[lane() / 4 + half * 8] = sum;
      acc_[half] = 0;
    }
    ++partial_;
    at_ = 0;
  }

  /// Loads the zero points of a record, for unpack_fragment().
  __device__ __forceinline__ void load_zeros(const unsigned char* zeros) {
    RUNG_UNROLL
    for (int group = 0; group < 2; ++group) {
      const unsigned char* const from =
          zeros + form_.group_of(group * BK / 2) * WeightLayout::rows + lane() / 4;
      const std::uint32_t of_rows[2] = {from[0], from[8]};
      minus_zeros_of<In>(minus_zeros_[group], of_rows);
    }
  }

  /// Adds a record, given the addresses of the lane's column for both halves of the record.
  __device__ __forceinline__ void add_record(const Records& records, std::uint32_t first,
                                             std::uint32_t second) {
    constexpr int CHUNK = chunk_steps<BITS>;
    RUNG_UNROLL
    for (int k = 0; k < BK; k += CHUNK) {
      const int half = k / (BK / 2);
      multiply_steps<0>(records.words(k / CHUNK).at, minus_zeros_[half],
                        (half == 0 ? first : second) + k * static_cast<int>(sizeof(In)));
    }
  }

  /// sums_ += the products of the chunk's k-steps from STEP on, unscaled, 32 at a time.
  template <int STEP>
  __device__ __forceinline__ void multiply_steps(const std::uint32_t (&words)[4],
                                                 const std::uint32_t (&minus_zeros)[2],
                                                 std::uint32_t x) {
    std::uint32_t a[4], b[4];
    ptx::ldmatrix_x4<false>(b, x + STEP * static_cast<int>(sizeof(In)));
    const std::uint32_t first[] = {b[0], b[1]}, second[] = {b[2], b[3]};
    unpack_fragment<In, BITS, STEP>(a, words, minus_zeros);
    ptx::mma_m16n8k16<In>(sums_, a, first);
    unpack_fragment<In, BITS, STEP + 16>(a, words, minus_zeros);
    ptx::mma_m16n8k16<In>(sums_, a, second);
    if constexpr (STEP + 32 < chunk_steps<BITS>) {
      multiply_steps<STEP + 32>(words, minus_zeros, x);
    }
  }

  const Form& form_;
  float (*partial_)[WeightLayout::rows];  // for the current tile
  int in_tile_, at_, left_;               // records: per tile, before the batch, remaining
  int groups_;                            // groups per record
  std::uint32_t xs_, zeros_;              // the lane's addresses of the row of A, and of zeros
  int record_of_column_[2];               // record of the lane's two columns, within the batch
  std::uint32_t minus_zeros_[2][2];       // for both halves of a record
  float sums_[4] = {}, acc_[2] = {};
};

}  // namespace rung::cuda
