#pragma once
// Records of packed weights that a warp copies for itself, some stages ahead of what it multiplies.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/weight_layout.hpp"

namespace rung::cuda {

/// The records that a block multiplies: a part of k of each of its tiles, which have 16 rows.
struct RecordRange {
  std::int64_t first_tile;
  int tiles;
  std::int64_t first;  // of a tile's records
  int count;
};

/// The share of one warp of the block: a part of each tile's records, one tile after another. The
/// stages are in shared memory, and the warp's own, so no other warp waits for them.
template <int RECORD, int STAGES>
class RecordStream {
 public:
  __device__ __forceinline__ RecordStream(const WeightLayout& layout, const unsigned char* weights,
                                          const RecordRange& range, int warp, int warps,
                                          unsigned char (&stages)[STAGES][RECORD])
      : bytes_(layout.record_bytes()), stages_(stages) {
    first_ = range.count * warp / warps;
    count_ = range.count * (warp + 1) / warps - first_;
    left_in_tile_ = count_;
    left_ = count_ * range.tiles;
    to_next_tile_ = (layout.records_of_rows() - count_) * bytes_;
    from_ = weights + layout.record_at(range.first_tile, range.first + first_) + lane() * 16;
  }

  /// A tile's first record of this warp, of those in the range; how many there are in a tile.
  __device__ __forceinline__ int first() const { return first_; }
  __device__ __forceinline__ int count() const { return count_; }

  /// Starts to copy the next one. A group of copies is one record, also beyond the last one.
  __device__ __forceinline__ void copy_next() {
    if (left_ > 0) {
      const std::uint32_t to = ptx::cvta_to_shared(stages_[next_]) + lane() * 16;
      RUNG_UNROLL
      for (int at = 0; at < RECORD; at += 512) {
        if (at + lane() * 16 < bytes_) ptx::cp_async<16>(to + at, from_ + at, 16);
      }
      from_ += bytes_;
      if (--left_in_tile_ == 0) {
        left_in_tile_ = count_;
        from_ += to_next_tile_;
      }
      --left_;
    }
    ptx::cp_async_commit_group();
    next_ = next_ == STAGES - 1 ? 0 : next_ + 1;
  }

  /// Waits for the oldest one, and starts to copy another into the stage of the one before it.
  __device__ __forceinline__ const unsigned char* wait() {
    // sync: this lane's copies have arrived, then those of the warp; all have read the one before
    ptx::cp_async_wait_group<STAGES - 2>();
    ptx::bar_warp_sync();
    copy_next();
    const unsigned char* const record = stages_[now_];
    now_ = now_ == STAGES - 1 ? 0 : now_ + 1;
    return record;
  }

 private:
  static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % 32; }

  int bytes_;
  unsigned char (*stages_)[RECORD];
  int first_, count_, left_in_tile_, left_;
  std::int64_t to_next_tile_;
  const unsigned char* from_;
  int next_ = 0, now_ = 0;
};

}  // namespace rung::cuda
