// A distributed product: ranks agree, operands are redistributed, SUMMA runs in each layer, and
// copies of C are summed.

#include <deque>
#include <optional>
#include <string>

#include "library/dist/mpi/agreement.hpp"
#include "library/dist/mpi/cpu_memory.hpp"
#include "library/dist/mpi/gpu_memory.hpp"
#include "library/dist/mpi/grid.hpp"
#include "library/dist/mpi/move.hpp"
#include "library/dist/mpi/summa.hpp"
#include "rung/dist.hpp"

namespace rung::dist {
namespace {

template <class T>
void check(const std::string& name, const Matrix<T>& matrix, const Placement& at, int rank) {
  const auto refuse = [&](const std::string& what) {
    throw Error(Status::invalid_argument, name + ".local " + what);
  };
  const MatrixView<T>& local = matrix.local;
  const bool holds = at.has(rank);
  const std::int64_t rows = holds ? at.local_rows(rank) : 0;
  const std::int64_t cols = holds ? at.local_cols(rank) : 0;
  if (rows == 0 || cols == 0) return;  // the view is not read
  if (local.rows != rows || local.cols != cols) {
    refuse("is " + std::to_string(local.rows) + " x " + std::to_string(local.cols) +
           "; by its layout rank " + std::to_string(rank) + " has " + std::to_string(rows) + " x " +
           std::to_string(cols));
  }
  const std::int64_t least = local.order == Order::row_major ? cols : rows;
  if (local.ld < least) {
    refuse("has a leading dimension of " + std::to_string(local.ld) + "; it must be at least " +
           std::to_string(least));
  }
  if (local.data == nullptr) refuse("is null");
}

template <class In, class Out>
struct Call {
  Grid::State& grid;
  Out alpha;
  Matrix<const In> a, b;
  Out beta;
  Matrix<Out> c;
  const Options& options;
  Problem problem = {a.layout, b.layout, c.layout, sizeof(In), sizeof(Out), grid.ranks};

  template <class Memory>
  std::optional<std::string> refusal() const {
    try {
      Memory::check();
      if (options.threads < 0) {
        return "threads is " + std::to_string(options.threads) + "; it must be at least 0";
      }
      if (options.decomposition != nullptr) {
        dist::check(problem, *options.decomposition);
      } else {
        dist::check(problem);
      }
      if (c.layout.rows.procs != grid.rows || c.layout.cols.procs != grid.cols) {
        return "the matrices are on a grid of " + std::to_string(c.layout.rows.procs) + " x " +
               std::to_string(c.layout.cols.procs) + ", but the call's is " +
               std::to_string(grid.rows) + " x " + std::to_string(grid.cols);
      }
      check("a", a, given(problem, a.layout), grid.rank);
      check("b", b, given(problem, b.layout), grid.rank);
      check("c", c, given(problem, c.layout), grid.rank);
    } catch (const Error& error) {
      return error.what();
    }
    return std::nullopt;
  }

  Agreement agreement() const {
    Agreement all;
    all.add("the bytes of an element", std::int64_t{sizeof(In)});
    all.add("the bytes of a result", std::int64_t{sizeof(Out)});
    all.add("alpha", static_cast<double>(alpha));
    all.add("beta", static_cast<double>(beta));
    all.add("a", a.layout);
    all.add("b", b.layout);
    all.add("c", c.layout);
    all.add("machine.latency", options.machine.latency);
    all.add("machine.bandwidth", options.machine.bandwidth);
    all.add("machine.flops", options.machine.flops);
    const Decomposition& grid_of =
        options.decomposition != nullptr ? *options.decomposition : Decomposition{.rows = 0};
    all.add("decomposition.rows", std::int64_t{grid_of.rows});
    all.add("decomposition.cols", std::int64_t{grid_of.cols});
    all.add("decomposition.layers", std::int64_t{grid_of.layers});
    all.add("decomposition.panel", grid_of.panel);
    all.add("decomposition.in_place", std::int64_t{grid_of.in_place});
    return all;
  }

  template <class Memory>
  Plan plan(Transfers& transfers) const {
    const std::optional<std::string> refused = refusal<Memory>();
    Machine machine = options.machine;
    if (machine.memory == 0 && !refused) {
      machine.memory = std::min(memory_share(grid.ranks_here), Memory::available());
    }
    machine.memory = agreement().reach(transfers, grid.comm, refused, machine.memory);
    return options.decomposition != nullptr ? make_plan(problem, machine, *options.decomposition)
                                            : make_plan(problem, machine);
  }

  /// Allocates a rank's part of a placement on the CPU, for redistributed operands.
  template <class T, class Memory>
  MatrixView<T> allocate(Memory& memory, const Placement& at) const {
    const std::int64_t rows = at.local_rows(grid.rank), cols = at.local_cols(grid.rank);
    return tight(memory.template for_messages<T>(rows * cols), rows, cols);
  }

  template <class T>
  MatrixView<T> local(const Matrix<T>& matrix) const {
    const Placement at = given(problem, matrix.layout);
    const bool holds = at.has(grid.rank);
    const std::int64_t rows = holds ? at.local_rows(grid.rank) : 0;
    const std::int64_t cols = holds ? at.local_cols(grid.rank) : 0;
    if (rows == 0 || cols == 0) return tight<T>(nullptr, rows, cols);  // ignores the caller's view
    return matrix.local;
  }

  // The columns of this rank's part of an operand that belong to a layer's range of k.
  MatrixView<const In> columns_of(const Layer& at) const {
    if (!at.a_given.has(grid.rank)) return tight<const In>(nullptr, 0, 0);
    const int proc = at.a_given.col_proc(grid.rank);
    return columns(local(a), local_before(a.layout.cols, proc, at.k_begin),
                   at.a_given.local_cols(grid.rank));
  }

  MatrixView<const In> rows_of(const Layer& at) const {
    if (!at.b_given.has(grid.rank)) return tight<const In>(nullptr, 0, 0);
    const int proc = at.b_given.row_proc(grid.rank);
    return rows(local(b), local_before(b.layout.rows, proc, at.k_begin),
                at.b_given.local_rows(grid.rank));
  }

  void run_on_cpu() const { run<CpuMemory>(threads_of(options, grid.ranks_here)); }
  void run_on_gpu(CudaStream stream) const { run<GpuMemory>(stream); }

  /// Runs with the memory of a number of threads or of a stream.
  template <class Memory, class Of>
  void run(const Of& of) const {
    if (grid.failed) throw CommunicationError("an earlier call on this grid failed");
    RankTraffic traffic;
    Transfers transfers(grid, options.timeout);
    const Plan chosen = plan<Memory>(transfers);
    Memory memory(transfers, of);
    const int mine = layer_of(chosen.grid, grid.rank);

    transfers.count(traffic.moves);
    MatrixView<const In> left = tight<const In>(nullptr, 0, 0), right = left;
    move_operands(transfers, memory, chosen, mine, left, right);

    MatrixView<Out> sums = local(c);
    const bool in_place = chosen.grid.in_place;
    transfers.count(traffic.summa);
    if (mine >= 0) {
      const Layer at = layer(problem, chosen.grid, mine);
      if (!in_place) {
        sums =
            memory.template allocate<Out>(at.c.local_rows(grid.rank), at.c.local_cols(grid.rank));
      }
      summa(transfers, memory, at, chosen.grid.panel, alpha, left, right, in_place ? beta : Out{},
            sums);
    }
    transfers.count(traffic.sums);
    if (!in_place) add_copies(transfers, memory, chosen, mine, sums);
    memory.finish();
    transfers.finish();
    if (options.traffic != nullptr) *options.traffic = traffic;
  }

  template <class Memory>
  void move_operands(Transfers& transfers, Memory& memory, const Plan& chosen, int mine,
                     MatrixView<const In>& left, MatrixView<const In>& right) const {
    std::deque<Move<In>> moves;
    for (int index = 0; index < chosen.grid.layers; ++index) {
      const Layer at = layer(problem, chosen.grid, index);
      if (!chosen.moves_a && index == mine) left = columns_of(at);
      if (!chosen.moves_b && index == mine) right = rows_of(at);
      if (chosen.moves_a) {
        const auto to = index == mine ? allocate<In>(memory, at.a) : tight<In>(nullptr, 0, 0);
        moves.emplace_back(transfers, move_a, at.a_given, memory.on_cpu(columns_of(at)), at.a, to);
        if (index == mine) left = to;
      }
      if (chosen.moves_b) {
        const auto to = index == mine ? allocate<In>(memory, at.b) : tight<In>(nullptr, 0, 0);
        moves.emplace_back(transfers, move_b, at.b_given, memory.on_cpu(rows_of(at)), at.b, to);
        if (index == mine) right = to;
      }
    }
    for (Move<In>& move : moves) {
      move.finish([](In& to, const In& from) { to = from; });
    }
    if (chosen.moves_a && mine >= 0) left = memory.from_cpu(left);
    if (chosen.moves_b && mine >= 0) right = memory.from_cpu(right);
  }

  // Adds copies in the order of layers, independent of the order in which messages arrive, so that
  // results are reproducible.
  template <class Memory>
  void add_copies(Transfers& transfers, Memory& memory, const Plan& chosen, int mine,
                  const MatrixView<Out>& local_sums) const {
    const MatrixView<Out> to = memory.on_cpu(local(c));
    const MatrixView<Out> sums = mine >= 0 ? memory.on_cpu(local_sums) : tight<Out>(nullptr, 0, 0);
    const Placement home = given(problem, c.layout);
    std::deque<Move<Out>> moves;
    for (int index = 0; index < chosen.grid.layers; ++index) {
      const MatrixView<const Out> from = index == mine ? sums : tight<Out>(nullptr, 0, 0);
      moves.emplace_back(transfers, sum_c, layer(problem, chosen.grid, index).c, from, home, to);
    }
    for (std::int64_t col = 0; col < to.cols; ++col) {
      for (std::int64_t row = 0; row < to.rows; ++row) {
        Out& value = element(to, row, col);
        value = beta == Out{} ? Out{} : beta * value;
      }
    }
    for (Move<Out>& move : moves) {
      move.finish([](Out& value, const Out& from) { value += from; });
    }
    memory.write_back(to, local(c));
  }
};

/// The call in the layout of C's grid: the transposed problem if C is transposed.
template <class In, class Out>
Call<In, Out> call_of(const Grid& grid, Out alpha, const Matrix<const In>& a,
                      const Matrix<const In>& b, Out beta, const Matrix<Out>& c,
                      const Options& options) {
  if (!c.layout.transposed) return {grid.state(), alpha, a, b, beta, c, options};
  return {grid.state(), alpha, transposed(b), transposed(a), beta, transposed(c), options};
}

}  // namespace

void gemm(const Grid& grid, float alpha, const Matrix<const float>& a, const Matrix<const float>& b,
          float beta, const Matrix<float>& c, const Options& options) {
  call_of(grid, alpha, a, b, beta, c, options).run_on_cpu();
}

void gemm(const Grid& grid, double alpha, const Matrix<const double>& a,
          const Matrix<const double>& b, double beta, const Matrix<double>& c,
          const Options& options) {
  call_of(grid, alpha, a, b, beta, c, options).run_on_cpu();
}

void gemm(const Grid& grid, float alpha, const Matrix<const bfloat16>& a,
          const Matrix<const bfloat16>& b, float beta, const Matrix<float>& c,
          const Options& options) {
  call_of(grid, alpha, a, b, beta, c, options).run_on_cpu();
}

void gemm(const Grid& grid, float alpha, const Matrix<const float>& a, const Matrix<const float>& b,
          float beta, const Matrix<float>& c, CudaStream stream, const Options& options) {
  call_of(grid, alpha, a, b, beta, c, options).run_on_gpu(stream);
}

void gemm(const Grid& grid, double alpha, const Matrix<const double>& a,
          const Matrix<const double>& b, double beta, const Matrix<double>& c, CudaStream stream,
          const Options& options) {
  call_of(grid, alpha, a, b, beta, c, options).run_on_gpu(stream);
}

void gemm(const Grid& grid, float alpha, const Matrix<const bfloat16>& a,
          const Matrix<const bfloat16>& b, float beta, const Matrix<float>& c, CudaStream stream,
          const Options& options) {
  call_of(grid, alpha, a, b, beta, c, options).run_on_gpu(stream);
}

}  // namespace rung::dist
