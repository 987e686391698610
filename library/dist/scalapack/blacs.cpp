#include "library/dist/scalapack/blacs.hpp"

#include <dlfcn.h>
#include <mpi.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace rung::dist {
namespace {

constexpr int get_system_context = 10;  // blacs_get: the communicator of a context's grid

template <class Function>
Function* find(const char* name) {
  auto* function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  if (function == nullptr) {
    throw Error(Status::unavailable,
                std::string("the program has no ") + name + "; link ScaLAPACK, whose BLACS has it");
  }
  return function;
}

MPI_Comm communicator(int context) {
  int handle = 0;
  find<void(int, int, int*)>("Cblacs_get")(context, get_system_context, &handle);
  return find<MPI_Comm(int)>("Cblacs2sys_handle")(handle);
}

/// Identified by processes instead of the context, because context numbers are reused and differ
/// between processes.
struct Kept {
  MPI_Group processes;
  Grid grid;
};

std::vector<Kept>& kept_grids() {
  static std::vector<Kept> grids;
  return grids;
}

}  // namespace

BlacsGrid blacs_grid(int context) {
  BlacsGrid grid{};
  find<void(int, int*, int*, int*, int*)>("Cblacs_gridinfo")(context, &grid.rows, &grid.cols,
                                                             &grid.row, &grid.col);
  return grid;
}

const Grid& grid_of(int context) {
  const BlacsGrid at = blacs_grid(context);
  const MPI_Comm comm = communicator(context);
  MPI_Group processes = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &processes);
  for (const Kept& kept : kept_grids()) {
    int compared = MPI_UNEQUAL;
    MPI_Group_compare(kept.processes, processes, &compared);
    if (compared != MPI_IDENT || kept.grid.rows() != at.rows || kept.grid.cols() != at.cols) {
      continue;
    }
    MPI_Group_free(&processes);
    return kept.grid;
  }
  MPI_Comm by_rows = MPI_COMM_NULL;
  MPI_Comm_split(comm, 0, at.row * at.cols + at.col, &by_rows);
  Grid grid(MPI_Comm_c2f(by_rows), at.rows, at.cols);
  MPI_Comm_free(&by_rows);
  kept_grids().push_back({processes, std::move(grid)});
  return kept_grids().back().grid;
}

void abort_program(int context) {
  find<void(int, int)>("Cblacs_abort")(context, 1);
  std::abort();
}

}  // namespace rung::dist
