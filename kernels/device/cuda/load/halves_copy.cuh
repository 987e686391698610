#pragma once
// Copies tiles of a split operand's halves to shared memory with cp.async, for GPUs without TMA.

#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/entry/launch.hpp"
#include "device/cuda/keywords.cuh"
#include "device/cuda/library/halves_memory.hpp"
#include "device/cuda/load/halves_load.cuh"
#include "device/cuda/ptx/mma.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// Requests that the host split an extent x k matrix before the launch, without a tensor map.
constexpr TensorMapSpec halves_of(const Matrix<const float>& x, std::int64_t extent,
                                  std::int64_t k) {
  TensorMapSpec spec = halves_map_of(x, extent, k, 0);
  spec.box_row_length = spec.box_rows = 0;
  return spec;
}

/// Copies tiles of type Tile, a PaddedTile. Elements outside the operand are zeros.
template <class Tile, int THREADS>
class HalvesCopy {
  static constexpr int VEC = Tile::VEC;
  static constexpr bool K_MAJOR = Tile::k_major;
  static constexpr int chunk = SplitOperand::chunk;
  static constexpr int COUNT = Tile::COUNT * Tile::LENGTH / VEC / THREADS;
  static_assert(COUNT * VEC * THREADS == Tile::COUNT * Tile::LENGTH,
                "each thread copies as many vectors");

 public:
  /// The tile's rows or columns begin at e0. `scales`: the operand's scales, which directly follow
  /// its halves in memory.
  __device__ __forceinline__ HalvesCopy(const Operand<float>& operand, const OperandScale* scales,
                                        std::int64_t e0)
      : rows_(K_MAJOR ? operand.extent : operand.k),
        row_length_(K_MAJOR ? operand.k : operand.extent),
        e0_(e0) {
    const auto* const end = reinterpret_cast<const char*>(scales);
    halves_ = reinterpret_cast<const float16*>(end - bytes_of_halves(rows_, row_length_));
  }

  /// Starts to copy the tile of one half that begins at k0.
  __device__ __forceinline__ void copy(float16* tile, Half half, std::int64_t k0) const {
    const std::int64_t ld = SplitOperand::halves_in_row(row_length_);
    RUNG_UNROLL
    for (int i = 0; i < COUNT; ++i) {
      const int vector = static_cast<int>(threadIdx.x) + i * THREADS;
      const int line = vector / (Tile::LENGTH / VEC);
      const int within = vector % (Tile::LENGTH / VEC) * VEC;
      const std::int64_t row = (K_MAJOR ? e0_ : k0) + line;
      const std::int64_t col = (K_MAJOR ? k0 : e0_) + within;
      const bool exists = row < rows_ && col < row_length_;
      const float16* const from = halves_ + (exists ? row * ld + place(col, half) : 0);
      ptx::cp_async<16>(
          ptx::cvta_to_shared(tile + (K_MAJOR ? Tile::at(line, within) : Tile::at(within, line))),
          from, exists ? 16 : 0);
    }
  }

 private:
  /// The index of an element's half in its row: 64 high halves, their low halves, and so on.
  static __device__ __forceinline__ std::int64_t place(std::int64_t element, Half half) {
    return element + element / chunk * chunk + (half == Half::low ? chunk : 0);
  }

  const float16* halves_;
  std::int64_t rows_, row_length_, e0_;
};

}  // namespace rung::cuda
