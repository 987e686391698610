/* A product over all ranks of an MPI program.

   make dist && \
   mpicxx -std=c++20 docs/examples/dist_gemm.cpp -Iinclude -Lbuild/library/dist -Lbuild/library \
     -lrung_dist -lrung -o dist_gemm && \
   LD_LIBRARY_PATH=build/library/dist:build/library mpirun -np 2 ./dist_gemm 4000 */

#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <rung/dist.hpp>
#include <vector>

namespace dist = rung::dist;

/// A rows x cols matrix in blocks of 64 x 64, of which this rank holds some.
struct Spread {
  dist::Layout layout;
  std::int64_t local_rows, local_cols;
  std::vector<double> memory;

  Spread(const dist::Grid& grid, std::int64_t n, double value)
      : layout(dist::block_cyclic(n, n, 64, 64, grid.rows(), grid.cols())),
        local_rows(dist::local_extent(layout.rows, grid.row())),
        local_cols(dist::local_extent(layout.cols, grid.col())),
        memory(static_cast<std::size_t>(local_rows * local_cols), value) {}

  dist::Matrix<double> matrix() {
    return {layout, rung::row_major(memory.data(), local_rows, local_cols)};
  }
};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : 500;
  try {
    int rows = static_cast<int>(std::sqrt(ranks));
    while (ranks % rows != 0) --rows;
    const dist::Grid grid(MPI_Comm_c2f(MPI_COMM_WORLD), rows, ranks / rows);
    Spread a(grid, n, 1), b(grid, n, 2), c(grid, n, 0);
    dist::RankTraffic traffic;

    const double begin = MPI_Wtime();
    dist::gemm(grid, 1.0, a.matrix(), transposed(b.matrix()), 0.0, c.matrix(),
               {.traffic = &traffic});
    const double seconds = MPI_Wtime() - begin;
    if (rank == 0) {
      std::printf("C(0, 0) is %g; rank 0 sent %lld bytes in %.3g s\n", c.memory.at(0),
                  static_cast<long long>(traffic.total().sent), seconds);
    }
  } catch (const rung::Error& error) {  // the other ranks have one, too
    std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}
