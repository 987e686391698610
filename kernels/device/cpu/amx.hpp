#pragma once
// Products of tiles, the two-dimensional registers of AMX: eight of 16 rows by 64 bytes.
//
// With RUNG_TILE_MODEL everything here is computed by a model of the instructions in plain C++
// (tile_model.hpp), so that tests of packing and loops run on any CPU.

#include <cstdint>

#include "device/cpu/dot_kernels.hpp"

namespace rung::cpu {

#ifdef RUNG_TILE_MODEL
inline namespace tile_model {
#endif

inline constexpr std::int64_t tile_rows = 16;    // of every tile, and columns of sums
inline constexpr std::int64_t tile_groups = 16;  // of a row: 64 bytes
inline constexpr std::int64_t tile_size = tile_rows * tile_groups;

/// Two by two tiles of C, 32 x 32 sums.
template <class Acc>
struct TileKernel {
  static constexpr std::int64_t rows = 2 * tile_rows;
  static constexpr std::int64_t cols = 2 * tile_rows;

  /// Prepares the calling thread's tiles; end() gives them back, after which other code of the
  /// thread saves less state.
  void (*begin)();
  void (*end)();
  /// C = A * B, or C + A * B if `add`, over `depth` tiles of k. a: for each tile of k, two tiles of
  /// 16 rows by 16 groups. b: two columns of tiles one after the other, each tile of 16 steps of k
  /// by 16 columns, in groups. Tiles are contiguous and aligned to 64 bytes.
  void (*multiply)(std::int64_t depth, const KGroup* a, const KGroup* b, Acc* c, std::int64_t ldc,
                   bool add);
};

/// Null if this CPU has no tiles, or if the system refuses them to this process, which is asked at
/// the first call. bfloat16 to float and int8 to int32.
template <class In, class Acc>
const TileKernel<Acc>* tile_kernel() {
  return nullptr;
}
template <>
const TileKernel<float>* tile_kernel<bfloat16, float>();
template <>
const TileKernel<std::uint32_t>* tile_kernel<std::int8_t, std::uint32_t>();

#ifdef RUNG_TILE_MODEL
}  // namespace tile_model
#endif

}  // namespace rung::cpu
