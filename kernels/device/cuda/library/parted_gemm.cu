// Products of 16-bit floats in parts of rows, for products over several GPUs: a part's operand may
// arrive, and its results may be sent, while the kernel runs. The tile scheduler takes part by part;
// the thread that loads tiles waits for the word that says that a part's data is there, and the last
// warpgroup that stores results of a part sets the word that says so. Rung 31 without clusters and
// split-K, offered like a rung, but not on the ladder.
// needs: sm_90a

#include "device/cuda/library/parted_gemm.hpp"

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/staged_c.cuh"
#include "device/cuda/load/stage_barriers.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/ptx/system.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/swizzled_tile.cuh"
#include "device/cuda/tile/tile_coord.cuh"
#include "device/cuda/tile/wgmma_stages.cuh"

namespace rung {
namespace {

struct PartedTile {
  static constexpr int BM = 128, BN = 256, BK = 64;
  static constexpr int STAGES = 4;
  static constexpr unsigned GROUP = 8;       // rows of tiles that go together
  static constexpr int CONSUMERS = BM / 64;  // warpgroups
  static constexpr int THREADS = (1 + CONSUMERS) * 128;
  static constexpr int J = BN / 8;  // sums of a thread, by four

  template <class In>
  struct Shared : cuda::StageBarriers<STAGES, 1> {
    alignas(1024) In As[STAGES][BM * BK];
    alignas(1024) In Bs[STAGES][BN * BK];
    cuda::TmaStoreEpilogue<BN, In> Cs[CONSUMERS];
  };

#ifndef RUNG_HOST
  template <class In>
  static __device__ __forceinline__ void kernel(const cuda::PartedArgs<In>& args) {
    auto& shared = cuda::dynamic_shared<Shared<In>>();
    if (threadIdx.x == 0) shared.init(CONSUMERS * 4);
    // sync: the mbarriers are initialised
    __syncthreads();
    // sync: the previous kernels have finished, and their writes are visible
    ptx::griddepcontrol_wait();

    if (threadIdx.x < 128) {
      ptx::setmaxnreg_dec<40>();
      if (threadIdx.x == 0) produce(args, shared);
    } else {
      ptx::setmaxnreg_inc<232>();
      consume(args, shared);
    }
  }

  /// Calls f(number of the part, its tiles, the tile's first element within the part) for each tile of
  /// this block. Tiles are numbered part by part.
  template <class In, class F>
  static __device__ __forceinline__ void for_each_tile(const cuda::PartedArgs<In>& args,
                                                       const F& f) {
    const auto tiles_in_row = static_cast<unsigned>(ceil_div(args.problem.n, BN));
    unsigned begin = 0;  // of the part
    int part = 0;
    for (unsigned tile = blockIdx.x;; tile += gridDim.x) {
      while (part < args.count && tile >= static_cast<unsigned>(args.parts[part].tiles_end)) {
        begin = static_cast<unsigned>(args.parts[part++].tiles_end);
      }
      if (part == args.count) return;
      const unsigned tiles = static_cast<unsigned>(args.parts[part].tiles_end) - begin;
      Gemm<In, In> rows = args.problem;
      rows.m = std::int64_t{tiles / tiles_in_row} * BM;
      f(part, tiles, cuda::grouped_tile<BM, BN>(rows, tile - begin, GROUP));
    }
  }

  /// One thread: loads each stage as soon as it is empty.
  template <class In>
  static __device__ __forceinline__ void produce(const cuda::PartedArgs<In>& args,
                                                 Shared<In>& shared) {
    const bool a_k_major = cuda::operand_a(args.problem).is_k_major();
    const bool b_k_major = cuda::operand_b(args.problem).is_k_major();
    cuda::PipelineState<STAGES> state;
    int awaited = -1;  // the last part that was
    const auto wait_for = [&](int number) RUNG_INLINE_LAMBDA {
      const unsigned* const word = args.parts[number].awaited;
      if (word == nullptr || number == awaited) return;
      awaited = number;
      // sync: what another GPU sent is there, for TMA too
      while (ptx::ld_acquire_sys(word) == 0) continue;
      ptx::fence_proxy_async_global();
    };
    for_each_tile(args, [&](int number, unsigned, const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
      const cuda::PartOfRows& part = args.parts[number];
      const cuda::EncodedTensorMap& map_of_a = part.a_is_other ? args.other_a : args.maps.a;
      const int row = part.a_row + static_cast<int>(tile.row);
      const int col = static_cast<int>(tile.col);
      if (!part.has_addend) wait_for(number);
      for (std::int64_t k0 = 0; k0 < args.problem.k; k0 += BK) {
        // load: the tiles of A and B
        const std::uint32_t full = shared.expect(state, sizeof shared.As[0] + sizeof shared.Bs[0]);
        const int k = static_cast<int>(k0);
        cuda::load_tile<BM>(ptx::cvta_to_shared(shared.As[state.stage]), map_of_a, a_k_major, row,
                            k, full);
        cuda::load_tile<BN>(ptx::cvta_to_shared(shared.Bs[state.stage]), args.maps.b, b_k_major,
                            col, k, full);
        state.advance();
      }

      // load: the addend, in place of A
      if (!part.has_addend) return;
      wait_for(number);
      for (int c = 0; c < BN; c += cuda::staged_columns<In>) {
        const std::uint32_t full = shared.expect(state, sizeof shared.As[0]);
        cuda::load_staged_c<BM>(ptx::cvta_to_shared(shared.As[state.stage]), args.addend,
                                part.addend_row + static_cast<int>(tile.row), col + c, full);
        state.advance();
      }
    });
  }

  /// One warpgroup: 64 rows of each tile.
  template <class In>
  static __device__ __forceinline__ void consume(const cuda::PartedArgs<In>& args,
                                                 Shared<In>& shared) {
    const int group = static_cast<int>(threadIdx.x) / 128 - 1;
    cuda::PipelineState<STAGES> state;
    for_each_tile(args, [&](int number, unsigned tiles,
                            const cuda::TileCoord& tile) RUNG_INLINE_LAMBDA {
      const cuda::PartOfRows& part = args.parts[number];
      float acc[J][4] = {};
      cuda::with_layouts(args.problem, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
        using ATile = cuda::SwizzledTile<BM, A_K_MAJOR>;
        using BTile = cuda::SwizzledTile<BN, B_K_MAJOR>;
        cuda::multiply_stages<ATile, BTile, BN, In>(
            (args.problem.k + BK - 1) / BK * BK, group * 64, shared, state,
            [&](int stage) RUNG_INLINE_LAMBDA { shared.release(stage); },
            []() RUNG_INLINE_LAMBDA {}, acc);
      });

      // store
      Gemm<In, In> g = args.problem;
      if (part.has_addend) {
        g.beta = 1;
        add_staged(g, group * 64, shared, state, acc);
        g.alpha = 1;
      }
      g.beta = 0;
      if (part.c_is_other) g.c = args.matrix_of_other_c;
      shared.Cs[group].store_before(g, part.c_is_other ? args.other_c : args.maps.c,
                                    part.c_row + tile.row + group * 64, part.c_end, tile.col, acc,
                                    1 + group);
      if (part.finished != nullptr) {
        const bool is_last = is_last_to_store(args.stored + number, tiles * CONSUMERS, 1 + group);
        if (is_last) ptx::st_release_sys(part.finished, args.finished_value);
      }
    });
    shared.Cs[group].wait();
  }

  /// Makes results of the sums of 64 rows, from group_row of the tile on.
  template <class In>
  static __device__ __forceinline__ void add_staged(const Gemm<In, In>& g, int group_row,
                                                    Shared<In>& shared,
                                                    cuda::PipelineState<STAGES>& state,
                                                    float (&acc)[J][4]) {
    RUNG_UNROLL
    for (int c = 0; c < BN; c += cuda::staged_columns<In>) {
      // sync: the boxes are there
      shared.wait_until_full(state);
      cuda::add_staged_c(g, shared.As[state.stage] + group_row * BK, c / 8, acc);
      shared.release(state.stage);
      state.advance();
    }
  }

  /// This warpgroup has stored its rows of a tile. True in one thread, after the last warpgroup of the part:
  /// it may say so to copy engines and other GPUs.
  static __device__ __forceinline__ bool is_last_to_store(unsigned* stored, unsigned all,
                                                          int barrier) {
    // sync: all threads have stored
    ptx::bar_sync(barrier, 128);
    if (threadIdx.x % 128 != 0) return false;
    ptx::tma_store_wait_group<0>();
    if (ptx::atom_add_acq_rel_gpu(stored, 1) + 1 < all) return false;
    *stored = 0;
    return true;
  }
#endif

  template <class In, class Out>
  static constexpr cuda::TileShape shape() {
    return {BM, BN, BK, THREADS, sizeof(Shared<In>)};
  }

  /// The grid and the maps of C and of the addend are those of the parts.
  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g, const cuda::GemmConfig&) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared<In>),
            .persistent = true,
            .starts_early = true,
            .a = cuda::tensor_map_of_a(g, BM),
            .b = cuda::tensor_map_of_b(g, BN),
            .c = cuda::tensor_map_of_c(g, 64)};
  }
};

}  // namespace

// compiled by type: bf16_bf16 f16_f16
#ifdef RUNG_HOST

extern const cuda::GemmRung gemm_cuda_library_parted_gemm = [] {
  using enum Dtype;
  cuda::GemmRung rung = cuda::tiled_gemm_rung("gemm_cuda_library_parted_gemm",
                                              cuda::TileRow<0, PartedTile, bf16_bf16, f16_f16>{});
  rung.maps = true;
  return rung;
}();

#else

#define RUNG_PARTED_ENTRY(entry, In)                                                   \
  extern "C" __global__ void __launch_bounds__(PartedTile::THREADS, 1)                 \
      entry(cuda::PartedArgs<In>) {                                                    \
    const cuda::TensorMaps* maps = nullptr;                                            \
    RUNG_TENSOR_MAPS_OF(entry, maps);                                                  \
    const char* const begin = reinterpret_cast<const char*>(maps) - cuda::maps_offset; \
    PartedTile::kernel(*reinterpret_cast<const cuda::PartedArgs<In>*>(begin));         \
  }
#define RUNG_PARTED_ENTRIES(a, b, c, dtype)                                           \
  RUNG_ENTRIES_OF(dtype, RUNG_PARTED_ENTRY(gemm_cuda_library_parted_gemm_##dtype##_0, \
                                           ElementsOf<Dtype::dtype>::In))
RUNG_FOR_EACH(RUNG_PARTED_ENTRIES, , , , bf16_bf16, f16_f16)

#endif

}  // namespace rung
