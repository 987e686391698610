#pragma once
// Packed weights, as pack_weights() of rung/weight_only.hpp makes them.

#include <cstdint>

#include "rung/epilogue_kinds.hpp"

namespace rung {

/// Weights packed by pack_weights(), the only function that creates them. The caller owns the
/// memory and may copy it, for example from the CPU to a GPU or to a file, and set `data` to the
/// copy. The layout may change with the minor version of the library.
struct PackedWeights {
  const void* data = nullptr;
  std::int64_t n = 0, k = 0;
  int bits = 0;
  std::int64_t group = 0;
  ElementType scales = ElementType::f32;
  bool has_zeros = false;
  std::uint32_t format = 0;  // identifies the result of pack_weights()
};

}  // namespace rung
