#pragma once
// The producer of a persistent kernel: one thread brings the stages of all tiles of its block by
// TMA, each as soon as its consumers have released it.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/entry/launch.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/load/pipeline_state.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/tile_coord.cuh"
#include "device/cuda/tile/tile_scheduler.cuh"

namespace rung::cuda {

/// Loads BM x 128 bytes of A and BN x 128 bytes of B into each stage of `shared`, with mbarriers
/// `full` and `empty`. The blocks of a cluster, whose tiles are below each other, share B: each
/// loads a part of it for all. `group_rows`: that of grouped_tile().
template <int BM, int BN, int STAGES, int CLUSTER, class In, class Out, class Scheduler,
          class Shared>
__device__ __forceinline__ void load_stages(const Gemm<In, Out>& g, const TensorMaps& maps,
                                            const Scheduler& scheduler, unsigned group_rows,
                                            Shared& shared) {
  constexpr int BK = 128 / sizeof(In);
  constexpr int PART = BN / CLUSTER;
  const bool a_k_major = operand_a(g).is_k_major();
  const bool b_k_major = operand_b(g).is_k_major();
  const int my_part = static_cast<int>(ptx::cluster_ctarank()) * PART;
  PipelineState<STAGES> state;
  scheduler.for_each(
      g, group_rows, [&](const WorkTile& work, const TileCoord& tile) RUNG_INLINE_LAMBDA {
        const int row = static_cast<int>(tile.row);
        const int col = static_cast<int>(tile.col);
        for (std::int64_t k0 = work.k_begin; k0 < work.k_end; k0 += BK) {
          // sync: a stage that is empty in all blocks, as all are in the first round
          ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.empty[state.stage]),
                                    state.parity ^ 1);

          // load: this block's rows of A, and its part of B for all; the others' count here too
          const std::uint32_t full = ptx::cvta_to_shared(&shared.full[state.stage]);
          const int k = static_cast<int>(k0);
          ptx::mbarrier_arrive_expect_tx(full, sizeof shared.As[0] + sizeof shared.Bs[0]);
          load_tile<BM>(ptx::cvta_to_shared(shared.As[state.stage]), maps.a, a_k_major, row, k,
                        full);
          const std::uint32_t b = ptx::cvta_to_shared(&shared.Bs[state.stage][my_part * BK]);
          if constexpr (CLUSTER == 1) {
            load_tile<BN>(b, maps.b, b_k_major, col, k, full);
          } else {
            load_tile_multicast<PART>((1 << CLUSTER) - 1, b, maps.b, b_k_major, col + my_part, k,
                                      full);
          }
          state.advance();
        }
      });
}

}  // namespace rung::cuda
