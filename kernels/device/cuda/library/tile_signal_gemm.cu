// Products of 16-bit floats in row parts with signals, for products over several GPUs: a part's
// operand may arrive, and its results may be sent, while the kernel runs. Blocks process tiles part
// by part. The producer thread waits for the word that signals a part's data, and the last
// warpgroup that stores results of a part sets the word that signals its completion. Based on rung
// 31, without clusters and split-K. Registered like a rung, but not on the ladder.
// needs: sm_90a

#include "device/cuda/library/tile_signal_gemm.hpp"

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/staged_c.cuh"
#include "device/cuda/load/stage_barriers.cuh"
#include "device/cuda/load/tma_load.cuh"
#include "device/cuda/ptx/sm_90.cuh"
#include "device/cuda/ptx/system.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/swizzled_tile.cuh"
#include "device/cuda/tile/tile_coord.cuh"
#include "device/cuda/tile/warpgroup.cuh"
#include "device/cuda/tile/wgmma_stages.cuh"

namespace rung {
namespace {

struct TileSignalTile {
  static constexpr int BM = 128, BN = 256, BK = 64;
  static constexpr int STAGES = 4;
  static constexpr unsigned GROUP = 8;       // tile rows per group of the rasterization
  static constexpr int CONSUMERS = BM / 64;  // warpgroups
  static constexpr int THREADS = (1 + CONSUMERS) * 128;
  static constexpr int J = BN / 8;  // quads of sums per thread

  /// A tile; the producer passes it to the consumers.
  struct PartTile {
    int part;  // index of the part; none: no more tiles
    unsigned tiles_of_part;
    int row, col;  // first element, relative to the part

    static constexpr int none = -1;
  };

  template <class In>
  struct Shared : cuda::StageBarriers<STAGES, 1> {
    alignas(1024) In As[STAGES][BM * BK];
    alignas(1024) In Bs[STAGES][BN * BK];
    cuda::TmaStoreEpilogue<BN, In> Cs[CONSUMERS];
    PartTile tiles[STAGES];  // the tile that begins with the stage
  };

#ifndef RUNG_HOST
  template <class In>
  static __device__ __forceinline__ void kernel(const cuda::TileSignalArgs<In>& args) {
    auto& shared = cuda::dynamic_shared<Shared<In>>();
    if (threadIdx.x == 0) shared.init(CONSUMERS * 4);
    // sync: the mbarriers are initialized
    __syncthreads();
    // sync: the previous kernels have finished, and their writes are visible
    ptx::griddepcontrol_wait();

    if (threadIdx.x < 128) {
      ptx::setmaxnreg_dec<40>();
      if (threadIdx.x < 32 && ptx::elect_one()) produce(args, shared);
    } else {
      ptx::setmaxnreg_inc<232>();
      consume(args, shared);
    }
  }

  /// Finds the part of a tile. Tiles are numbered part by part; a block's numbers ascend.
  template <class In>
  struct Cursor {
    const cuda::TileSignalArgs<In>& args;
    unsigned begin = 0;  // first tile of the part
    int part = 0;

    __device__ __forceinline__ PartTile find(unsigned tile) {
      while (part < args.count && tile >= end()) begin = end(), ++part;
      if (part == args.count) return {PartTile::none, 0, 0, 0};
      const unsigned tiles = end() - begin;
      Gemm<In, In> rows = args.problem;
      rows.m = std::int64_t{tiles} / ceil_div(rows.n, BN) * BM;
      const cuda::TileCoord first = cuda::grouped_tile<BM, BN>(rows, tile - begin, GROUP);
      return {part, tiles, static_cast<int>(first.row), static_cast<int>(first.col)};
    }
    __device__ __forceinline__ unsigned end() const {
      return static_cast<unsigned>(args.parts[part].tiles_end);
    }
  };

  /// One thread: loads each stage as soon as it is empty.
  template <class In>
  static __device__ __forceinline__ void produce(const cuda::TileSignalArgs<In>& args,
                                                 Shared<In>& shared) {
    const bool a_k_major = cuda::operand_a(args.problem).is_k_major();
    const bool b_k_major = cuda::operand_b(args.problem).is_k_major();
    cuda::PipelineState<STAGES> state;
    int awaited = -1;  // the last part that was awaited
    const auto wait_for = [&](int number) RUNG_INLINE_LAMBDA {
      const unsigned* const word = args.parts[number].awaited;
      if (word == nullptr || number == awaited) return;
      awaited = number;
      // sync: data sent by another GPU has arrived and is visible to the async proxy
      while (ptx::ld_acquire_sys(word) == 0) continue;
      ptx::fence_proxy_async_global();
    };
    // Blocks take the next tile when they are ready (dynamic scheduling), and none waits for a
    // block that has not started: running blocks compute the tiles that another GPU awaits.
    Cursor<In> cursor{args};
    unsigned number = ptx::atom_add_relaxed_gpu(args.next_tile, 1);
    while (true) {
      const PartTile tile = cursor.find(number);
      // sync: the stage is empty; the consumers read the tile together with its data
      const std::uint32_t first = shared.wait_until_empty(state);
      shared.tiles[state.stage] = tile;
      if (tile.part == PartTile::none) {
        ptx::mbarrier_arrive(first);
        break;
      }
      const unsigned following = ptx::atom_add_relaxed_gpu(args.next_tile, 1);
      const cuda::PartOfRows& part = args.parts[tile.part];
      const cuda::EncodedTensorMap& map_of_a = part.a_is_other ? args.other_a : args.maps.a;
      const int row = part.a_row + tile.row;
      if (!part.has_addend) wait_for(tile.part);
      for (std::int64_t k0 = 0; k0 < args.problem.k; k0 += BK) {
        // load: the tiles of A and B
        const std::uint32_t full = shared.expect(state, sizeof shared.As[0] + sizeof shared.Bs[0]);
        const int k = static_cast<int>(k0);
        cuda::load_tile<BM>(ptx::cvta_to_shared(shared.As[state.stage]), map_of_a, a_k_major, row,
                            k, full);
        cuda::load_tile<BN>(ptx::cvta_to_shared(shared.Bs[state.stage]), args.maps.b, b_k_major,
                            tile.col, k, full);
        state.advance();
      }

      // load: the addend, in place of A
      if (part.has_addend) {
        wait_for(tile.part);
        for (int c = 0; c < BN; c += cuda::staged_columns<In>) {
          const std::uint32_t full = shared.expect(state, sizeof shared.As[0]);
          cuda::load_staged_c<BM>(ptx::cvta_to_shared(shared.As[state.stage]), args.addend,
                                  part.addend_row + tile.row, tile.col + c, full);
          state.advance();
        }
      }
      number = following;
    }
    // Each block has taken one surplus number. The block with the last number resets the counter
    // for the next launch. It uses an atomic, because no fence orders a plain write after the
    // atomics of other blocks.
    if (number + 1 == cursor.begin + gridDim.x) {
      ptx::atom_add_relaxed_gpu(args.next_tile, 0u - (number + 1));
    }
  }

  /// One warpgroup: 64 rows of each tile.
  template <class In>
  static __device__ __forceinline__ void consume(const cuda::TileSignalArgs<In>& args,
                                                 Shared<In>& shared) {
    const int group = cuda::warpgroup() - 1;
    cuda::PipelineState<STAGES> state;
    while (true) {
      float acc[J][4] = {};
      // sync: the producer has provided the next tile
      shared.wait_until_full(state);
      const PartTile tile = shared.tiles[state.stage];
      if (tile.part == PartTile::none) break;
      const cuda::PartOfRows& part = args.parts[tile.part];
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
        const bool is_last =
            is_last_to_store(args.stored + tile.part, tile.tiles_of_part * CONSUMERS, 1 + group);
        if (is_last) ptx::st_release_sys(part.finished, args.finished_value);
      }
    }
    shared.Cs[group].wait();
  }

  /// Adds the staged addend to the sums of 64 rows, from row group_row of the tile.
  template <class In>
  static __device__ __forceinline__ void add_staged(const Gemm<In, In>& g, int group_row,
                                                    Shared<In>& shared,
                                                    cuda::PipelineState<STAGES>& state,
                                                    float (&acc)[J][4]) {
    RUNG_UNROLL
    for (int c = 0; c < BN; c += cuda::staged_columns<In>) {
      // sync: the boxes have arrived
      shared.wait_until_full(state);
      cuda::add_staged_c(g, shared.As[state.stage] + group_row * BK, c / 8, acc);
      shared.release(state.stage);
      state.advance();
    }
  }

  /// Records that this warpgroup has stored its rows of a tile. Returns true in one thread of the
  /// part's last warpgroup, which may then signal copy engines and other GPUs.
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

  /// The caller sets the grid and the maps of C and the addend for the parts.
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

extern const cuda::GemmRung gemm_cuda_library_tile_signal_gemm = [] {
  using enum Dtype;
  cuda::GemmRung rung = cuda::tiled_gemm_rung(
      "gemm_cuda_library_tile_signal_gemm", cuda::TileRow<0, TileSignalTile, bf16_bf16, f16_f16>{});
  rung.maps = true;
  return rung;
}();

#else

#define RUNG_TILE_SIGNAL_ENTRY(entry, In)                                              \
  extern "C" __global__ void __launch_bounds__(TileSignalTile::THREADS, 1)             \
      entry(cuda::TileSignalArgs<In>) {                                                \
    const cuda::TensorMaps* maps = nullptr;                                            \
    RUNG_TENSOR_MAPS_OF(entry, maps);                                                  \
    const char* const begin = reinterpret_cast<const char*>(maps) - cuda::maps_offset; \
    TileSignalTile::kernel(*reinterpret_cast<const cuda::TileSignalArgs<In>*>(begin)); \
  }
#define RUNG_TILE_SIGNAL_ENTRIES(a, b, c, dtype)                                                \
  RUNG_ENTRIES_OF(dtype, RUNG_TILE_SIGNAL_ENTRY(gemm_cuda_library_tile_signal_gemm_##dtype##_0, \
                                                ElementsOf<Dtype::dtype>::In))
RUNG_FOR_EACH(RUNG_TILE_SIGNAL_ENTRIES, , , , bf16_bf16, f16_f16)

#endif

}  // namespace rung
