#pragma once
// Layouts, plans and grids of processes: all of rung/dist.hpp that has no matrices.

#include <cstdint>
#include <memory>
#include <string>

#include "rung/error.hpp"
#include "rung/export.hpp"

namespace rung::dist {

/// The block-cyclic distribution of indices [0, extent) of one dimension over `procs` processes.
/// Blocks go to the processes in turn, starting with process `source`. The first block lacks its
/// first `skipped` indices, as in a submatrix.
struct Axis {
  std::int64_t extent = 0;
  std::int64_t block = 1;    // at least 1
  int procs = 1;             // at least 1
  int source = 0;            // 0 to procs - 1
  std::int64_t skipped = 0;  // 0 to block - 1

  bool operator==(const Axis&) const = default;
};

/// The distribution of a matrix over a process grid. `rows` distributes matrix rows over grid rows
/// and `cols` distributes columns over grid columns. If transposed, matrix rows go to grid columns
/// and matrix columns to grid rows.
struct Layout {
  Axis rows;
  Axis cols;
  bool transposed = false;

  bool operator==(const Layout&) const = default;
};

/// ScaLAPACK's block-cyclic layout: blocks of block_rows x block_cols, starting at process (0, 0).
RUNG_API Layout block_cyclic(std::int64_t rows, std::int64_t cols, std::int64_t block_rows,
                             std::int64_t block_cols, int grid_rows, int grid_cols);
/// One block per process: the smallest equal blocks that cover the matrix.
RUNG_API Layout blocks_2d(std::int64_t rows, std::int64_t cols, int grid_rows, int grid_cols);
/// The layout of the transposed matrix in the same memory.
RUNG_API Layout transposed(const Layout& layout);

/// The number of indices of the axis that process `proc` holds. They are consecutive in its memory.
RUNG_API std::int64_t local_extent(const Axis& axis, int proc);
/// The process that holds an index, and its position among the indices of that process.
struct Position {
  int proc;
  std::int64_t local;
};
RUNG_API Position position(const Axis& axis, std::int64_t index);

/// C = A B over `ranks` ranks. The three layouts share one grid of at most `ranks` processes;
/// process (row, col) is rank row * columns + col. C's layout must not be transposed.
struct Problem {
  Layout a, b, c;
  int element_bytes = 8;  // of A and B
  int result_bytes = 8;   // of C
  int ranks = 1;
};

/// The model's constants for a rank and its full-duplex link.
struct Machine {
  double latency = 5e-6;          // seconds per message
  double bandwidth = 10e9;        // bytes per second, in each direction
  double flops = 50e9;            // FLOP/s of a local product
  std::int64_t memory = 1 << 30;  // bytes available on a rank for copies of operands
};

/// The decomposition of the product. Each layer computes a range of k on its own rows x cols grid,
/// in steps of `panel` k-indices.
struct Decomposition {
  int rows = 1;
  int cols = 1;
  int layers = 1;
  std::int64_t panel = 512;
  /// True if the grid is the caller's and sums are stored to C directly. Otherwise each layer
  /// accumulates its own copy of C, and the copies are reduced at the end.
  bool in_place = true;

  bool operator==(const Decomposition&) const = default;
};

struct Traffic {
  std::int64_t sent = 0;      // bytes
  std::int64_t received = 0;  // bytes

  bool operator==(const Traffic&) const = default;
};

/// Bytes that one rank sends and receives. In addition, each call validates its arguments with one
/// all-reduce of 1 KiB.
struct RankTraffic {
  Traffic moves;  // redistribution of A and B before the product
  Traffic summa;  // panel broadcasts
  Traffic sums;   // reduction of copies of C

  Traffic total() const {
    return {moves.sent + summa.sent + sums.sent, moves.received + summa.received + sums.received};
  }
};

/// The model's prediction in seconds.
struct ExpectedTime {
  double moves = 0;    // redistribution of A and B, before the first product
  double fill = 0;     // until the first panel has reached the last rank
  double steps = 0;    // for each step the maximum of computation and communication
  double sums = 0;     // reduction of C, after the last product
  double product = 0;  // local products alone

  double total() const { return moves + fill + steps + sums; }
};

struct Plan {
  Problem problem;
  Decomposition grid;
  bool moves_a = false;  // A must be redistributed
  bool moves_b = false;
  std::int64_t steps = 0;   // of each layer
  std::int64_t copies = 0;  // bytes of copies and buffers, maximum over all ranks
  ExpectedTime time;
};

/// The decomposition with the shortest predicted time among those whose copies fit in memory.
/// Throws rung::Error (Status::invalid_argument) if the layouts are inconsistent.
RUNG_API Plan make_plan(const Problem& problem, const Machine& machine);
/// The plan for the given decomposition. Also throws rung::Error if it needs more than `ranks`
/// ranks.
RUNG_API Plan make_plan(const Problem& problem, const Machine& machine, const Decomposition& grid);

/// The exact number of bytes that `rank` sends and receives under the plan. Communicates nothing.
RUNG_API RankTraffic dry_run(const Plan& plan, int rank);

/// A lower bound on the bytes that `rank` sends and receives, given the elements of A, B and C that
/// it holds and the part of the product that it computes: every operand element that it lacks and
/// every sum that it does not keep.
RUNG_API std::int64_t least_for_layout(const Plan& plan, int rank);

/// A lower bound on the bytes that some rank must send or receive, for any algorithm with m n k
/// products that begins and ends with one evenly distributed copy of each matrix. It is the larger
/// of two bounds, counted in elements of A:
///
/// - For any memory size: Al Daas, Ballard, Grigori, Kumar and Rouse, "Tight memory-independent
///   parallel matrix multiplication communication lower bounds" (SPAA 2022).
/// - With M words per rank: mnk / (2 sqrt(2) p sqrt(M)) - M. Irony, Toledo and Tiskin,
///   "Communication lower bounds for distributed-memory matrix multiplication" (J. Parallel
///   Distrib. Comput. 64, 2004). M is a rank's share of the operands plus the memory for copies.
RUNG_API double lower_bound(const Problem& problem, const Machine& machine);

/// A rank failed, gave up or did not answer within the timeout. C is undefined on all ranks, and
/// every later call on the grid throws immediately.
class RUNG_API CommunicationError : public Error {
 public:
  explicit CommunicationError(const std::string& message) : Error(Status::unavailable, message) {}
};

/// Ranks 0 to rows * cols - 1 of an MPI communicator, arranged as a grid: rank row * cols + col is
/// process (row, col). The remaining ranks hold no data but take part in the multiplication.
class RUNG_API Grid {
 public:
  /// comm: the communicator as a Fortran handle, MPI_Comm_c2f(comm). The constructor is collective:
  /// every rank passes the same arguments. It duplicates the communicator, so that its messages
  /// cannot mix with the program's. timeout: the maximum time in seconds to wait for other ranks.
  /// Throws Error (Status::invalid_argument) on every rank if the grid does not fit or the ranks
  /// disagree, and CommunicationError.
  Grid(int comm, int rows, int cols, double timeout = 600);
  /// Frees the duplicate. Every rank must destroy its grid before MPI_Finalize.
  ~Grid();
  Grid(Grid&&) noexcept;
  Grid& operator=(Grid&&) noexcept;

  int rows() const;
  int cols() const;
  int rank() const;
  /// The position on the grid; -1 for a rank outside the grid.
  int row() const;
  int col() const;

  class State;
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// `threads` and `traffic` may differ between ranks; everything else must be equal.
struct Options {
  /// Threads of the local products. 0: the processors that the rank may run on; if these are all of
  /// the machine's, an equal share of them for each rank there; at most rung::get_num_threads().
  int threads = 0;
  /// Seconds without an answer of another rank until the call throws. More than a local product
  /// takes.
  double timeout = 600;
  /// Constants of the model that chooses the decomposition. memory 0 (default): half of the
  /// available system memory, divided among the ranks of a machine; the minimum over all ranks
  /// applies.
  Machine machine = {.memory = 0};
  /// Overrides the decomposition.
  const Decomposition* decomposition = nullptr;
  /// If not null, receives the bytes that this rank actually sent and received.
  RankTraffic* traffic = nullptr;
};

}  // namespace rung::dist
