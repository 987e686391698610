// gemm/cuda/weight_only: 4- or 8-bit weights are unpacked to 16-bit numbers in registers just
//   before mma.sync reads them; 16 rows of the weights are the rows of an mma, 8 rows of A its
//   columns.
// from: 22_stages | removes: three quarters, or half, of the bytes of 16-bit weights | bottleneck:
//   device memory for few rows; from 64 rows on, mma.sync, which has less than two thirds of
//   wgmma's rate
// needs: sm_80 | try: rung verify gemm/cuda/weight_only

#include "device/cuda/entry/weight_only.cuh"
#include "device/cuda/epilogue/weight_only_results.cuh"
#include "device/cuda/ptx/mma.cuh"
#include "device/cuda/tile/block_work.cuh"
#include "device/cuda/tile/weight_record.cuh"

namespace rung {
namespace {

/// A block multiplies COLS rows of A by ROW_TILES x 16 rows of the weights for each of its eight
/// warps.
template <int COLS, int ROW_TILES, int BITS, int STAGES>
struct WeightOnly {
  static constexpr int WARPS = 8;
  static constexpr int THREADS = WARPS * 32;
  static constexpr int ROWS = WARPS * ROW_TILES * WeightLayout::rows;
  static constexpr int BK = WeightLayout::steps;
  static constexpr int RECORD = cuda::max_record_bytes<BITS>;
  static constexpr int MIN_BLOCKS_PER_SM = COLS == 64 ? 1 : 2;
  using Form = cuda::RecordForm<BITS>;
  using Results = cuda::WeightOnlyResults<COLS, ROWS>;

  template <class In>
  union Shared {
    struct {
      alignas(16) unsigned char records[STAGES][WARPS * ROW_TILES][RECORD];
      alignas(16) In xs[STAGES][COLS][BK + 8];  // padded: rows start in different banks
    } tiles;
    Results results;
  };

  template <class In>
  static __device__ __forceinline__ void kernel(const cuda::WeightOnlyArgs<In>& args,
                                                const cuda::TensorMaps&) {
    auto& shared = cuda::dynamic_shared<Shared<In>>();

    // place
    const Gemm<In, float>& g = args.gemm.problem;
    const cuda::BlockWork work = cuda::block_work(args.gemm.split_k);
    const auto row_blocks = static_cast<unsigned>(cuda::ceil_div(g.n, ROWS));
    const std::int64_t few0 = std::int64_t{work.tile / row_blocks} * COLS;
    const std::int64_t many0 = std::int64_t{work.tile % row_blocks} * ROWS;
    const cuda::KRange range = cuda::part_of_k<BK>(g.k, work.parts, work.part);

    float acc[ROW_TILES][COLS / 8][4] = {};
    multiply(args, few0, many0, range, shared, acc);

    // store
    // sync: all reads of the tiles are done
    __syncthreads();
    RUNG_UNROLL
    for (int r = 0; r < ROW_TILES; ++r) {
      const int tile = static_cast<int>(threadIdx.x) / 32 * ROW_TILES + r;
      shared.results.stage(tile * WeightLayout::rows, acc[r]);
    }
    // sync: the results are complete
    __syncthreads();
    shared.results.template store<THREADS>(args, work, few0, many0);
  }

  template <class In>
  static __device__ __forceinline__ void multiply(const cuda::WeightOnlyArgs<In>& args,
                                                  std::int64_t few0, std::int64_t many0,
                                                  const cuda::KRange& range, Shared<In>& shared,
                                                  float (&acc)[ROW_TILES][COLS / 8][4]) {
    auto& [records, xs] = shared.tiles;
    const Form form(args.layout);
    Loads<In> loads(args, form, few0, many0, range.begin);
    int left = static_cast<int>(range.end - range.begin);  // steps to load
    // The first rounds only load. Commit groups count stages, including those after the last one.
    int next = 0, now = 1;  // the stages that are loaded and multiplied
    for (std::int64_t k0 = range.begin - (STAGES - 1) * BK; k0 < range.end; k0 += BK) {
      if (k0 >= range.begin) {
        // sync: this thread's copies have arrived, then those of all threads; all reads of the
        // previous stage are done, so it can be overwritten
        ptx::cp_async_wait_group<STAGES - 2>();
        __syncthreads();
      }
      // load
      if (left > 0) loads.next(records[next], xs[next], left);
      left -= BK;
      ptx::cp_async_commit_group();
      if (k0 >= range.begin) multiply_stage<In>(form, records[now], xs[now], acc);
      next = now;
      now = now == STAGES - 1 ? 0 : now + 1;
    }
  }

  /// Copies 128 steps at a time: each warp its own records, all threads the rows of A. Addresses
  /// are computed once.
  template <class In>
  class Loads {
    static constexpr int W = 8;            // elements of a vector
    static constexpr int IN_ROW = BK / W;  // vectors
    static constexpr int VECTORS = COLS * IN_ROW / THREADS;

   public:
    __device__ __forceinline__ Loads(const cuda::WeightOnlyArgs<In>& args, const Form& form,
                                     std::int64_t few0, std::int64_t many0, std::int64_t k0)
        : bytes_(form.bytes), col_stride_(args.gemm.problem.a.col_stride) {
      const Gemm<In, float>& g = args.gemm.problem;
      RUNG_UNROLL
      for (int r = 0; r < ROW_TILES; ++r) {
        const std::int64_t tile = many0 / WeightLayout::rows + first_record() + r;
        records_[r] = cuda::record_of(args.weights, args.layout, tile, k0) + lane() * 16;
      }
      has_vectors_ = col_stride_ == 1 && g.a.row_stride % W == 0 &&
                     reinterpret_cast<std::uintptr_t>(g.a.data) % 16 == 0;
      RUNG_UNROLL
      for (int v = 0; v < VECTORS; ++v) {
        const std::int64_t row = few0 + row_of(v);
        exists_[v] = row < g.m;
        rows_[v] = exists_[v] ? &g.a(row, k0 + step()) : g.a.data;
      }
    }

    /// Issues the copies of the next 128 steps; the first `left` of them are in k.
    __device__ __forceinline__ void next(unsigned char (&records)[WARPS * ROW_TILES][RECORD],
                                         In (&xs)[COLS][BK + 8], int left) {
      RUNG_UNROLL
      for (int r = 0; r < ROW_TILES; ++r) {
        const std::uint32_t to = ptx::cvta_to_shared(records[first_record() + r]) + lane() * 16;
        RUNG_UNROLL
        for (int at = 0; at < RECORD; at += 512) {
          if (at + lane() * 16 < bytes_) ptx::cp_async<16>(to + at, records_[r] + at, 16);
        }
        records_[r] += bytes_;
      }
      RUNG_UNROLL
      for (int v = 0; v < VECTORS; ++v) {
        In* const to = &xs[row_of(v)][step()];
        const bool exists = exists_[v] && step() < left;
        if (has_vectors_) {
          ptx::cp_async<16>(ptx::cvta_to_shared(to), rows_[v], exists ? 16 : 0);
        } else {
          RUNG_UNROLL
          for (int w = 0; w < W; ++w) to[w] = exists ? rows_[v][w * col_stride_] : In{};
        }
        if (exists_[v]) rows_[v] += BK * col_stride_;
      }
    }

   private:
    static __device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x) % 32; }
    static __device__ __forceinline__ int first_record() {
      return static_cast<int>(threadIdx.x) / 32 * ROW_TILES;
    }
    static __device__ __forceinline__ int row_of(int v) {
      return static_cast<int>(threadIdx.x) / IN_ROW + v * (THREADS / IN_ROW);
    }
    static __device__ __forceinline__ int step() {
      return static_cast<int>(threadIdx.x) % IN_ROW * W;
    }

    int bytes_;
    const unsigned char* records_[ROW_TILES];
    std::int64_t col_stride_;
    bool has_vectors_;
    const In* rows_[VECTORS];
    bool exists_[VECTORS];
  };

  /// acc += 128 steps, each group of steps times its scales.
  template <class In>
  static __device__ __forceinline__ void multiply_stage(
      const Form& form, const unsigned char (&records)[WARPS * ROW_TILES][RECORD],
      const In (&xs)[COLS][BK + 8], float (&acc)[ROW_TILES][COLS / 8][4]) {
    constexpr int CHUNK = cuda::chunk_steps<BITS>;
    const unsigned char(*const mine)[RECORD] =
        records + static_cast<int>(threadIdx.x) / 32 * ROW_TILES;
    float sums[ROW_TILES][COLS / 8][4] = {};
    RUNG_UNROLL
    for (int k = 0; k < BK; k += CHUNK) {
      std::uint32_t words[ROW_TILES][4], minus_zeros[ROW_TILES][2] = {};
      RUNG_UNROLL
      for (int r = 0; r < ROW_TILES; ++r) {
        cuda::load_words(words[r], mine[r], k / CHUNK);
        if constexpr (BITS == 4) cuda::load_minus_zeros<In>(minus_zeros[r], mine[r], form, k);
      }
      multiply_chunk<In, 0>(words, minus_zeros, xs, k, sums);
      if (!form.ends_before(k + CHUNK)) continue;
      RUNG_UNROLL
      for (int r = 0; r < ROW_TILES; ++r) {
        float scales[2];
        constexpr float of_fraction = cuda::WeightPair<In, BITS>::inverse_of_fraction;
        cuda::load_scales(scales, mine[r], form, form.group_of(k), of_fraction);
        cuda::promote(scales, sums[r], acc[r]);
        RUNG_UNROLL
        for (auto& sum : sums[r]) sum[0] = sum[1] = sum[2] = sum[3] = 0;
      }
    }
  }

  /// sums += the steps of a chunk from STEP on, without scales.
  template <class In, int STEP>
  static __device__ __forceinline__ void multiply_chunk(
      const std::uint32_t (&words)[ROW_TILES][4], const std::uint32_t (&minus_zeros)[ROW_TILES][2],
      const In (&xs)[COLS][BK + 8], int k, float (&sums)[ROW_TILES][COLS / 8][4]) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    std::uint32_t b[COLS / 16][4];
    RUNG_UNROLL
    for (int j = 0; j < COLS / 16; ++j) {
      const In* const from = &xs[j * 16 + lane / 16 * 8 + lane % 8][k + STEP + lane / 8 % 2 * 8];
      ptx::ldmatrix_x4<false>(b[j], ptx::cvta_to_shared(from));
    }
    RUNG_UNROLL
    for (int r = 0; r < ROW_TILES; ++r) {
      std::uint32_t a[4];
      cuda::unpack_fragment<In, BITS, STEP>(a, words[r], minus_zeros[r]);
      RUNG_UNROLL
      for (int j = 0; j < COLS / 8; ++j) {
        ptx::mma_m16n8k16<In>(sums[r][j], a, &b[j / 2][j % 2 * 2]);
      }
    }
    if constexpr (STEP + 16 < cuda::chunk_steps<BITS>) {
      multiply_chunk<In, STEP + 16>(words, minus_zeros, xs, k, sums);
    }
  }

  static constexpr cuda::TileShape shape() {
    return {COLS, ROWS, BK, THREADS, sizeof(Shared<bfloat16>)};
  }
};

//                        COLS ROW_TILES BITS STAGES
using Few4 = WeightOnly<16, 1, 4, 4>;
using Some4 = WeightOnly<32, 2, 4, 4>;
using More4 = WeightOnly<64, 2, 4, 4>;
using Few8 = WeightOnly<16, 1, 8, 4>;
using Some8 = WeightOnly<32, 2, 8, 3>;
using More8 = WeightOnly<64, 2, 8, 3>;

}  // namespace

// compiled by type: bf16 f16
RUNG_WEIGHT_ONLY_TILES(weight_only, (0, Few4), (1, Some4), (2, More4), (3, Few8), (4, Some8),
                       (5, More8))

}  // namespace rung
