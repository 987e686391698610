#pragma once
// The tiles of device/cuda/library/fused_epilogue.cu, and which results each can store.

#include "device/cuda/entry/launch.hpp"
#include "device/cuda/library/fused_epilogue.hpp"
#include "rung/epilogue_kinds.hpp"

namespace rung::cuda {

/// True if two consumers process tiles of C in turn, without split-K.
constexpr bool is_in_turn(int fused_tile) {
  constexpr int in_turn = 3, flat_in_turn = 4, common_in_turn = first_common_tile;
  return fused_tile == in_turn || fused_tile == flat_in_turn || fused_tile == common_in_turn;
}

/// True if a tile for all parts can store results of that type. Results of one byte fill boxes of 128 columns.
/// Gated results fill a box of 64 columns from 128 columns of accumulators of one consumer.
constexpr bool stores_results(int fused_tile, const TileShape& shape, ElementType out, bool gated) {
  if (gated && is_in_turn(fused_tile)) return false;
  return shape.BN % 128 == 0 || (bytes_of(out) > 1 && !gated);
}

}  // namespace rung::cuda
