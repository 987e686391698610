#pragma once
// A warp's private stream of packed weight records, copied several stages ahead of the
// multiplication.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/ptx/early_launch.cuh"
#include "device/cuda/ptx/ld_shared.cuh"
#include "device/cuda/tile/weight_record.cuh"
#include "device/cuda/types.cuh"
#include "device/weight_layout.hpp"

namespace rung::cuda {

/// The records that a block multiplies: a range of each of its tiles, which have 16 rows.
struct RecordRange {
  std::int64_t first_tile;
  int tiles;
  std::int64_t first;  // first record within a tile
  int count;           // records per tile
};

/// One warp's share of a block's records: a consecutive run, tile by tile. They are copied to the
/// warp's own shared memory, so no other warp waits for them. Scales are kept for the last SCALES
/// records, which is more than the number of stages of elements.
template <int BITS, int STAGES>
class RecordStream {
 public:
  static constexpr int ZEROS_AT = RecordForm<BITS>::scales_at;  // offset within a stage
  static constexpr int STAGE = ZEROS_AT + 32;                   // bytes
  static constexpr int CHUNKS = WeightLayout::steps / chunk_steps<BITS>;
  static constexpr int SCALES = 16;
  static constexpr int MOST_SCALES = 128;  // bytes per record

  struct Shared {
    alignas(16) unsigned char stages[STAGES][STAGE];
    alignas(16) unsigned char scales[SCALES][MOST_SCALES];
  };

  __device__ __forceinline__ RecordStream(const WeightLayout& layout, const RecordForm<BITS>& form,
                                          const unsigned char* weights, const RecordRange& range,
                                          int warp, int warps, Shared& shared)
      : form_(form), in_tile_(range.count), shared_(shared) {
    const int records = range.count * range.tiles;
    const int first = records * warp / warps;
    count_ = records * (warp + 1) / warps - first;
    left_ = count_;
    tile_ = in_tile_ == 0 ? 0 : first / in_tile_;
    at_ = first - tile_ * in_tile_;
    left_in_tile_ = in_tile_ - at_;
    to_next_tile_ = (layout.records_of_rows() - in_tile_) * form.bytes;
    from_ = weights + layout.record_at(range.first_tile + tile_, range.first + at_) + lane() * 16;
    begin_ = ptx::cvta_to_shared(shared.stages) + lane() * 16;
    scales_ = ptx::cvta_to_shared(shared.scales);
    end_ = begin_ + STAGES * STAGE;
    now_ = begin_;
    before_ = end_ - STAGE;
  }

  /// Starts to prefetch up to `most` bytes of the first records into the L2 cache, on GPUs with
  /// that instruction. Later writes to these addresses go to L2, too, so the prefetch may precede
  /// them.
  __device__ __forceinline__ void prefetch(int most) const {
    const int bytes = count_ * form_.bytes;
    if (lane() == 0 && bytes > 0) ptx::prefetch_to_l2(from_, bytes < most ? bytes : most);
  }
  /// Starts to copy the first records.
  __device__ __forceinline__ void begin() {
    for (int stage = 0; stage < STAGES - 1; ++stage) copy_next(begin_ + stage * STAGE);
  }

  /// The tile of the first record (relative to the block's first tile), the record's index in the
  /// tile, and the number of records.
  __device__ __forceinline__ int tile() const { return tile_; }
  __device__ __forceinline__ int at() const { return at_; }
  __device__ __forceinline__ int count() const { return count_; }

  /// Waits for the next record, and starts to copy another one into the stage of the previous one.
  __device__ __forceinline__ void wait() {
    // sync: this lane's copies have arrived; it reads only its own words
    ptx::cp_async_wait_group<STAGES - 2>();
    // sync: the warp's copies have arrived, and all lanes have read the previous record's zero
    // points
    if (BITS == 4 && form_.has_zeros) ptx::bar_warp_sync();
    copy_next(before_);
    before_ = now_;
  }
  /// The words of this lane in a chunk of the record.
  __device__ __forceinline__ Vector<std::uint32_t, 4> words(int chunk) const {
    Vector<std::uint32_t, 4> words;
    ptx::ld_shared(words, now_ + chunk * 512);
    return words;
  }
  __device__ __forceinline__ const unsigned char* zeros() const {
    return shared_.stages[0] + (now_ - begin_) + ZEROS_AT;
  }
  /// The scales of a record, whose index is relative to this warp's first one. Valid for the last
  /// SCALES - STAGES records that have been waited for, after a warp synchronization.
  __device__ __forceinline__ const unsigned char* scales(int record) const {
    return shared_.scales[record % SCALES];
  }
  /// Advances to the next record.
  __device__ __forceinline__ void advance() {
    now_ += STAGE;
    if (now_ == end_) now_ = begin_;
  }

 private:
  static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % 32; }

  /// Copies the next record as one cp.async group. After the last record, the group is empty.
  __device__ __forceinline__ void copy_next(std::uint32_t to) {
    if (left_ > 0) {
      RUNG_UNROLL
      for (int chunk = 0; chunk < CHUNKS; ++chunk) {
        ptx::cp_async<16>(to + chunk * 512, from_ + chunk * 512, 16);
      }
      if (BITS == 4 && form_.has_zeros && lane() * 4 < form_.bytes - form_.zeros_at) {
        ptx::cp_async<4>(to - lane() * 12 + ZEROS_AT, from_ - lane() * 12 + form_.zeros_at, 4);
      }
      if (lane() * 16 < form_.zeros_at - ZEROS_AT) {
        ptx::cp_async<16>(scales_ + (count_ - left_) % SCALES * MOST_SCALES + lane() * 16,
                          from_ + ZEROS_AT, 16);
      }
      from_ += form_.bytes;
      if (--left_in_tile_ == 0) {
        left_in_tile_ = in_tile_;
        from_ += to_next_tile_;
      }
      --left_;
    }
    ptx::cp_async_commit_group();
  }

  const RecordForm<BITS>& form_;
  int in_tile_, tile_, at_, count_, left_, left_in_tile_;
  std::int64_t to_next_tile_;
  Shared& shared_;
  const unsigned char* from_;  // this lane's first words of the next record to copy
  // Addresses in shared memory: this lane's positions in stages, and the scales.
  std::uint32_t begin_, end_, now_, before_, scales_;
};

}  // namespace rung::cuda
