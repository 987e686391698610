#pragma once
// What a grid keeps between calls.

#include <mpi.h>

#include <cstdint>

#include "rung/dist.hpp"

namespace rung::dist {

// Not of the interface: hidden, unlike what it is nested in.
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
  /// A transfer was given up: what arrives later would be taken for another call's.
  bool failed = false;
};

/// Half of the memory that the system has available, shared by its ranks.
std::int64_t memory_share(int ranks_here);
/// The meaning of Options::threads.
int threads_of(const Options& options, int ranks_here);

}  // namespace rung::dist
