#pragma once
// BLACS, which the program has together with its ScaLAPACK. Found at run time, so that
// librung_scalapack does not link it.

#include "rung/dist_plan.hpp"

namespace rung::dist {

struct BlacsGrid {
  int rows, cols;
  int row, col;  // -1 for a process outside the context
};

/// Throws Error (Status::unavailable) if the program has no BLACS.
BlacsGrid blacs_grid(int context);
/// The grid of a context, created by the first (collective) call and kept.
const Grid& grid_of(int context);
/// Ends the program on all processes, as ScaLAPACK does for invalid arguments.
[[noreturn]] void abort_program(int context);

}  // namespace rung::dist
