#pragma once
// A tile of an operand that threads load to registers and later store to shared memory, so that the
// next tile can be loaded long before its memory is free.

#include <cstdint>

#include "device/cuda/keywords.cuh"
#include "device/cuda/ptx/st_shared.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/types.cuh"

namespace rung::cuda {

/// EXTENT x BK elements, loaded in vectors along the contiguous direction. In shared memory they
/// have type Out, so that 16-bit elements are widened only once, and are stored as [BK][LD]: the
/// elements of one k-step are contiguous.
template <class In, class Out, int EXTENT, int BK, int LD, int THREADS>
class StagedTile {
 public:
  /// Loads the tile that begins at (e0, k0); zeros outside the operand.
  __device__ __forceinline__ void load(const Operand<In>& operand, std::int64_t e0,
                                       std::int64_t k0) {
    k_major_ = operand.is_k_major();
    const bool inside = e0 + EXTENT <= operand.extent && k0 + BK <= operand.k;
    if (inside && operand.is_aligned()) {
      RUNG_UNROLL
      for (int i = 0; i < COUNT; ++i) {
        const Place at = place(i);
        const In* from = &operand.x(e0 + at.e, k0 + at.k);
        staged_[i] = *reinterpret_cast<const Vector<In, VEC>*>(from);
      }
    } else {
      RUNG_UNROLL
      for (int i = 0; i < COUNT; ++i) {
        const Place at = place(i);
        load_guarded(staged_[i], operand, e0 + at.e, k0 + at.k);
      }
    }
  }

  /// Writes the tile to shared memory. The vectors of an MN-major operand remain vectors: stored
  /// word by word, lanes would be VEC words apart, and VEC of them in each bank.
  __device__ __forceinline__ void store(Out* tile) const {
    RUNG_UNROLL
    for (int i = 0; i < COUNT; ++i) {
      const Place at = place(i);
      Out* const to = tile + at.k * LD + at.e;
      if (k_major_) {
        RUNG_UNROLL
        for (int v = 0; v < VEC; ++v) to[v * LD] = static_cast<Out>(staged_[i].at[v]);
      } else {
        Vector<Out, VEC> vector;
        RUNG_UNROLL
        for (int v = 0; v < VEC; ++v) vector.at[v] = static_cast<Out>(staged_[i].at[v]);
        ptx::st_shared(ptx::cvta_to_shared(to), vector);
      }
    }
  }

 private:
  static constexpr int VEC = Operand<In>::VEC;
  static constexpr int COUNT = EXTENT * BK / (VEC * THREADS);
  static_assert(COUNT * VEC * THREADS == EXTENT * BK, "each thread loads as many vectors");
  static_assert(BK % VEC == 0 && EXTENT % VEC == 0, "no vector spans two rows");
  static_assert(LD % VEC == 0, "every row begins at a vector");

  struct Place {
    int e, k;
  };

  /// The position of this thread's vector i within the tile. Adjacent threads have adjacent vectors
  /// in memory.
  __device__ __forceinline__ Place place(int i) const {
    const int vector = static_cast<int>(threadIdx.x) + i * THREADS;
    if (k_major_) return {vector / (BK / VEC), vector % (BK / VEC) * VEC};
    return {vector % (EXTENT / VEC) * VEC, vector / (EXTENT / VEC)};
  }

  __device__ __forceinline__ void load_guarded(Vector<In, VEC>& to, const Operand<In>& operand,
                                               std::int64_t e, std::int64_t k) const {
    RUNG_UNROLL
    for (int v = 0; v < VEC; ++v) {
      const std::int64_t ev = e + (k_major_ ? 0 : v);
      const std::int64_t kv = k + (k_major_ ? v : 0);
      to.at[v] = ev < operand.extent && kv < operand.k ? operand.x(ev, kv) : In{};
    }
  }

  Vector<In, VEC> staged_[COUNT];
  bool k_major_;
};

}  // namespace rung::cuda
