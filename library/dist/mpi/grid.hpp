#pragma once
// The state of a grid between calls.

#include <mpi.h>

#include <cstdint>

#include "rung/dist_plan.hpp"

namespace rung::dist {

// Not part of the interface, so hidden, unlike its enclosing class.
class __attribute__((visibility("hidden"))) Grid::State {
 public:
  State(MPI_Comm parent, int rows, int cols, double timeout);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  MPI_Comm comm = MPI_COMM_NULL;
  int rows, cols;
  int rank = 0;
  int ranks = 1;
  int ranks_here = 1;  // on this machine
  /// True if a transfer was abandoned: its data could be mistaken for that of a later call.
  bool failed = false;
};

/// A rank's share of half of the available system memory.
std::int64_t memory_share(int ranks_here);
/// The number of threads for Options::threads.
int threads_of(const Options& options, int ranks_here);

}  // namespace rung::dist
