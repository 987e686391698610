#pragma once
// The reduction of split-K for warpgroups, with the accumulators of wgmma: warpgroups of several
// blocks have partial sums of the same results. Each writes its own to the workspace, in the order
// of its registers, and adds up a share of all. It adds in a fixed order, so the result has the
// same bits every time.

#include <cstdint>

#include "device/cuda/epilogue/partial_sums.cuh"
#include "device/cuda/epilogue/split_k.cuh"
#include "device/cuda/tile/tile_scheduler.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// The partial sums of one warpgroup in each of several blocks, 64 rows of 8 J columns.
template <int J, class Sum = float>
class SplitKReduction {
 public:
  /// For warpgroup `group` of `groups` that compute a part of a tile.
  __device__ __forceinline__ SplitKReduction(void* workspace, const WorkTile& work, unsigned groups,
                                             unsigned group)
      : semaphore_(static_cast<Semaphore*>(workspace) + work.split_tile * groups + group),
        stride_(std::int64_t{groups} * COUNT),
        split_(work.split),
        splits_(work.splits) {
    auto* const sums = static_cast<unsigned char*>(workspace) + semaphores_bytes;
    const unsigned first_slot = work.slot - static_cast<unsigned>(work.split);
    first_ = reinterpret_cast<Quad*>(sums) + first_slot * stride_ + group * COUNT;
  }

  /// Writes the partial sums, waits for the others, and stores a share of the results, from element
  /// (row, col) of C on. `barrier` is a named barrier of this warpgroup.
  template <class In, class Out>
  __device__ __forceinline__ void store(const Gemm<In, Out>& g, std::int64_t row, std::int64_t col,
                                        const Sum (&acc)[J][4], int barrier) const {
    const Sums sums(g, row, col);
    sums.put(first_ + split_ * stride_, acc);

    // sync: all warpgroups have written theirs
    ptx::bar_sync(barrier, 128);
    if (threadIdx.x % 128 == 0) arrive_and_wait(*semaphore_, splits_);
    ptx::bar_sync(barrier, 128);

    const int begin = sums.count() * split_ / splits_;
    const int end = sums.count() * (split_ + 1) / splits_;
    add_up(g, sums, begin, end);
  }

 private:
  using Sums = PartialSums<J, Sum>;
  using Quad = typename Sums::Quad;
  static constexpr int COUNT = Sums::COUNT;

  /// Adds up the vectors from begin to end. A thread has sixteen loads in flight: of four vectors,
  /// or where there are more than four parts, of sixteen parts of one vector.
  template <class In, class Out>
  __device__ __forceinline__ void add_up(const Gemm<In, Out>& g, const Sums& sums, int begin,
                                         int end) const {
    const bool few = splits_ <= 4;
    const int vectors = few ? 4 : 1;
    for (int i = begin + static_cast<int>(threadIdx.x) % 128; i < end; i += vectors * 128) {
      Quad total[4] = {};
      for (int split = 0; split < splits_; split += 16 / vectors) {
        Quad theirs[4][4] = {};
        RUNG_UNROLL
        for (int p = 0; p < 4; ++p) {
          RUNG_UNROLL
          for (int v = 0; v < 4; ++v) {
            const int from = split + (few ? p : p * 4 + v);
            const int at = i + (few ? v * 128 : 0);
            if (from < splits_ && at < end) theirs[p][v] = first_[from * stride_ + at];
          }
        }
        RUNG_UNROLL
        for (int p = 0; p < 4; ++p) {
          RUNG_UNROLL
          for (int v = 0; v < 4; ++v) total[v] = Sums::sum(total[v], theirs[p][v]);
        }
      }
      if (!few) total[0] = Sums::sum(Sums::sum(total[0], total[1]), Sums::sum(total[2], total[3]));
      // The next one to store is always the first, so that one store is compiled, not four.
      RUNG_NO_UNROLL
      for (int v = 0; v < vectors; ++v) {
        if (i + v * 128 < end) sums.store(g, i + v * 128, total[0]);
        total[0] = total[1];
        total[1] = total[2];
        total[2] = total[3];
      }
    }
  }

  Semaphore* semaphore_;
  Quad* first_;          // of part 0
  std::int64_t stride_;  // from part to part
  int split_, splits_;
};

}  // namespace rung::cuda
