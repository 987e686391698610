#pragma once
// A product with few rows or few columns as one problem: the short operand (A or B^T) times the
// long one.

#include <cstdint>
#include <type_traits>

#include "core/problem.hpp"
#include "device/cuda/epilogue/store.cuh"
#include "device/cuda/keywords.cuh"
#include "device/cuda/tile/block_work.cuh"
#include "device/cuda/tile/factor.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// Elements per access to the long operand.
template <class In>
inline constexpr int skinny_width = vector_width<In> < 8 ? vector_width<In> : 8;

/// The elements that a lane loads at once, as words of a vector. With a variable per element,
/// compilers give each 16-bit element a register, which halves the number of loads in flight.
template <class In, int W>
struct LaneElements {
  using Bits = std::conditional_t<sizeof(In) == 1, std::uint8_t, std::uint16_t>;
  static constexpr int PER_WORD = sizeof(In) < 4 ? 4 / sizeof(In) : 1;
  using Word = std::conditional_t<sizeof(In) == 8, std::uint64_t, std::uint32_t>;

  Vector<Word, W / PER_WORD> words;

  __device__ __forceinline__ In operator[](int w) const {
    const Word word = words.at[w / PER_WORD];
    if constexpr (PER_WORD == 1) {
      return __builtin_bit_cast(In, word);
    } else {
      return __builtin_bit_cast(In, static_cast<Bits>(word >> w % PER_WORD * 8 * sizeof(In)));
    }
  }
};

/// The position of element w of a lane's W elements among those of the warp.
template <bool VECTORS, int W>
__device__ __forceinline__ int place_in_warp(int lane, int w) {
  return VECTORS ? lane * W + w : w * 32 + lane;
}

/// Stores a lane's sums at the positions of its elements, in 16-byte vectors if the elements were
/// loaded as vectors.
template <bool VECTORS, class Sum, int W>
__device__ __forceinline__ void store_to_shared(Sum* to, int lane, const Sum (&sums)[W]) {
  constexpr int V = !VECTORS ? 1 : vector_width<Sum> < W ? vector_width<Sum> : W;
  RUNG_UNROLL
  for (int first = 0; first < W; first += V) {
    Vector<Sum, V> vector;
    RUNG_UNROLL
    for (int w = 0; w < V; ++w) vector.at[w] = sums[first + w];
    *reinterpret_cast<Vector<Sum, V>*>(to + place_in_warp<VECTORS, W>(lane, first)) = vector;
  }
}

/// The position of step t in a panel for lanes along k. A lane's W factors are stored in vectors of
/// V; vectors of all lanes are adjacent, which avoids bank conflicts.
template <bool VECTORS, int W, int V>
__device__ __forceinline__ int place_in_panel(int t) {
  const int in_chunk = t % (32 * W);
  const int lane = VECTORS ? in_chunk / W : in_chunk % 32;
  const int w = VECTORS ? in_chunk % W : in_chunk / 32;
  return t - in_chunk + (w / V * 32 + lane) * V + w % V;
}

/// Loads a lane's elements. Only `count` elements of the warp exist; the rest become zeros. Vectors
/// exist either completely or not at all.
template <bool VECTORS, class In, int W>
__device__ __forceinline__ void load(LaneElements<In, W>& to, const In* from, int lane,
                                     std::int64_t count) {
  using Elements = LaneElements<In, W>;
  if constexpr (VECTORS) {
    to = lane * W < count ? reinterpret_cast<const Elements*>(from)[lane] : Elements{};
  } else {
    Vector<In, W> elements = {};
    RUNG_UNROLL
    for (int w = 0; w < W; ++w) {
      const int at = place_in_warp<false, W>(lane, w);
      if (at < count) elements.at[w] = from[at];
    }
    to = __builtin_bit_cast(Elements, elements);
  }
}

/// Tile heights, in rows of the short operand. Beyond these, tensor cores are faster.
template <class In>
inline constexpr int skinny_rows[] = {1, 4};
template <>
inline constexpr int skinny_rows<float>[] = {1, 2, 4};
template <>
inline constexpr int skinny_rows<double>[] = {1, 2};

/// The smallest tile that holds the whole short operand, otherwise the largest tile.
template <class In>
int skinny_tile(std::int64_t few) {
  constexpr auto& rows = skinny_rows<In>;
  int tile = 0;
  while (rows[tile] < few && tile + 1 < static_cast<int>(sizeof rows / sizeof(int))) ++tile;
  return tile;
}

template <class In, class Out>
struct SkinnyProblem {
  using Sum = Scalar<Out>;

  const Gemm<In, Out>& g;
  Operand<In> few, many;
  std::int64_t few_stride, many_stride;  // strides of C

  __device__ __forceinline__ explicit SkinnyProblem(const Gemm<In, Out>& problem)
      : g(problem),
        few(operand_a(g)),
        many(operand_b(g)),
        few_stride(g.c.row_stride),
        many_stride(1) {
    if (g.m <= g.n) return;
    few = operand_b(g);
    many = operand_a(g);
    few_stride = 1;
    many_stride = g.c.row_stride;
  }

  /// True if k-steps of the long operand are contiguous.
  __device__ __forceinline__ bool is_k_major() const { return many.x.col_stride == 1; }

  /// True if the rows (or columns) of the long operand consist of whole, aligned vectors of
  /// skinny_width elements.
  __device__ __forceinline__ bool has_vectors() const {
    constexpr int W = skinny_width<In>;
    const std::int64_t ld = many.x.row_stride * many.x.col_stride;
    const std::int64_t length = is_k_major() ? many.k : many.extent;
    return (ld | length) % W == 0 &&
           reinterpret_cast<std::uintptr_t>(many.x.data) % (W * sizeof(In)) == 0;
  }

  /// Calls f(k0, steps) for each STEPS k-steps of a range, after the block has copied that panel of
  /// ROWS rows of the short operand from row few0: step t of row s to panel[place(s, t)], padded
  /// with zeros outside the operand and up to a multiple of FILL steps.
  template <int ROWS, int STEPS, int FILL, int THREADS, class Place, class F>
  __device__ __forceinline__ void for_each_panel(std::int64_t few0, const KRange& range, Sum* panel,
                                                 const Place& place, const F& f) const {
    static_assert(STEPS % FILL == 0);
    for (std::int64_t k0 = range.begin; k0 < range.end; k0 += STEPS) {
      const int steps = static_cast<int>(range.end - k0 < STEPS ? range.end - k0 : STEPS);
      const int filled = (steps + FILL - 1) / FILL * FILL;
      // sync: all reads of the previous panel are done
      __syncthreads();
      for (int t = static_cast<int>(threadIdx.x); t < filled; t += THREADS) {
        RUNG_UNROLL
        for (int s = 0; s < ROWS; ++s) {
          const bool exists = t < steps && few0 + s < few.extent;
          panel[place(s, t)] = exists ? as_sum<Sum>(few.x(few0 + s, k0 + t)) : Sum{};
        }
      }
      // sync: the panel is complete
      __syncthreads();
      f(k0, steps);
    }
  }

  /// Stores the result for a row of each operand.
  __device__ __forceinline__ void store(std::int64_t few_row, std::int64_t many_row,
                                        const Sum& sum) const {
    Out& c = g.c.data[few_row * few_stride + many_row * many_stride];
    c = Epilogue<Out>(g).replace(sum, c);
  }
};

/// The work of a block: rows of both operands, and a split of k.
struct SkinnyPlace {
  std::int64_t few0, many0;  // first rows
  KRange range;
  int rows;  // rows of the short operand, rounded up to a multiple of 8

  /// For tiles of ROWS rows of the short operand and MANY of the long one. Splits are multiples of
  /// K_PART k-steps.
  template <int ROWS, int MANY, int K_PART, class In, class Out>
  static __device__ __forceinline__ SkinnyPlace of(const SkinnyProblem<In, Out>& problem,
                                                   const BlockWork& work) {
    const auto columns = static_cast<unsigned>(ceil_div(problem.many.extent, MANY));
    const std::int64_t few0 = std::int64_t{work.tile / columns} * ROWS;
    const std::int64_t few = problem.few.extent - few0;
    return {few0, std::int64_t{work.tile % columns} * MANY,
            part_of_k<K_PART>(problem.g.k, work.parts, work.part),
            few < ROWS ? (static_cast<int>(few) + 7) / 8 * 8 : ROWS};
  }
};

}  // namespace rung::cuda
