#pragma once
// Matrix multiplication over the ranks of an MPI program: librung_dist. A plan of it needs no MPI.

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "rung/cuda.hpp"
#include "rung/error.hpp"
#include "rung/export.hpp"
#include "rung/matrix.hpp"
#include "rung/types.hpp"

namespace rung::dist {

/// How the indices 0 to extent - 1 of a dimension are dealt to processes: in blocks, in turn, to
/// process `source` first. The first block lacks its first `skipped` indices, as in a submatrix.
struct Axis {
  std::int64_t extent = 0;
  std::int64_t block = 1;    // at least 1
  int procs = 1;             // at least 1
  int source = 0;            // 0 to procs - 1
  std::int64_t skipped = 0;  // 0 to block - 1

  bool operator==(const Axis&) const = default;
};

/// A matrix over a grid of processes. Rows are dealt to the rows of the grid and columns to its
/// columns; if transposed, rows to the columns of the grid and columns to its rows.
struct Layout {
  Axis rows;
  Axis cols;
  bool transposed = false;

  bool operator==(const Layout&) const = default;
};

/// ScaLAPACK's layout: blocks of block_rows x block_cols in turn, beginning with process (0, 0).
RUNG_API Layout block_cyclic(std::int64_t rows, std::int64_t cols, std::int64_t block_rows,
                             std::int64_t block_cols, int grid_rows, int grid_cols);
/// One block for each process: the smallest equal blocks that suffice.
RUNG_API Layout blocks_2d(std::int64_t rows, std::int64_t cols, int grid_rows, int grid_cols);
/// The layout of the transposed matrix in the same memory.
RUNG_API Layout transposed(const Layout& layout);

/// How many indices of the axis process `proc` holds. They are consecutive in its memory.
RUNG_API std::int64_t local_extent(const Axis& axis, int proc);
/// The process that holds an index, and the position among that process's indices.
struct Position {
  int proc;
  std::int64_t local;
};
RUNG_API Position position(const Axis& axis, std::int64_t index);

/// C = A B over `ranks` ranks. The three layouts are on one grid of at most `ranks` processes;
/// process (row, col) of it is rank row * columns + col. C's layout must not be transposed.
struct Problem {
  Layout a, b, c;
  int element_bytes = 8;  // of A and B
  int result_bytes = 8;   // of C
  int ranks = 1;
};

/// The model's constants for one rank and its link. The link sends and receives at the same time.
struct Machine {
  double latency = 5e-6;          // seconds per message
  double bandwidth = 10e9;        // bytes per second, in each direction
  double flops = 50e9;            // of a local product, per second
  std::int64_t memory = 1 << 30;  // bytes that a rank may use for copies of operands
};

/// How the product is divided: into layers, each of which computes a range of k on a grid of its
/// own, in steps of `panel` indices of k.
struct Decomposition {
  int rows = 1;
  int cols = 1;
  int layers = 1;
  std::int64_t panel = 512;
  /// The grid is the caller's, and sums are stored to C directly. Otherwise every layer has a copy
  /// of C, and the copies are summed at the end.
  bool in_place = true;

  bool operator==(const Decomposition&) const = default;
};

struct Traffic {
  std::int64_t sent = 0;      // bytes
  std::int64_t received = 0;  // bytes

  bool operator==(const Traffic&) const = default;
};

/// Bytes of one rank. Besides these, a call agrees on its arguments in one all-reduce of 1 KiB.
struct RankTraffic {
  Traffic moves;  // of A and B, to where they are multiplied
  Traffic summa;  // of panels
  Traffic sums;   // of copies of C, to where C is

  Traffic total() const {
    return {moves.sent + summa.sent + sums.sent, moves.received + summa.received + sums.received};
  }
};

/// Seconds that the model expects.
struct ExpectedTime {
  double moves = 0;    // A and B, before the first product
  double fill = 0;     // until the first panel has reached the last rank
  double steps = 0;    // of each step the longer of product and panels
  double sums = 0;     // of C, after the last product
  double product = 0;  // the local products alone

  double total() const { return moves + fill + steps + sums; }
};

struct Plan {
  Problem problem;
  Decomposition grid;
  bool moves_a = false;  // A is not where it is multiplied
  bool moves_b = false;
  std::int64_t steps = 0;   // of each layer
  std::int64_t copies = 0;  // bytes of copies and buffers, the most of any rank
  ExpectedTime time;
};

/// The decomposition with the least expected time among those whose copies fit. Throws rung::Error
/// (Status::invalid_argument) for layouts that do not fit each other.
RUNG_API Plan make_plan(const Problem& problem, const Machine& machine);
/// The plan of that decomposition. Throws likewise if it needs more than `ranks` ranks.
RUNG_API Plan make_plan(const Problem& problem, const Machine& machine, const Decomposition& grid);

/// The dry run: exactly what that rank sends and receives.
RUNG_API RankTraffic dry_run(const Plan& plan, int rank);

/// Bytes that a rank has to send and receive at least, given which elements of A, B and C it holds
/// and which part of the product it computes: any operand it lacks, and any sum it does not keep.
RUNG_API std::int64_t least_for_layout(const Plan& plan, int rank);

/// Bytes that at least one rank has to send or receive, in any algorithm with m n k products that
/// begins and ends with one copy of each matrix, evenly spread: the larger of two bounds, on words
/// of the size of A's elements.
///
/// - With any memory: Al Daas, Ballard, Grigori, Kumar and Rouse, "Tight memory-independent
///   parallel matrix multiplication communication lower bounds" (SPAA 2022).
/// - With M words per rank: mnk / (2 sqrt(2) p sqrt(M)) - M. Irony, Toledo and Tiskin,
///   "Communication lower bounds for distributed-memory matrix multiplication" (J. Parallel
///   Distrib. Comput. 64, 2004). M is the share of the operands and the memory for
///   copies.
RUNG_API double lower_bound(const Problem& problem, const Machine& machine);

/// A rank died, gave up or did not answer in time. C is undefined on all ranks, and the grid is of
/// no further use: every later call on it throws at once.
class RUNG_API CommunicationError : public Error {
 public:
  explicit CommunicationError(const std::string& message) : Error(Status::unavailable, message) {}
};

/// Ranks 0 to rows * cols - 1 of an MPI communicator as a grid; rank row * cols + col is process
/// (row, col). The other ranks of the communicator hold nothing, but help to multiply.
class RUNG_API Grid {
 public:
  /// comm: the communicator as its Fortran handle, MPI_Comm_c2f(comm). Every rank of it makes the
  /// grid, with the same arguments; it is duplicated, so that messages cannot mix with the
  /// program's. timeout: the longest time in seconds to wait for the other ranks. Throws Error
  /// (Status::invalid_argument) on every rank if the grid does not fit or ranks disagree, and
  /// CommunicationError.
  Grid(int comm, int rows, int cols, double timeout = 600);
  /// Frees the duplicate: every rank destroys its grid before MPI_Finalize.
  ~Grid();
  Grid(Grid&&) noexcept;
  Grid& operator=(Grid&&) noexcept;

  int rows() const;
  int cols() const;
  int rank() const;
  /// -1 for a rank that is not on the grid.
  int row() const;
  int col() const;

  class State;
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

/// A matrix over the ranks of a grid. `local` views this rank's part: local_extent(rows, ...) x
/// local_extent(cols, ...) elements, in the order of their indices; empty where it has none.
template <class T>
struct Matrix {
  Layout layout;
  MatrixView<T> local;

  /// To Matrix<const T>.
  template <class U>
    requires(!std::is_const_v<T> && std::is_same_v<U, const T>)
  operator Matrix<U>() const {
    return {layout, local};
  }
};

/// The transposed matrix, in the same memory.
template <class T>
Matrix<T> transposed(const Matrix<T>& matrix) {
  return {transposed(matrix.layout), rung::transposed(matrix.local)};
}

/// All but `threads` and `traffic` must be the same on all ranks.
struct Options {
  /// Threads of the local products. 0: the processors that the rank may run on; if these are all of
  /// the machine's, an equal share of them for each rank there.
  int threads = 0;
  /// Seconds without an answer of another rank until the call throws. More than a local product
  /// takes.
  double timeout = 600;
  /// What the model assumes; it chooses how the product is divided. memory 0: half of what the
  /// system has available, shared by the ranks of a machine; the least of all ranks counts.
  Machine machine = {.memory = 0};
  /// Divides the product like this instead.
  const Decomposition* decomposition = nullptr;
  /// Receives what this rank sent and received, counted where messages are sent.
  RankTraffic* traffic = nullptr;
};

/// C = alpha A B + beta C. Every rank of the grid's communicator calls it. Transposed operands,
/// such as transposed(a), and operands that are dealt otherwise than C are moved first; C is on the
/// grid in any layout. alpha, beta, k = 0, NaN, types and errors of rounding are as in rung::gemm.
/// Only the calling thread calls MPI. The program initialises it, with MPI_THREAD_FUNNELED if it
/// has threads.
///
/// Ranks first agree on the arguments. If these differ or are invalid on any rank, every rank
/// throws Error (Status::invalid_argument), and C is unchanged. Throws CommunicationError, with C
/// undefined, if another rank fails later. std::bad_alloc on one rank appears on the others as
/// CommunicationError.
RUNG_API void gemm(const Grid& grid, float alpha, const Matrix<const float>& a,
                   const Matrix<const float>& b, float beta, const Matrix<float>& c,
                   const Options& options = {});
RUNG_API void gemm(const Grid& grid, double alpha, const Matrix<const double>& a,
                   const Matrix<const double>& b, double beta, const Matrix<double>& c,
                   const Options& options = {});
RUNG_API void gemm(const Grid& grid, float alpha, const Matrix<const bfloat16>& a,
                   const Matrix<const bfloat16>& b, float beta, const Matrix<float>& c,
                   const Options& options = {});

/// The same with local parts in the memory of a GPU, a rank's own or one that several share: `local` views
/// pointers as rung/cuda.hpp has them, of the calling thread's current context. The product follows the work
/// that the stream has so far, and C is there when the call returns. Messages travel by memory of the CPU,
/// so that any MPI will do. Options::threads is not used, and Machine's memory is also half of what the
/// GPU has left. Throws also what gemm() of rung/cuda.hpp throws; the other ranks then get
/// CommunicationError.
RUNG_API void gemm(const Grid& grid, float alpha, const Matrix<const float>& a,
                   const Matrix<const float>& b, float beta, const Matrix<float>& c,
                   CudaStream stream, const Options& options = {});
RUNG_API void gemm(const Grid& grid, double alpha, const Matrix<const double>& a,
                   const Matrix<const double>& b, double beta, const Matrix<double>& c,
                   CudaStream stream, const Options& options = {});
RUNG_API void gemm(const Grid& grid, float alpha, const Matrix<const bfloat16>& a,
                   const Matrix<const bfloat16>& b, float beta, const Matrix<float>& c,
                   CudaStream stream, const Options& options = {});

}  // namespace rung::dist
