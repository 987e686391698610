#pragma once
// A tile of an operand, loaded to registers in vectors of four, then stored to threadgroup memory.

#include <metal_stdlib>

#include "device/metal/operand.h"

namespace rung {

/// EXTENT x BK elements, loaded as vectors along the contiguous dimension of the operand. In
/// threadgroup memory they have type To and layout [BK][EXTENT], so that the elements of one k-step
/// are contiguous.
template <class In, class To, int EXTENT, int BK, int THREADS>
struct StagedTile {
  enum : int { VEC = 4, COUNT = EXTENT * BK / (VEC * THREADS) };
  static_assert(COUNT * VEC * THREADS == EXTENT * BK, "each thread brings as many vectors");
  static_assert(BK % VEC == 0 && EXTENT % VEC == 0, "no vector spans two lines");

  vec<In, VEC> staged[COUNT];

  /// Loads the tile at (e0, k0); elements out of bounds become zeros.
  void load(const thread Operand<In>& operand, int64_t e0, int64_t k0, int index) {
    const bool inside = e0 + EXTENT <= operand.extent && k0 + BK <= operand.k;
    RUNG_UNROLL
    for (int i = 0; i < COUNT; ++i) {
      const int2 at = place(operand.is_along_k, index + i * THREADS);
      if (inside && operand.is_aligned) {
        const device In& first = operand.x(e0 + at.x, k0 + at.y);
        staged[i] = *reinterpret_cast<const device vec<In, VEC>*>(&first);
      } else {
        staged[i] = load_guarded(operand, e0 + at.x, k0 + at.y);
      }
    }
  }

  /// Stores the tile to threadgroup memory.
  void store(threadgroup To* tile, bool along_k, int index) const {
    RUNG_UNROLL
    for (int i = 0; i < COUNT; ++i) {
      const int2 at = place(along_k, index + i * THREADS);
      RUNG_UNROLL
      for (int v = 0; v < VEC; ++v) {
        const int e = at.x + (along_k ? 0 : v);
        const int k = at.y + (along_k ? v : 0);
        tile[k * EXTENT + e] = To(staged[i][v]);
      }
    }
  }

  /// The position (e, k) of a vector in the tile. Adjacent threads load adjacent vectors.
  static int2 place(bool along_k, int vector) {
    if (along_k) return int2(vector / (BK / VEC), vector % (BK / VEC) * VEC);
    return int2(vector % (EXTENT / VEC) * VEC, vector / (EXTENT / VEC));
  }

  static vec<In, VEC> load_guarded(const thread Operand<In>& operand, int64_t e, int64_t k) {
    vec<In, VEC> result;
    RUNG_UNROLL
    for (int v = 0; v < VEC; ++v) {
      const int64_t ev = e + (operand.is_along_k ? 0 : v);
      const int64_t kv = k + (operand.is_along_k ? v : 0);
      result[v] = ev < operand.extent && kv < operand.k ? operand.x(ev, kv) : In(0);
    }
    return result;
  }
};

}  // namespace rung
