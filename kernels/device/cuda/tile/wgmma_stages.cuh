#pragma once
// A warpgroup's main loop over the k-blocks of a tile: waits for a stage loaded by TMA, multiplies
// it with wgmma, and releases the previous stage. Alternatively skips the stages of another
// warpgroup's tile.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/load/pipeline_state.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/ptx/wgmma.cuh"
#include "device/cuda/ptx/wgmma_widths.cuh"
#include "device/cuda/tile/swizzled_tile.cuh"

namespace rung::cuda {

/// Equivalent to `stages` calls of advance().
template <int STAGES>
__device__ __forceinline__ void skip_stages(PipelineState<STAGES>& state, std::int64_t stages) {
  const auto to = static_cast<unsigned>(state.stage + stages);
  state.stage = static_cast<int>(to % STAGES);
  state.parity ^= to / STAGES & 1;
}

/// acc += A's rows from `row` of the tile, 64 for each N columns of sums in acc, times the tile's N
/// columns of B. `shared` has stages As and Bs with mbarriers `full`. Calls release(stage) when
/// this warpgroup has read a stage, the last one only if MORE follow, and issued() when it has
/// issued its last wgmma.
template <class ATile, class BTile, int N, class In, bool MORE = true, class Shared, int STAGES,
          class Release, class Issued, int J, class Sum>
__device__ __forceinline__ void multiply_stages(std::int64_t steps, int row, Shared& shared,
                                                PipelineState<STAGES>& state,
                                                const Release& release, const Issued& issued,
                                                Sum (&acc)[J][4]) {
  constexpr int BK = ATile::BK;
  constexpr int PARTS = J * 8 / N;  // 64-row parts
  const StageDescriptors<ATile> a_of(shared.As, row);
  const StageDescriptors<BTile> b_of(shared.Bs, 0);
  int before = 0;
  for (std::int64_t k0 = 0; k0 < steps; k0 += BK) {
    // sync: the tiles have arrived
    ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.full[state.stage]), state.parity);

    // multiply
    if constexpr (is_promoted<In>) {
      static_assert(PARTS == 1);
      const std::uint32_t a = ptx::cvta_to_shared(shared.As[state.stage]);
      const std::uint32_t b = ptx::cvta_to_shared(shared.Bs[state.stage]);
      add_promoted<ATile, BTile, In>(a, b, row, acc);
      release(state.stage);
      state.advance();
      continue;
    }
    ptx::wgmma_fence(acc);
    RUNG_UNROLL
    for (int k = 0; k < BK; k += BK / 4) {
      RUNG_UNROLL
      for (int part = 0; part < PARTS; ++part) {
        ptx::wgmma_m64_of_width<In, !ATile::k_major, !BTile::k_major>(
            reinterpret_cast<Sum(&)[N / 8][4]>(acc[part * N / 8]),
            a_of.at(state.stage, k) + part * 64 * 128 / 16, b_of.at(state.stage, k));
      }
    }
    ptx::wgmma_commit_group();

    // sync: with one wgmma group in flight, all reads of the previous stage are done
    ptx::wgmma_wait_group<1>(acc);
    if (k0 > 0) release(before);
    before = state.stage;
    state.advance();
  }
  issued();
  if constexpr (is_promoted<In>) return;
  ptx::wgmma_wait_group<0>(acc);
  if (MORE && steps > 0) release(before);
}

}  // namespace rung::cuda
