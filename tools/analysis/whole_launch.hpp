#pragma once
// Estimates a launch that would take too long on the virtual GPU from two samples of one of its
// tiles.

#include <optional>

#include "tools/analysis/metal_setting.hpp"
#include "tools/analysis/samples.hpp"

namespace rung::analysis {

struct WholeLaunch {
  KernelTrace trace;      // with the footprint of the whole problem
  KernelTrace ends;       // the part that does not depend on k
  double dram_bytes = 0;  // loaded and stored; depends on the order of blocks
};

/// Extrapolates counts that depend on k to the problem's k, and multiplies them by the number of
/// tiles. `blocks_of_sm`: resident blocks per SM.
WholeLaunch whole_launch(const GemmSetting& setting, const Samples& samples, int blocks_of_sm);
WholeLaunch whole_launch(const MetalSetting& setting, const Samples& samples, int blocks_of_sm);

/// A product of n x n x k whose launches follow from those of three smaller ones.
struct SampledProduct {
  struct Size {
    std::int64_t m, n, k;
  };
  Size first, deeper, taller;  // deeper has more k, taller has twice the rows
  Size whole;
};

/// A launch of the whole product. Empty if that does not follow, because blocks are not tiles of C:
/// their number changes with k, or does not double with the rows.
std::optional<KernelTrace> whole_launch(const SampledProduct& product, const KernelTrace& first,
                                        const KernelTrace& deeper, const KernelTrace& taller);

/// The number of bytes of A and B that a GEMM loads from DRAM. Blocks run in waves of `resident`,
/// in rows of `columns` tiles of C. The blocks of a wave load the same k at approximately the same
/// time, so each of its rows of A and columns of B is loaded into L2 once. Data of the previous
/// wave is still in L2 if both operands fit.
struct BlockOrder {
  double rows, columns;  // tiles of C
  double resident;       // number of resident blocks
  double row_bytes;      // of A, per row of tiles
  double column_bytes;   // of B, per column of tiles
};
double loaded_from_dram(const BlockOrder& order, double l2_bytes);

}  // namespace rung::analysis
