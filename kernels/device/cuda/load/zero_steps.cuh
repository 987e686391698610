#pragma once
// Zeros k-steps of tiles if a product's k begins or ends within a tile and memory around it holds
// other numbers. These may be NaN, so both operands are zeroed.

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// Zeros the first `lead` k-steps of a SwizzledTile of EXTENT rows or columns and the k-steps from
/// `end`. Called by COUNT threads; `thread` is the index of this one.
template <class Tile, int EXTENT, int COUNT, class In>
__device__ __forceinline__ void zero_steps(In* tile, int lead, int end, int thread) {
  const int steps = lead + Tile::BK - end;
  const auto step_of = [=](int i) { return i < lead ? i : end + i - lead; };
  if constexpr (Tile::k_major) {
    RUNG_NO_UNROLL
    for (int i = thread; i < EXTENT * steps; i += COUNT) {
      const int step = step_of(i % steps);
      tile[Tile::at(i / steps, step) + step % Tile::VEC] = In{};
    }
  } else {
    constexpr int CHUNKS = EXTENT / Tile::VEC;  // chunks per k-step
    RUNG_NO_UNROLL
    for (int i = thread; i < CHUNKS * steps; i += COUNT) {
      const int at = Tile::at(i % CHUNKS * Tile::VEC, step_of(i / CHUNKS));
      *reinterpret_cast<Vector<In, Tile::VEC>*>(tile + at) = {};
    }
  }
}

/// The k-steps of other groups in a tile's k-blocks: `lead` steps at the start of the first
/// k-block; is_cut if nonzero steps follow the last one.
struct CutSteps {
  int lead;
  bool is_cut;
};

/// zero_steps() for tiles of A (BM rows) and B (BN columns), for the k-block that begins at step k0
/// of `steps`. Called by the COUNT threads after the first warpgroup; they synchronize at
/// `barrier`.
template <class ATile, int BM, class BTile, int BN, int COUNT, class In>
__device__ __forceinline__ void zero_rest(In* a, In* b, int k0, int steps, const CutSteps& cut,
                                          int barrier) {
  const int lead = k0 == 0 ? cut.lead : 0;
  const int end = steps - k0 < ATile::BK ? steps - k0 : ATile::BK;
  if (!cut.is_cut || (lead == 0 && end == ATile::BK)) return;
  const int thread = static_cast<int>(threadIdx.x) - 128;
  zero_steps<ATile, BM, COUNT>(a, lead, end, thread);
  zero_steps<BTile, BN, COUNT>(b, lead, end, thread);
  // sync: wgmma sees the zeros of all threads
  ptx::fence_proxy_async();
  ptx::bar_sync(barrier, COUNT);
}

/// Zeros whole tiles, so that parts outside the loaded boxes are defined. Called by COUNT threads.
/// After a barrier, TMA and wgmma see the zeros.
template <int COUNT, class In>
__device__ __forceinline__ void zero_tiles(In* tiles, int elements) {
  constexpr int W = vector_width<In>;
  RUNG_NO_UNROLL
  for (int i = static_cast<int>(threadIdx.x) * W; i < elements; i += COUNT * W) {
    *reinterpret_cast<Vector<In, W>*>(tiles + i) = {};
  }
  ptx::fence_proxy_async();
}

}  // namespace rung::cuda
