// gemm/cuda/split_f16_mma: split_f16 with mma.sync: cp.async loads the next k-block of all four
//   tiles while tensor cores multiply the current one; sums are promoted to f32 every k-block.
// from: 22_stages | removes: the FMA pipe, which multiplies f32 at a sixteenth of the rate of
//   tensor cores | bottleneck: three products for one, and fragments that pass through registers
// needs: sm_80 | compute mode: split | try: rung trace gemm/cuda/split_f16_mma

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/scaled_sums.cuh"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/load/halves_copy.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/tile/padded_tile.cuh"
#include "device/cuda/tile/warps.cuh"

namespace rung {
namespace {

struct SplitByMma {
  static constexpr int BM = 128;
  static constexpr int BN = 128;
  static constexpr int BK = 32;
  static constexpr int WM = 64;
  static constexpr int WN = 32;
  static constexpr int FRAGS_M = WM / 16;  // one mma is m16n8k16
  static constexpr int FRAGS_N = WN / 8;
  static constexpr int STAGES = 2;  // a k-block takes 96 mma per warp, longer than its copies
  static constexpr int HALVES = 2;
  static constexpr unsigned GROUP = 8;  // tile rows per swizzle group
  using Warps = cuda::Warps<BM, BN, WM, WN>;
  static constexpr int THREADS = Warps::THREADS;
  static constexpr int MIN_BLOCKS_PER_SM = 1;
  using Fragments = float[FRAGS_M][FRAGS_N][4];

  struct Shared {
    alignas(16) float16 As[STAGES][HALVES][cuda::padded_size<BM, BK>];  // high, low
    alignas(16) float16 Bs[STAGES][HALVES][cuda::padded_size<BN, BK>];
  };

  template <class In, class Out>
  static __device__ __forceinline__ void kernel(const Gemm<In, Out>& g, const cuda::TensorMaps&,
                                                const cuda::SplitK&,
                                                const cuda::OperandScales& scales) {
    // place
    const cuda::TileCoord tile = cuda::grouped_tile<BM, BN>(g, blockIdx.x, GROUP);
    const std::int64_t row = tile.row + Warps::row();
    const std::int64_t col = tile.col + Warps::col();

    Fragments acc = {};
    cuda::with_layouts(g, [&]<bool A_K_MAJOR, bool B_K_MAJOR>() RUNG_INLINE_LAMBDA {
      multiply<A_K_MAJOR, B_K_MAJOR>(g, scales, tile, acc);
    });

    // store
    const cuda::WorkTile all_of_k = {0, 0, g.k, 0, 1, 0, 0};
    RUNG_UNROLL
    for (int i = 0; i < FRAGS_M; ++i) {
      if (g.k > 0) {
        cuda::ScaledSums<FRAGS_N>::of_warp(g, scales, all_of_k, row + i * 16, col).finish(acc[i]);
      }
      RUNG_UNROLL
      for (int j = 0; j < FRAGS_N; ++j) {
        cuda::store_m16n8(g, row + i * 16, col + j * 8, acc[i][j]);
      }
    }
  }

  /// acc += the warp's rows of A times its columns of B.
  template <bool A_K_MAJOR, bool B_K_MAJOR>
  static __device__ __forceinline__ void multiply(const Gemm<float>& g,
                                                  const cuda::OperandScales& scales,
                                                  const cuda::TileCoord& tile, Fragments& acc) {
    using ATile = cuda::PaddedTile<BM, BK, A_K_MAJOR>;
    using BTile = cuda::PaddedTile<BN, BK, B_K_MAJOR>;
    auto& [As, Bs] = cuda::dynamic_shared<Shared>();
    const cuda::HalvesCopy<ATile, THREADS> a_tile(cuda::operand_a(g), scales.a, tile.row);
    const cuda::HalvesCopy<BTile, THREADS> b_tile(cuda::operand_b(g), scales.b, tile.col);
    const auto load = [&](int stage, std::int64_t k0) RUNG_INLINE_LAMBDA {
      RUNG_UNROLL
      for (int half = 0; half < HALVES; ++half) {
        a_tile.copy(As[stage][half], static_cast<cuda::Half>(half), k0);
        b_tile.copy(Bs[stage][half], static_cast<cuda::Half>(half), k0);
      }
      ptx::cp_async_commit_group();
    };

    // load: issue the first k-block; those after the last one are zeros
    load(0, 0);
    int now = 0;
    for (std::int64_t k0 = 0; k0 < g.k; k0 += BK) {
      // sync: this thread's copies have arrived, then those of all threads; all reads of the other
      // stage are done, so that it can be overwritten
      ptx::cp_async_wait_group<0>();
      __syncthreads();

      // load: issue the next k-block
      load(1 - now, k0 + BK);

      // multiply: high x low, low x high, high x high, in a sum that starts from zero
      float sums[FRAGS_M][FRAGS_N][4] = {};
      RUNG_UNROLL
      for (int k = 0; k < BK; k += 16) {
        std::uint32_t a_frag[HALVES][FRAGS_M][4];
        std::uint32_t b_frag[HALVES][FRAGS_N / 2][4];
        RUNG_UNROLL
        for (int half = 0; half < HALVES; ++half) {
          RUNG_UNROLL
          for (int i = 0; i < FRAGS_M; ++i) {
            ATile::template load_fragments<true>(
                a_frag[half][i], ptx::cvta_to_shared(As[now][half]), Warps::row() + i * 16, k);
          }
          RUNG_UNROLL
          for (int j = 0; j < FRAGS_N / 2; ++j) {
            BTile::template load_fragments<false>(
                b_frag[half][j], ptx::cvta_to_shared(Bs[now][half]), Warps::col() + j * 16, k);
          }
        }
        RUNG_UNROLL
        for (int product = 0; product < 3; ++product) {
          RUNG_UNROLL
          for (int i = 0; i < FRAGS_M; ++i) {
            RUNG_UNROLL
            for (int j = 0; j < FRAGS_N; ++j) {
              ptx::mma_m16n8k16<float16>(sums[i][j], a_frag[product == 1][i],
                                         &b_frag[product == 0][j / 2][j % 2 * 2]);
            }
          }
        }
      }
      now = 1 - now;

      // promote: tensor cores truncate sums, so they sum only one k-block
      RUNG_UNROLL
      for (int i = 0; i < FRAGS_M; ++i) {
        RUNG_UNROLL
        for (int j = 0; j < FRAGS_N; ++j) {
          RUNG_UNROLL
          for (int e = 0; e < 4; ++e) acc[i][j][e] += sums[i][j][e];
        }
      }
    }
  }

  template <class In, class Out>
  static cuda::Launch launch(const Gemm<In, Out>& g) {
    return {.grid = {cuda::tiles_of_c<BM, BN>(g)},
            .block = {THREADS},
            .shared_bytes = sizeof(Shared),
            .a = cuda::halves_of(g.a, g.m, g.k),
            .b = cuda::halves_of(g.b.transposed(), g.n, g.k)};
  }
};

}  // namespace

RUNG_CUDA_GEMM(split_f16_mma, SplitByMma, f32)

}  // namespace rung
