#pragma once
// The placement of operands before a product and during the multiplication, which determines the
// data to be moved. The dry run and the run use the same schedule, so the dry run counts what the
// run sends.

#include "library/dist/plan/axis.hpp"

namespace rung::dist {

/// A matrix on a grid of consecutive ranks.
struct Placement {
  Layout layout;
  int first_rank = 0;
  int grid_rows = 1;
  int grid_cols = 1;

  bool has(int rank) const {
    return rank >= first_rank && rank < first_rank + grid_rows * grid_cols;
  }
  int rank_at(int grid_row, int grid_col) const {
    return first_rank + grid_row * grid_cols + grid_col;
  }
  int grid_row(int rank) const { return (rank - first_rank) / grid_cols; }
  int grid_col(int rank) const { return (rank - first_rank) % grid_cols; }

  /// A rank's process on the axis of rows and on the axis of columns.
  int row_proc(int rank) const { return layout.transposed ? grid_col(rank) : grid_row(rank); }
  int col_proc(int rank) const { return layout.transposed ? grid_row(rank) : grid_col(rank); }
  int rank_of(int row_proc, int col_proc) const {
    return layout.transposed ? rank_at(col_proc, row_proc) : rank_at(row_proc, col_proc);
  }

  std::int64_t local_rows(int rank) const { return local_extent(layout.rows, row_proc(rank)); }
  std::int64_t local_cols(int rank) const { return local_extent(layout.cols, col_proc(rank)); }
};

/// The limit on grids with more than one rank: each piece of two panels has its own tag.
inline constexpr std::int64_t max_panel = 4096;

/// A range of k, and the grid that multiplies it.
struct Layer {
  std::int64_t k_begin;
  std::int64_t k_extent;
  /// Where the range's columns of A and rows of B are when the call starts.
  Placement a_given, b_given;
  /// Where they are multiplied. Rows of A and columns of B are distributed like those of C.
  Placement a, b, c;
};

/// The placement of a caller's matrix, on the grid of the problem's C.
Placement given(const Problem& problem, const Layout& layout);
/// True if A (or B) can be used in place.
bool stays_a(const Problem& problem, const Decomposition& grid);
bool stays_b(const Problem& problem, const Decomposition& grid);

Layer layer(const Problem& problem, const Decomposition& grid, int index);
/// The layer whose grid contains the rank; -1 if none does.
int layer_of(const Decomposition& grid, int rank);

/// Throws rung::Error (Status::invalid_argument), with one line that names the field.
void check(const Problem& problem);
void check(const Problem& problem, const Decomposition& grid);

}  // namespace rung::dist
