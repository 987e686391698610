#pragma once
// Loads tiles of 16-bit elements into shared memory, 16 bytes at a time, through registers or with
// cp.async.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/ptx/mma.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// True if the rows of an operand (columns, if it is MN-major) consist of whole, aligned 16-byte
/// vectors.
template <class In>
__device__ __forceinline__ bool has_vectors(const Operand<In>& operand) {
  const bool k_major = operand.is_k_major();
  const std::int64_t ld = k_major ? operand.x.row_stride : operand.x.col_stride;
  const std::int64_t length = k_major ? operand.k : operand.extent;
  return ld % 8 == 0 && length % 8 == 0 &&
         reinterpret_cast<std::uintptr_t>(operand.x.data) % 16 == 0;
}

/// Tile is a PaddedTile or a SwizzledTile.
template <class In, class Tile, int THREADS>
class TileLoader {
  static_assert(sizeof(In) == 2);
  static constexpr int VEC = Tile::VEC;
  static constexpr bool K_MAJOR = Tile::k_major;
  // 16 bytes as words, because compilers move 16-bit elements in smaller pieces.
  using Words = Vector<std::uint32_t, 4>;
  static constexpr int COUNT = Tile::COUNT * Tile::LENGTH / VEC / THREADS;
  static_assert(COUNT * VEC * THREADS == Tile::COUNT * Tile::LENGTH,
                "each thread loads as many vectors");

 public:
  __device__ __forceinline__ TileLoader(const Operand<In>& operand, std::int64_t e0)
      : operand_(operand), e0_(e0), vectors_(has_vectors(operand)) {}

  /// Loads the tile that begins at k0; zeros outside the operand.
  __device__ __forceinline__ void load(std::int64_t k0) {
    RUNG_UNROLL
    for (int i = 0; i < COUNT; ++i) staged_[i] = load_vector(place(i), k0);
  }

  /// Writes the tile to shared memory.
  __device__ __forceinline__ void store(In* tile) const {
    RUNG_UNROLL
    for (int i = 0; i < COUNT; ++i) {
      ptx::st_shared_v4(ptx::cvta_to_shared(tile + Tile::at(place(i).e, place(i).k)),
                        staged_[i].at);
    }
  }

  /// Loads and writes a tile: asynchronously with cp.async if it consists of vectors, otherwise
  /// synchronously.
  __device__ __forceinline__ void copy(In* tile, std::int64_t k0) const {
    if (vectors_) {
      RUNG_UNROLL
      for (int i = 0; i < COUNT; ++i) {
        const Place at = place(i);
        ptx::cp_async<16>(ptx::cvta_to_shared(tile + Tile::at(at.e, at.k)),
                          &operand_.x(e0_ + at.e, k0 + at.k), elements(at, k0) * 2);
      }
    } else {
      RUNG_NO_UNROLL
      for (int i = 0; i < COUNT; ++i) {
        const Place at = place(i);
        ptx::st_shared_v4(ptx::cvta_to_shared(tile + Tile::at(at.e, at.k)), load_vector(at, k0).at);
      }
    }
  }

 private:
  struct Place {
    int e, k;
  };

  /// The position of this thread's vector i within the tile. Adjacent threads have adjacent vectors
  /// in memory.
  static __device__ __forceinline__ Place place(int i) {
    const int vector = static_cast<int>(threadIdx.x) + i * THREADS;
    const int line = vector / (Tile::LENGTH / VEC);
    const int within = vector % (Tile::LENGTH / VEC) * VEC;
    return K_MAJOR ? Place{line, within} : Place{within, line};
  }

  /// The number of elements of a vector that exist.
  __device__ __forceinline__ int elements(const Place& at, std::int64_t k0) const {
    const std::int64_t e_left = operand_.extent - e0_ - at.e;
    const std::int64_t k_left = operand_.k - k0 - at.k;
    if (e_left <= 0 || k_left <= 0) return 0;
    const std::int64_t left = K_MAJOR ? k_left : e_left;
    return left < VEC ? static_cast<int>(left) : VEC;
  }

  __device__ __forceinline__ Words load_vector(const Place& at, std::int64_t k0) const {
    const int there = elements(at, k0);
    if (vectors_ && there == VEC) {
      return *reinterpret_cast<const Words*>(&operand_.x(e0_ + at.e, k0 + at.k));
    }
    Words result = {};
    RUNG_UNROLL
    for (int v = 0; v < VEC; ++v) {
      const int e = at.e + (K_MAJOR ? 0 : v);
      const int k = at.k + (K_MAJOR ? v : 0);
      const std::uint32_t bits = v < there ? operand_.x(e0_ + e, k0 + k).bits : 0;
      result.at[v / 2] |= bits << v % 2 * 16;
    }
    return result;
  }

  const Operand<In> operand_;
  const std::int64_t e0_;
  const bool vectors_;
  Words staged_[COUNT];
};

}  // namespace rung::cuda
