#pragma once
// Loads a thread's elements of one operand from shared memory, k-step by k-step.

#include "device/cuda/keywords.cuh"
#include "device/cuda/load/async_rows.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// Elements from a tile stored as [BK][LD]. Holds two k-steps, so that one is loaded while the
/// other is used. `Pieces`: the Fragment of the N elements.
template <class T, int N, class Pieces, int BK, int LD>
class ColumnFragments {
 public:
  /// Loads step k before step k - 1 is used.
  __device__ __forceinline__ void load_ahead(const T (&tile)[BK][LD], int first, int k) {
    Pieces::load(elements_[k % 2], &tile[k][first]);
  }
  /// Would load step k after step k - 1 is used.
  __device__ __forceinline__ void load(const T (&)[BK][LD], int, int) {}

  __device__ __forceinline__ const T (&at(int k) const)[N] { return elements_[k % 2]; }

 private:
  T elements_[2][N];
};

/// Elements from a tile of step pairs, stored as [BK / 2][LD]. Holds two pairs.
template <class T, int N, class Pieces, int BK, int LD>
class PairFragments {
 public:
  __device__ __forceinline__ void load_ahead(const T (&tile)[BK / 2][LD], int first, int k) {
    if (k % 2 != 0) return;
    RUNG_UNROLL
    for (int i = 0; i < N; i += W / 2) {
      const auto vector =
          *reinterpret_cast<const Vector<T, W>*>(&tile[k / 2][2 * (first + Pieces::offset(i))]);
      RUNG_UNROLL
      for (int w = 0; w < W; ++w) elements_[k / 2 % 2][w % 2][i + w / 2] = vector.at[w];
    }
  }
  __device__ __forceinline__ void load(const T (&)[BK / 2][LD], int, int) {}

  __device__ __forceinline__ const T (&at(int k) const)[N] { return elements_[k / 2 % 2][k % 2]; }

 private:
  static constexpr int W = vector_width<T>;
  static_assert(BK % 4 == 0, "a tile's first pair lies in the first of two buffers");
  T elements_[2][2][N];
};

/// Elements from a tile of rows. Holds as many k-steps as a vector has elements. The next steps
/// overwrite these registers; warps of other blocks multiply meanwhile.
template <class T, int N, class Pieces, int EXTENT, int BK>
class RowFragments {
 public:
  using Tile = RowTile<T, EXTENT, BK>;

  __device__ __forceinline__ void load_ahead(const Tile&, int, int) {}
  __device__ __forceinline__ void load(const Tile& tile, int first, int k) {
    if (k % W != 0) return;
    const T* const from = &tile.elements[Tile::at(first) + k];
    RUNG_UNROLL
    for (int i = 0; i < N; ++i) {
      const auto vector =
          *reinterpret_cast<const Vector<T, W>*>(from + Tile::at(Pieces::offset(i)));
      RUNG_UNROLL
      for (int w = 0; w < W; ++w) elements_[w][i] = vector.at[w];
    }
  }

  __device__ __forceinline__ const T (&at(int k) const)[N] { return elements_[k % W]; }

 private:
  static constexpr int W = Tile::W;
  T elements_[W][N];
};

}  // namespace rung::cuda
