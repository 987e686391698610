#pragma once
// BLACS, whose functions the program has with its ScaLAPACK; found at run time, so that
// librung_scalapack needs none of its own.

#include "rung/dist.hpp"

namespace rung::dist {

struct BlacsGrid {
  int rows, cols;
  int row, col;  // -1 for a process that is not in the context
};

/// Throws Error (Status::unavailable) if the program has no BLACS.
BlacsGrid blacs_grid(int context);
/// The grid of a context: made at the first call, which all its processes make together, and kept.
const Grid& grid_of(int context);
/// Ends the program on all processes, as ScaLAPACK does for arguments that it refuses.
[[noreturn]] void abort_program(int context);

}  // namespace rung::dist
