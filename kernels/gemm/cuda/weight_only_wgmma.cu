// gemm/cuda/weight_only_wgmma: 4- or 8-bit weights for many rows: consumers unpack them to 16-bit
//   fragments in registers, wgmma's first operand, while it multiplies the previous ones; sums stay
//   in units of their group's scale.
// from: weight_only | removes: mma.sync, which has less than two thirds of wgmma's rate |
//   bottleneck: the instructions that unpack and scale weights, which the two warps of each
//   scheduler issue
// needs: sm_90a | try: rung verify gemm/cuda/weight_only_wgmma

#include "device/cuda/entry/weight_only.cuh"
#include "device/cuda/epilogue/weight_only_results.cuh"
#include "device/cuda/load/pipeline_state.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/warp.cuh"
#include "device/cuda/ptx/wgmma_from_registers.cuh"
#include "device/cuda/tile/block_work.cuh"
#include "device/cuda/tile/descriptor_steps.cuh"
#include "device/cuda/tile/group_sums.cuh"
#include "device/cuda/tile/swizzled_tile.cuh"

namespace rung {
namespace {

/// A block multiplies COLS rows of A by ROWS of the weights. Two warpgroups multiply, one loads.
template <int COLS, int BITS, int STAGES>
struct WeightOnlyWgmma {
  static constexpr int ROWS = 128;
  static constexpr int BK = WeightLayout::steps;
  static constexpr int TILES = ROWS / WeightLayout::rows;  // one for each consumer warp
  static constexpr int CONSUMERS = TILES * 32;
  static constexpr int LOADERS = 4;             // warps
  static constexpr int EACH = TILES / LOADERS;  // records of a loader
  static constexpr int THREADS = CONSUMERS + LOADERS * 32;
  static constexpr int MIN_BLOCKS_PER_SM = COLS == 16 ? 2 : 1;
  static constexpr int MULTIPLYING = COLS == 16 ? 104 : 232;  // registers per thread
  static constexpr int AT_LAST = COLS == 16 ? 80 : 168;
  static constexpr int FRAGMENTS = BK / 2 / 16;  // of half a record
  static constexpr int RECORD = cuda::max_record_bytes<BITS>;
  using Form = cuda::RecordForm<BITS>;
  using Fragments = std::uint32_t[FRAGMENTS][4];
  static constexpr int CHUNKS = BK / 2 / cuda::chunk_steps<BITS>;  // of half a record
  using Words = cuda::Vector<std::uint32_t, 4>[CHUNKS];
  using Results = cuda::WeightOnlyResults<COLS, ROWS>;
  using Tile = cuda::SwizzledTile<COLS, true>;  // 64 steps
  template <class In>
  using Sums = cuda::GroupSums<In, BITS, COLS / 8>;

  template <class In>
  struct Shared {
    union {
      alignas(1024) In xs[STAGES][2][Tile::SIZE];
      Results results;
    };
    alignas(16) unsigned char records[STAGES][TILES][RECORD];
    // Mbarriers: the rows and records have arrived; all reads of half of them are done.
    std::uint64_t full[STAGES], empty[STAGES][2];
  };

  template <class In>
  static __device__ __forceinline__ void kernel(const cuda::WeightOnlyArgs<In>& args,
                                                const cuda::TensorMaps& maps) {
    auto& shared = cuda::dynamic_shared<Shared<In>>();
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < STAGES; ++stage) {
        ptx::mbarrier_init(ptx::cvta_to_shared(&shared.full[stage]), LOADERS);
        for (auto& half : shared.empty[stage]) {
          ptx::mbarrier_init(ptx::cvta_to_shared(&half), TILES);
        }
      }
      ptx::fence_mbarrier_init();
    }
    // sync: the barriers are initialised, for TMA too
    ptx::barrier_cluster_arrive_wait();

    // sync: the previous kernels have finished, and their writes are visible
    ptx::griddepcontrol_wait();

    // place: blocks that run at the same time share rows of the weights
    const Gemm<In, float>& g = args.gemm.problem;
    const cuda::BlockWork work = cuda::block_work(args.gemm.split_k);
    const auto col_blocks = static_cast<unsigned>(cuda::ceil_div(g.m, COLS));
    const std::int64_t few0 = std::int64_t{work.tile % col_blocks} * COLS;
    const std::int64_t many0 = std::int64_t{work.tile / col_blocks} * ROWS;
    const cuda::KRange range = cuda::part_of_k<BK>(g.k, work.parts, work.part);

    if (threadIdx.x < CONSUMERS) {
      ptx::setmaxnreg_inc<MULTIPLYING>();
      float sums[COLS / 8][4] = {};
      multiply(args, range, shared, sums);
      // sync: all reads of the tiles are done
      __syncthreads();
      shared.results.stage(static_cast<int>(threadIdx.x) / 32 * WeightLayout::rows, sums);
      ptx::setmaxnreg_dec<AT_LAST>();
    } else {
      ptx::setmaxnreg_dec<32>();
      if (threadIdx.x % 32 == 0) load(args, maps, few0, many0, range, shared);
      // sync: registers become free. Earlier, warps that load nothing would take them.
      __syncthreads();
      ptx::setmaxnreg_inc<AT_LAST>();
    }
    // sync: the results are complete
    __syncthreads();
    shared.results.template store<THREADS>(args, work, few0, many0);
  }

  /// One thread of each producer warp: loads each stage as soon as it is empty. Each loads a share
  /// of the records, because copies take instructions; the first one also loads the rows of A.
  template <class In>
  static __device__ __forceinline__ void load(const cuda::WeightOnlyArgs<In>& args,
                                              const cuda::TensorMaps& maps, std::int64_t few0,
                                              std::int64_t many0, const cuda::KRange& range,
                                              Shared<In>& shared) {
    const int bytes = args.layout.record_bytes();
    const int loader = static_cast<int>(threadIdx.x - CONSUMERS) / 32;
    const unsigned char* records[EACH];
    RUNG_UNROLL
    for (int e = 0; e < EACH; ++e) {
      const std::int64_t tile = many0 / WeightLayout::rows + loader * EACH + e;
      records[e] = cuda::record_of(args.weights, args.layout, tile, range.begin);
    }
    cuda::PipelineState<STAGES> state;
    for (std::int64_t k0 = range.begin; k0 < range.end; k0 += BK) {
      const std::uint32_t full = ptx::cvta_to_shared(&shared.full[state.stage]);
      auto& xs = shared.xs[state.stage];
      const int of_rows = loader == 0 ? static_cast<int>(sizeof xs) : 0;
      for (int half = 0; half < 2; ++half) {
        // sync: half a stage that is empty, as all are in the first round
        ptx::mbarrier_wait_parity(ptx::cvta_to_shared(&shared.empty[state.stage][half]),
                                  state.parity ^ 1);

        // load
        if (half == 0) ptx::mbarrier_arrive_expect_tx(full, EACH * bytes + of_rows);
        if (loader == 0) {
          cuda::load_tile<COLS>(ptx::cvta_to_shared(xs[half]), maps.a, true, static_cast<int>(few0),
                                static_cast<int>(k0) + half * Tile::BK, full);
        }
      }
      RUNG_UNROLL
      for (int e = 0; e < EACH; ++e) {
        ptx::cp_async_bulk(ptx::cvta_to_shared(shared.records[state.stage][loader * EACH + e]),
                           records[e], bytes, full);
        records[e] += bytes;
      }
      state.advance();
    }
  }

  /// A warp: multiplies 16 rows of the weights. While tensor cores multiply half a record, it
  /// unpacks the next half, whose words it has loaded before.
  template <class In>
  static __device__ __forceinline__ void multiply(const cuda::WeightOnlyArgs<In>& args,
                                                  const cuda::KRange& range, Shared<In>& shared,
                                                  float (&sums)[COLS / 8][4]) {
    if (range.end <= range.begin) return;
    const Form form(args.layout);
    // Broadcast from lane 0, so that the compiler knows that the warp does not diverge, and keeps
    // the addresses, which it would otherwise compute again each time.
    const int tile = static_cast<int>(ptx::shfl_idx(threadIdx.x / 32, 0));
    const std::uint32_t full = ptx::shfl_idx(ptx::cvta_to_shared(shared.full), 0);
    const std::uint32_t records = ptx::shfl_idx(ptx::cvta_to_shared(shared.records[0][tile]), 0);
    const cuda::DescriptorSteps xs(
        Tile::descriptor(ptx::shfl_idx(ptx::cvta_to_shared(shared.xs), 0), 0, 0));

    cuda::PipelineState<STAGES> state;
    Words words[2];
    Fragments first, second;
    // sync: the first rows and records have arrived
    ptx::mbarrier_wait_parity(full, 0);
    cuda::load_words(words, records);
    cuda::unpack_half<0, In>(first, words[0], shared.records[0][tile], form);
    Sums<In> groups(sums, {shared.records[0][tile], 0}, form);
    for (std::int64_t k0 = range.begin; k0 < range.end; k0 += BK) {
      const unsigned char* const record = shared.records[state.stage][tile];
      const auto half = static_cast<std::uint32_t>(state.stage) * 2;
      multiply_half<In>(first, xs, half, true, groups);
      cuda::unpack_half<1, In>(second, words[1], record, form);
      if (form.has_two_groups) {
        groups.take({record, 0}, {record, 1}, form);
        ptx::wgmma_wait_group<0>(groups.at_work());
        groups.end();
      }
      ptx::pin_fragments(second);
      multiply_half<In>(second, xs, half + 1, form.has_two_groups, groups);

      const auto stage = state.stage;
      state.advance();
      const bool goes_on = k0 + BK < range.end;
      if (goes_on) {
        // sync: the next rows and records have arrived
        ptx::mbarrier_wait_parity(full + state.stage * 8, state.parity);
        cuda::load_words(words, records + state.stage * static_cast<int>(sizeof shared.records[0]));
      }
      ptx::wgmma_wait_group<1>();
      ptx::pin_fragments(first);
      release(shared.empty[stage][0]);
      const unsigned char* const next = shared.records[state.stage][tile];
      if (goes_on) {
        cuda::unpack_half<0, In>(first, words[0], next, form);
        ptx::pin_fragments(first);
      }
      groups.take({record, form.group_of(BK / 2)}, {goes_on ? next : nullptr, 0}, form);
      ptx::wgmma_wait_group<0>(groups.at_work());
      ptx::pin_fragments(second);
      release(shared.empty[stage][1]);
      groups.end();
    }
  }

  /// Releases half a stage that the warp has read.
  static __device__ __forceinline__ void release(std::uint64_t& half) {
    if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(ptx::cvta_to_shared(&half));
  }

  /// Issues the wgmma of 64 steps of a half stage. `begins`: they are the first steps of a group.
  template <class In>
  static __device__ __forceinline__ void multiply_half(const Fragments& fragments,
                                                       const cuda::DescriptorSteps& xs,
                                                       std::uint32_t half, bool begins,
                                                       Sums<In>& groups) {
    auto& sums = groups.at_work();
    ptx::wgmma_fence(sums);
    RUNG_UNROLL
    for (int i = 0; i < FRAGMENTS; ++i) {
      ptx::wgmma_m64k16<In>(sums, fragments[i], xs.at(half * (Tile::SIZE * 2) + i * 32),
                            Sums<In>::adds_always || !begins || i > 0);
    }
    ptx::wgmma_commit_group();
  }

  static constexpr cuda::TileShape shape() {
    return {COLS, ROWS, BK, THREADS, sizeof(Shared<bfloat16>)};
  }
};

//                            COLS BITS STAGES
using Narrow4 = WeightOnlyWgmma<16, 4, 7>;
using Middle4 = WeightOnlyWgmma<64, 4, 6>;
using Wide4 = WeightOnlyWgmma<128, 4, 4>;
using Widest4 = WeightOnlyWgmma<256, 4, 3>;
using Narrow8 = WeightOnlyWgmma<16, 8, 5>;
using Middle8 = WeightOnlyWgmma<64, 8, 6>;
using Wide8 = WeightOnlyWgmma<128, 8, 4>;
using Widest8 = WeightOnlyWgmma<256, 8, 2>;

}  // namespace

// compiled by type: bf16 f16
RUNG_WEIGHT_ONLY_TILES(weight_only_wgmma, (0, Narrow4), (1, Middle4), (2, Wide4), (3, Widest4),
                       (4, Narrow8), (5, Middle8), (6, Wide8), (7, Widest8))

}  // namespace rung
