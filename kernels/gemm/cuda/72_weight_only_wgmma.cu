// gemm/cuda/72_weight_only_wgmma: weights of 4 or 8 bits for many rows: consumers make 16-bit
//   fragments of them in registers, where wgmma reads its first factor; TMA loads rows of A.
// from: 71_weight_only | removes: mma.sync, which has less than two thirds of wgmma's rate |
//   bottleneck: registers of two sums for each result limit the tile to 128 x 128; it spills some
// needs: sm_90a | try: rung verify gemm/cuda/72

#include "device/cuda/entry/weight_only.cuh"
#include "device/cuda/epilogue/weight_only_results.cuh"
#include "device/cuda/load/pipeline_state.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/ptx/warp.cuh"
#include "device/cuda/ptx/wgmma_from_registers.cuh"
#include "device/cuda/tile/block_work.cuh"
#include "device/cuda/tile/swizzled_tile.cuh"
#include "device/cuda/tile/weight_record.cuh"

namespace rung {
namespace {

/// A block takes COLS rows of A and ROWS of the weights. Two warpgroups multiply; a warp loads.
template <int COLS, int BITS, int STAGES>
struct WeightOnlyWgmma {
  static constexpr int ROWS = 128;
  static constexpr int BK = WeightLayout::steps;
  static constexpr int TILES = ROWS / WeightLayout::rows;  // one for each warp that multiplies
  static constexpr int CONSUMERS = TILES * 32;
  static constexpr int THREADS = CONSUMERS + 128;
  static constexpr int MIN_BLOCKS_PER_SM = COLS == 16 ? 2 : 1;
  static constexpr int MULTIPLYING = COLS == 16 ? 104 : 232;  // registers of a thread
  static constexpr int AT_LAST = COLS == 16 ? 80 : 168;
  static constexpr int FRAGMENTS = BK / 16;
  static constexpr int RECORD = cuda::most_record_bytes<BITS>;
  using Form = cuda::RecordForm<BITS>;
  using Results = cuda::WeightOnlyResults<COLS, ROWS>;
  using Tile = cuda::SwizzledTile<COLS, true>;  // 64 steps

  template <class In>
  struct Shared {
    union {
      alignas(1024) In xs[STAGES][2][Tile::SIZE];
      Results results;
    };
    alignas(16) unsigned char records[STAGES][TILES][RECORD];
    std::uint64_t full[STAGES];   // barriers: the rows and records are there
    std::uint64_t empty[STAGES];  // nobody reads them any more
  };

  template <class In>
  static __device__ __forceinline__ void kernel(const cuda::WeightOnlyArgs<In>& args,
                                                const cuda::TensorMaps& maps) {
    auto& shared = cuda::dynamic_shared<Shared<In>>();
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < STAGES; ++stage) {
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.full[stage]), 1);
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.empty[stage]), TILES);
      }
      ptx::fence_mbarrier_init();
    }
    // sync: the barriers are initialised, for TMA too
    ptx::barrier_cluster_arrive_wait();

    // sync: the previous kernels have finished, and their writes are visible
    ptx::griddepcontrol_wait();

    // place: blocks that run at a time share rows of the weights
    const Gemm<In, float>& g = args.gemm.problem;
    const cuda::BlockWork work = cuda::block_work(args.gemm.split_k);
    const auto col_blocks = static_cast<unsigned>(cuda::ceil_div(g.m, COLS));
    const std::int64_t few0 = std::int64_t{work.tile % col_blocks} * COLS;
    const std::int64_t many0 = std::int64_t{work.tile / col_blocks} * ROWS;
    const cuda::KRange range = cuda::part_of_k<BK>(g.k, work.parts, work.part);

    float acc[COLS / 8][4] = {};
    if (threadIdx.x < CONSUMERS) {
      ptx::setmaxnreg_inc<MULTIPLYING>();
      multiply(args, range, shared, acc);
      ptx::setmaxnreg_dec<AT_LAST>();
    } else {
      ptx::setmaxnreg_dec<32>();
      if (threadIdx.x == CONSUMERS) load(args, maps, few0, many0, range, shared);
    }

    // store
    // sync: all reads of the tiles are done, and registers are free. Before that, warps that load
    // nothing would take them back from those that multiply, which would wait for them for ever.
    __syncthreads();
    if (threadIdx.x < CONSUMERS) {
      shared.results.stage(static_cast<int>(threadIdx.x) / 32 * WeightLayout::rows, acc);
    } else {
      ptx::setmaxnreg_inc<AT_LAST>();
    }
    // sync: the results are complete
    __syncthreads();
    shared.results.template store<THREADS>(args, work, few0, many0);
  }

  /// One thread: loads each stage as soon as it is empty.
  template <class In>
  static __device__ __forceinline__ void load(const cuda::WeightOnlyArgs<In>& args,
                                              const cuda::TensorMaps& maps, std::int64_t few0,
                                              std::int64_t many0, const cuda::KRange& range,
                                              Shared<In>& shared) {
    const int bytes = args.layout.record_bytes();
    const unsigned char* records[TILES];
    RUNG_UNROLL
    for (int tile = 0; tile < TILES; ++tile) {
      records[tile] = cuda::record_of(args.weights, args.layout, many0 / WeightLayout::rows + tile,
                                      range.begin);
    }
    cuda::PipelineState<STAGES> state;
    for (std::int64_t k0 = range.begin; k0 < range.end; k0 += BK) {
      // sync: a stage that is empty, as all are in the first round
      ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.empty[state.stage]), state.parity ^ 1);

      // load
      const std::uint32_t full = ptx::cvta_to_shared(&shared.full[state.stage]);
      auto& xs = shared.xs[state.stage];
      ptx::mbarrier_arrive_expect_tx(full, static_cast<int>(sizeof xs) + TILES * bytes);
      for (int half = 0; half < 2; ++half) {
        cuda::load_tile<COLS>(ptx::cvta_to_shared(xs[half]), maps.a, true, static_cast<int>(few0),
                              static_cast<int>(k0) + half * Tile::BK, full);
      }
      RUNG_UNROLL
      for (int tile = 0; tile < TILES; ++tile) {
        ptx::cp_async_bulk(ptx::cvta_to_shared(shared.records[state.stage][tile]), records[tile],
                           bytes, full);
        records[tile] += bytes;
      }
      state.advance();
    }
  }

  /// A warp: 16 rows of the weights.
  template <class In>
  static __device__ __forceinline__ void multiply(const cuda::WeightOnlyArgs<In>& args,
                                                  const cuda::KRange& range, Shared<In>& shared,
                                                  float (&acc)[COLS / 8][4]) {
    // From lane 0: so the compiler knows that a warp does not diverge.
    const int tile = static_cast<int>(ptx::shfl_idx(threadIdx.x / 32, 0));
    const Form form(args.layout);
    cuda::PipelineState<STAGES> state;
    for (std::int64_t k0 = range.begin; k0 < range.end; k0 += BK) {
      // sync: the rows and records are there
      ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.full[state.stage]), state.parity);
      multiply_stage<In>(form, shared.records[state.stage][tile], shared.xs[state.stage], acc);
      if (threadIdx.x % 32 == 0) {
        ptx::mbarrier_arrive(ptx::cvta_to_shared(&shared.empty[state.stage]));
      }
      state.advance();
    }
  }

  /// acc += 128 steps, each group of them times its scales.
  template <class In>
  static __device__ __forceinline__ void multiply_stage(const Form& form,
                                                        const unsigned char* record,
                                                        const In (&xs)[2][Tile::SIZE],
                                                        float (&acc)[COLS / 8][4]) {
    std::uint32_t fragments[FRAGMENTS][4];
    cuda::unpack_record<In>(fragments, record, form);
    ptx::pin_fragments(fragments);
    float sums[COLS / 8][4];
    ptx::set_undefined(sums);
    RUNG_UNROLL
    for (int half = 0; half < 2; ++half) {
      const bool begins = half == 0 || form.has_two_groups;
      if (begins) ptx::wgmma_fence(sums);
      RUNG_UNROLL
      for (int i = 0; i < FRAGMENTS / 2; ++i) {
        ptx::wgmma_m64k16<In>(sums, fragments[half * FRAGMENTS / 2 + i],
                              Tile::descriptor(ptx::cvta_to_shared(xs[half]), 0, i * 16),
                              !begins || i > 0);
      }
      if (half == 0 && !form.has_two_groups) continue;
      ptx::wgmma_commit_group();
      ptx::wgmma_wait_group<0>(sums);
      cuda::promote(record, form, form.group_of(half * Tile::BK), sums, acc);
    }
    ptx::pin_fragments(fragments);
  }

  static constexpr cuda::TileShape shape() {
    return {COLS, ROWS, BK, THREADS, sizeof(Shared<bfloat16>)};
  }
};

//                            COLS BITS STAGES
using Narrow4 = WeightOnlyWgmma<16, 4, 7>;
using Middle4 = WeightOnlyWgmma<64, 4, 6>;
using Wide4 = WeightOnlyWgmma<128, 4, 4>;
using Narrow8 = WeightOnlyWgmma<16, 8, 5>;
using Middle8 = WeightOnlyWgmma<64, 8, 6>;
using Wide8 = WeightOnlyWgmma<128, 8, 4>;

}  // namespace

// compiled by type: bf16 f16
RUNG_WEIGHT_ONLY_TILES(72, weight_only_wgmma, (0, Narrow4), (1, Middle4), (2, Wide4), (3, Narrow8),
                       (4, Middle8), (5, Wide8))

}  // namespace rung
