#pragma once
// Stores wgmma accumulators whose columns are no multiple of a TMA box of 128 bytes: in equal,
// narrower boxes.

#include <cstdint>

#include "device/cuda/epilogue/tma_store.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/ptx/sm_90.cuh"

namespace rung::cuda {

/// A warpgroup's boxes of results in shared memory, each of SIZE elements. COUNT boxes are in use in
/// turn.
template <class Out, int SIZE, int COUNT>
struct BoxesInTurn {
  alignas(1024) Out at[COUNT][SIZE];

  /// For each of PARTS parts: all threads fill(box, part), then one calls send(box, part), which
  /// starts a copy by TMA. `barrier` is a named barrier of this warpgroup.
  template <int PARTS, class Fill, class Send>
  __device__ __forceinline__ void store_parts(int barrier, const Fill& fill, const Send& send) {
    const bool sends = threadIdx.x % 128 == 0;
    RUNG_UNROLL
    for (int part = 0; part < PARTS; ++part) {
      Out* const box = at[part % COUNT];
      // sync: TMA has read the previous contents of the box
      if (sends) ptx::tma_store_wait_group_read<COUNT - 1>();
      ptx::bar_sync(barrier, 128);

      fill(box, part);

      // sync: the box is complete and visible to the async proxy
      ptx::fence_proxy_async();
      ptx::bar_sync(barrier, 128);
      if (!sends) continue;
      send(ptx::cvta_to_shared(box), part);
      ptx::tma_store_commit_group();
    }
  }

  /// The warpgroup waits until TMA has read the boxes. Call it before the block ends.
  __device__ __forceinline__ void wait() const {
    if (threadIdx.x % 128 == 0) ptx::tma_store_wait_group_read<0>();
  }
};

/// The largest divisor of `count` that is at most `most`.
constexpr int divisor_up_to(int most, int count) {
  while (count % most != 0) --most;
  return most;
}

/// One warpgroup's boxes of 64 rows: BN columns of results in as few boxes of equal width as
/// possible. A row of a box takes 128 bytes of shared memory.
template <int BN, class Out, int COUNT>
struct EqualBoxes : BoxesInTurn<Out, 64 * (128 / sizeof(Out)), COUNT> {
  using Sum = Scalar<Out>;

  /// The groups of eight columns in a box.
  static constexpr int GROUPS = divisor_up_to(16 / static_cast<int>(sizeof(Out)), BN / 8);
  static constexpr int WIDTH = 8 * GROUPS;  // columns per box

  /// The tensor map of C, or none if TMA cannot store C.
  template <class In>
  static TensorMapSpec map(const Gemm<In, Out>& g) {
    if (!has_boxes_of_c(g)) return {};
    TensorMapSpec spec = tensor_map_of_c(g, 64);
    spec.box_row_length = WIDTH;
    return spec;
  }

  /// Stores alpha times the sums of one wgmma to C, from element (row, col): by TMA if `by_tma`,
  /// which reads the boxes until wait(). `barrier` is a named barrier of this warpgroup.
  template <class In>
  __device__ __forceinline__ void store(const Gemm<In, Out>& g, const EncodedTensorMap& map,
                                        std::int64_t row, std::int64_t col,
                                        const Sum (&d)[BN / 8][4], int barrier, bool by_tma) {
    if (!by_tma) return store_m64(g, row, col, d);
    this->template store_parts<BN / WIDTH>(
        barrier,
        [&](Out* box, int part) RUNG_INLINE_LAMBDA {
          RUNG_UNROLL
          for (int j = 0; j < GROUPS; ++j) put(g.alpha, box, j * 8, d[part * GROUPS + j]);
        },
        [&](std::uint32_t box, int part) RUNG_INLINE_LAMBDA {
          ptx::tma_store_2d(&map, static_cast<int>(col) + part * WIDTH, static_cast<int>(row), box);
        });
  }

 private:
  /// Writes alpha times this thread's elements of 64 x 8 sums to the columns of a box from `col`.
  static __device__ __forceinline__ void put(const Sum& alpha, Out* box, int col,
                                             const Sum (&d)[4]) {
    const std::uint32_t to = ptx::cvta_to_shared(box + my_index_in_box<Out>(col));
    const auto put_pair = [&](std::uint32_t pair, const Sum& first, const Sum& second) {
      const auto one = static_cast<Out>(alpha * first), other = static_cast<Out>(alpha * second);
      if constexpr (sizeof(Out) == 2) {
        ptx::st_shared_v2(pair, one.bits, other.bits);
      } else {
        ptx::st_shared_v2(pair, one, other);
      }
    };
    put_pair(to, d[0], d[1]);
    put_pair(to + 8 * 128, d[2], d[3]);
  }
};

}  // namespace rung::cuda
