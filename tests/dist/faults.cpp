// Run by mpirun on three ranks with the name of a fault: every surviving rank must get an error
// soon. Each rank prints its error; the exit status is 0 if all is as expected.

#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "rung/dist.hpp"

namespace {

int messages_until_death = -1;  // never

}  // namespace

// Replaces MPI_Isend, so that a rank can die between two messages of a call.
extern "C" __attribute__((visibility("default"))) int MPI_Isend(const void* data, int count,
                                                                MPI_Datatype type, int to, int tag,
                                                                MPI_Comm comm,
                                                                MPI_Request* request) {
  if (messages_until_death-- == 0) std::raise(SIGKILL);
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

using namespace rung;
using namespace rung::dist;

namespace {

constexpr double timeout = 1.5;  // seconds

struct Product {
  Grid grid;
  Layout layout;
  std::vector<double> a, b, c;
  // More than one step, so that a rank can die between them.
  Decomposition steps = {1, 3, 1, 8, true};
  Options options = {.threads = 1, .timeout = 300, .decomposition = &steps};

  explicit Product(std::int64_t n)
      : grid(MPI_Comm_c2f(MPI_COMM_WORLD), 1, 3, 60), layout(blocks_2d(n, n, 1, 3)) {
    const auto elements = static_cast<std::size_t>(n * local_extent(layout.cols, grid.rank()));
    a.assign(elements, 1);
    b.assign(elements, 1);
    c.assign(elements, 5);
  }

  Matrix<double> matrix(std::vector<double>& data) const {
    const std::int64_t rows = layout.rows.extent;
    return {layout, col_major(data.data(), rows, local_extent(layout.cols, grid.rank()), rows)};
  }
  void multiply() { gemm(grid, 1.0, matrix(a), matrix(b), 0.0, matrix(c), options); }
};

/// The error message of a call, or an empty string if it throws none.
template <class Expected>
std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Expected& error) {
    return error.what();
  }
  return "";
}

bool say(const std::string& error) {
  std::printf("error: %s\n", error.c_str());
  std::fflush(stdout);
  return !error.empty();
}

/// Ranks disagree, or one rejects its arguments: an error on all, C unchanged, and the grid remains
/// usable.
bool disagree(Product& product, bool on_this_rank) {
  const double alpha = on_this_rank ? 2 : 1;
  bool right = say(error_of<Error>([&] {
    gemm(product.grid, alpha, product.matrix(product.a), product.matrix(product.b), 0.0,
         product.matrix(product.c), product.options);
  }));
  right &= say(error_of<Error>([&] {
    Matrix<double> a = product.matrix(product.a);
    if (on_this_rank) a.local.data = nullptr;
    gemm(product.grid, 1.0, a, product.matrix(product.b), 0.0, product.matrix(product.c),
         product.options);
  }));
  for (const double element : product.c) right &= element == 5;
  product.multiply();
  for (const double element : product.c) {
    right &= element == static_cast<double>(product.layout.rows.extent);
  }
  return right;
}

/// A rank that never makes the call, and one that dies: an error on all others within the timeout.
bool lose_rank(Product& product, const std::string& fault, bool is_lost) {
  product.multiply();
  product.options.timeout = timeout;
  if (is_lost && fault == "dies") std::raise(SIGKILL);
  if (is_lost && fault == "dies_midway") messages_until_death = 3;
  const double begin = MPI_Wtime();
  if (is_lost && fault == "is_absent") {
    sleep(5);
    return true;
  }
  bool right = say(error_of<CommunicationError>([&] { product.multiply(); }));
  right &= MPI_Wtime() - begin < timeout + 200;  // allows for other work on the machine
  right &= error_of<CommunicationError>([&] { product.multiply(); }) ==
           "an earlier call on this grid failed";
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string fault = argc > 1 ? argv[1] : "";
  Product product(64);
  const bool is_last = rank == 2;
  if (fault == "disagree") {
    const bool right = disagree(product, is_last);
    MPI_Finalize();
    return right ? 0 : 1;
  }
  const bool right = lose_rank(product, fault, is_last);
  std::printf("rank %d is %s\n", rank, right ? "right" : "wrong");
  std::fflush(stdout);
  _exit(right ? 0 : 1);  // MPI_Finalize would wait for the lost rank
}
