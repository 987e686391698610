#pragma once
// A launch that would take too long on the virtual GPU, from two samples of one of its tiles.

#include "analysis/samples.hpp"

namespace rung::analysis {

struct WholeLaunch {
  KernelTrace trace;      // with the footprint of the whole problem
  KernelTrace ends;       // the part of it that does not grow with k
  double dram_bytes = 0;  // loaded and stored, by the order of blocks
};

/// What grows with k is extrapolated to the problem's k; all tiles count as much as the sample.
/// `blocks_of_sm`: resident ones.
WholeLaunch whole_launch(const GemmSetting& setting, const Samples& samples, int blocks_of_sm);

/// Bytes of A and B that a gemm loads from DRAM. Blocks run in waves of `resident`, in rows of
/// `columns` tiles of C. The blocks of a wave load the same k at about the same time, so that L2
/// serves each of its rows of A and columns of B once; what the wave before loaded is still there
/// if both operands fit into L2.
struct BlockOrder {
  double rows, columns;  // tiles of C
  double resident;       // blocks at a time
  double row_bytes;      // of A, for one row of tiles
  double column_bytes;   // of B, for one column of tiles
};
double loaded_from_dram(const BlockOrder& order, double l2_bytes);

}  // namespace rung::analysis
