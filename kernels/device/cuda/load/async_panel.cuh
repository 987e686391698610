#pragma once
// For each Way: how a tile of an operand is copied, stored in shared memory, and read.

#include "device/cuda/load/async_pairs.cuh"
#include "device/cuda/load/async_rows.cuh"
#include "device/cuda/load/async_tile.cuh"
#include "device/cuda/tile/step_fragments.cuh"

namespace rung::cuda {

/// Transposes a K-major operand.
template <class T, int EXTENT, int BK, int THREADS, Way WAY>
struct AsyncPanel {
  static constexpr int LD = EXTENT + vector_width<T>;
  using Tile = T[BK][LD];
  using Copies = AsyncTile<T, EXTENT, BK, LD, THREADS, WAY>;
  template <int N, class Pieces>
  using Fragments = ColumnFragments<T, N, Pieces, BK, LD>;
};

template <class T, int EXTENT, int BK, int THREADS>
struct AsyncPanel<T, EXTENT, BK, THREADS, Way::rows> {
  using Tile = RowTile<T, EXTENT, BK>;
  using Copies = AsyncRows<T, EXTENT, BK, THREADS>;
  template <int N, class Pieces>
  using Fragments = RowFragments<T, N, Pieces, EXTENT, BK>;
};

template <class T, int EXTENT, int BK, int THREADS>
struct AsyncPanel<T, EXTENT, BK, THREADS, Way::pairs> {
  static constexpr int LD = 2 * EXTENT + vector_width<T>;
  using Tile = T[BK / 2][LD];
  using Copies = AsyncPairs<T, EXTENT, BK, LD, THREADS>;
  template <int N, class Pieces>
  using Fragments = PairFragments<T, N, Pieces, BK, LD>;
};

}  // namespace rung::cuda
