#pragma once
// Records of packed weights that a warp copies for itself, some stages ahead of what it multiplies.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/ptx/early_launch.cuh"
#include "device/cuda/ptx/ld_shared.cuh"
#include "device/cuda/tile/weight_record.cuh"
#include "device/cuda/types.cuh"
#include "device/weight_layout.hpp"

namespace rung::cuda {

/// The records that a block multiplies: a part of k of each of its tiles, which have 16 rows.
struct RecordRange {
  std::int64_t first_tile;
  int tiles;
  std::int64_t first;  // of a tile's records
  int count;           // of a tile's records
};

/// The share of one warp of the block: a run of its records, tile by tile. They are in shared memory of the
/// warp's own, so no other warp waits for them. Scales are there for the last SCALES records, which are
/// more than the stages of elements.
template <int BITS, int STAGES>
class RecordStream {
 public:
  static constexpr int ZEROS_AT = RecordForm<BITS>::scales_at;  // of a stage
  static constexpr int STAGE = ZEROS_AT + 32;                   // bytes
  static constexpr int CHUNKS = WeightLayout::steps / chunk_steps<BITS>;
  static constexpr int SCALES = 16;
  static constexpr int MOST_SCALES = 128;  // bytes of a record

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

  /// Starts to bring up to `most` bytes of the first records into the L2 cache, on GPUs that have such
  /// an instruction. Whoever writes them later writes them there.
  __device__ __forceinline__ void prefetch(int most) const {
    const int bytes = count_ * form_.bytes;
    if (lane() == 0 && bytes > 0) ptx::prefetch_to_l2(from_, bytes < most ? bytes : most);
  }
  /// Starts to copy the first records.
  __device__ __forceinline__ void begin() {
    for (int stage = 0; stage < STAGES - 1; ++stage) copy_next(begin_ + stage * STAGE);
  }

  /// The tile of the first record, counted from the block's first one, the record's place in it, and
  /// how many records there are.
  __device__ __forceinline__ int tile() const { return tile_; }
  __device__ __forceinline__ int at() const { return at_; }
  __device__ __forceinline__ int count() const { return count_; }

  /// Waits for the next record, and starts to copy another one into the stage of the one before it.
  __device__ __forceinline__ void wait() {
    // sync: this lane's copies have arrived: it reads no words but its own
    ptx::cp_async_wait_group<STAGES - 2>();
    // sync: those of the warp have, and all have read the zero points of the record before
    if (BITS == 4 && form_.has_zeros) ptx::bar_warp_sync();
    copy_next(before_);
    before_ = now_;
  }
  /// A lane's words of a chunk of the record.
  __device__ __forceinline__ Vector<std::uint32_t, 4> words(int chunk) const {
    Vector<std::uint32_t, 4> words;
    ptx::ld_shared(words, now_ + chunk * 512);
    return words;
  }
  __device__ __forceinline__ const unsigned char* zeros() const {
    return shared_.stages[0] + (now_ - begin_) + ZEROS_AT;
  }
  /// The scales of a record, counted from this warp's first one: of the last SCALES - STAGES that have been
  /// waited for, once lanes have met.
  __device__ __forceinline__ const unsigned char* scales(int record) const {
    return shared_.scales[record % SCALES];
  }
  /// Goes on to the next one.
  __device__ __forceinline__ void advance() {
    now_ += STAGE;
    if (now_ == end_) now_ = begin_;
  }

 private:
  static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % 32; }

  /// A group of copies is one record, also beyond the last one.
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
  // Addresses in shared memory: this lane's of stages, and of the scales.
  std::uint32_t begin_, end_, now_, before_, scales_;
};

}  // namespace rung::cuda
