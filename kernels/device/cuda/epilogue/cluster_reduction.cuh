#pragma once
// The reduction of split-K in a cluster whose blocks share a tile: their partial sums stay in shared
// memory, and each block reads those of the others there (distributed shared memory). It adds in a
// fixed order, so the result has the same bits every time.

#include <cstdint>

#include "device/cuda/epilogue/partial_sums.cuh"
#include "device/cuda/ptx/basic.cuh"
#include "device/cuda/ptx/sm_90.cuh"

namespace rung::cuda {

/// The partial sums of one warpgroup in each block, 64 rows of 8 J columns from (row, col) of C on.
template <int J, class Sum = float>
class ClusterReduction {
  using Sums = PartialSums<J, Sum>;
  using Quad = typename Sums::Quad;
  static constexpr int MAX_PARTS = 8;

 public:
  /// `memory`: in the shared memory of this block, room for the sums of several warpgroups.
  template <class In, class Out>
  __device__ __forceinline__ ClusterReduction(const Gemm<In, Out>& g, void* memory, unsigned group,
                                              std::int64_t row, std::int64_t col)
      : sums_(g, row, col), mine_(static_cast<Quad*>(memory) + group * Sums::COUNT) {}

  /// Writes the partial sums. A barrier of the cluster must follow.
  __device__ __forceinline__ void put(const Sum (&acc)[J][4]) const { sums_.put(mine_, acc); }

  /// Adds up and stores this block's share. A barrier of the cluster must follow.
  template <class In, class Out>
  __device__ __forceinline__ void store(const Gemm<In, Out>& g) const {
    const int parts = static_cast<int>(ptx::cluster_nctarank());
    const int part = static_cast<int>(ptx::cluster_ctarank());
    const int end = sums_.count() * (part + 1) / parts;
    for (int i = sums_.count() * part / parts + static_cast<int>(threadIdx.x) % 128; i < end;
         i += 128) {
      const std::uint32_t here = ptx::cvta_to_shared(mine_ + i);
      Quad theirs[MAX_PARTS] = {};
      RUNG_UNROLL
      for (int p = 0; p < MAX_PARTS; ++p) {
        if (p < parts) ptx::ld_shared_cluster_v4(theirs[p].at, ptx::mapa_shared_cluster(here, p));
      }
      Quad total = theirs[0];
      RUNG_UNROLL
      for (int p = 1; p < MAX_PARTS; ++p) total = Sums::sum(total, theirs[p]);
      sums_.store(g, i, total);
    }
  }

 private:
  Sums sums_;
  Quad* mine_;
};

}  // namespace rung::cuda
