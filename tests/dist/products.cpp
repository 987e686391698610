// Run by mpirun: products over the ranks compared with one process, on every kind of layout, and
// the bytes sent compared with the dry run. Prints the errors; the exit status is 1 if there are
// any.

#include <mpi.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/dtype_traits.hpp"
#include "library/dist/plan/schedule.hpp"
#include "rung/dist.hpp"
#include "rung/types.hpp"
#ifdef RUNG_VIRTUAL_GPU
#include "library/cuda/driver.hpp"
#include "library/dist/mpi/gpu_memory.hpp"
#include "vgpu/driver/virtual_driver.hpp"
#endif

namespace {

std::int64_t bytes_sent = 0;  // as counted in MPI_Isend

}  // namespace

// Replaces MPI_Isend; MPI provides PMPI_Isend as a second name for such programs.
extern "C" __attribute__((visibility("default"))) int MPI_Isend(const void* data, int count,
                                                                MPI_Datatype type, int to, int tag,
                                                                MPI_Comm comm,
                                                                MPI_Request* request) {
  int size = 0;
  MPI_Type_size(type, &size);
  bytes_sent += std::int64_t{size} * count;
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

namespace rung::dist {
namespace {

int failures = 0;

void fail(const std::string& what) {
  if (++failures <= 5) std::printf("%s\n", what.c_str());
}

enum class Values { integers, reals };

/// The element of a matrix, the same on all ranks.
double value(Values values, int matrix, std::int64_t row, std::int64_t col) {
  std::uint64_t bits = static_cast<std::uint64_t>(matrix * 1000003 + row * 1009 + col + 1);
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  bits ^= bits >> 31;
  if (values == Values::integers) return static_cast<double>(bits % 9) - 4;
  return static_cast<double>(bits >> 11) * 0x1p-52 - 1;
}

template <class T>
T as(double number) {
  if constexpr (std::is_same_v<T, bfloat16>) {
    return T(static_cast<float>(number));
  } else {
    return static_cast<T>(number);
  }
}

long double wide(bfloat16 number) { return static_cast<float>(number); }
long double wide(double number) { return number; }

/// This rank's part of a matrix, with guard elements between its lines.
template <class T>
struct Local {
  Placement at;
  std::int64_t rows = 0, cols = 0, ld = 0;
  Order order;
  std::vector<T> memory;

  static constexpr double guard = -77;

  Local(const Problem& problem, const Layout& layout, int rank, Order by)
      : at(given(problem, layout)), order(by) {
    if (at.has(rank)) {
      rows = at.local_rows(rank);
      cols = at.local_cols(rank);
    }
    ld = (order == Order::row_major ? cols : rows) + 3;
    memory.assign(static_cast<std::size_t>(ld * (order == Order::row_major ? rows : cols)),
                  as<T>(guard));
  }

  Matrix<T> matrix() { return {at.layout, {memory.data(), rows, cols, ld, order}}; }

#ifdef RUNG_VIRTUAL_GPU
  /// A copy of the part in GPU memory.
  Matrix<T> on_gpu() {
    const std::size_t bytes = memory.size() * sizeof(T);
    vgpu::virtual_driver().cuMemAlloc(&gpu, bytes + 1);
    vgpu::virtual_driver().cuMemcpyHtoD(gpu, memory.data(), bytes);
    return {at.layout, {reinterpret_cast<T*>(gpu), rows, cols, ld, order}};
  }
  void fetch() {
    vgpu::virtual_driver().cuMemcpyDtoH(memory.data(), gpu, memory.size() * sizeof(T));
  }
  ~Local() {
    if (gpu != 0) vgpu::virtual_driver().cuMemFree(gpu);
  }
  cuda::DevicePointer gpu = 0;
#endif

  /// Calls visit(row, column, element) for all elements of this rank.
  template <class Visit>
  void for_each(int rank, const Visit& visit) {
    if (!at.has(rank)) return;
    const Layout& layout = at.layout;
    for (std::int64_t i = 0; i < layout.rows.extent; ++i) {
      const Position row = position(layout.rows, i);
      if (row.proc != at.row_proc(rank)) continue;
      for (std::int64_t j = 0; j < layout.cols.extent; ++j) {
        const Position col = position(layout.cols, j);
        if (col.proc != at.col_proc(rank)) continue;
        const std::int64_t place =
            order == Order::row_major ? row.local * ld + col.local : col.local * ld + row.local;
        visit(i, j, memory[static_cast<std::size_t>(place)]);
      }
    }
  }

  std::size_t guards() const {
    std::size_t count = 0;
    for (const T& element : memory) count += wide(element) == guard ? 1 : 0;
    return count;
  }
};

struct Case {
  std::string name;
  Problem problem;
  std::optional<Decomposition> into;
  Order order = Order::col_major;
  double alpha = 1, beta = 0;
};

template <class In, class Out>
void run(const Grid& grid, const Case& of, Values values) {
  const Problem& problem = of.problem;
  const int rank = grid.rank();
  Local<In> a(problem, problem.a, rank, of.order), b(problem, problem.b, rank, of.order);
  Local<Out> c(problem, problem.c, rank, of.order);
  const auto fill = [&](auto& local, int matrix) {
    local.for_each(rank, [&](std::int64_t i, std::int64_t j, auto& element) {
      element = as<std::decay_t<decltype(element)>>(value(values, matrix, i, j));
    });
  };
  fill(a, 1);
  fill(b, 2);
  if (of.beta != 0) {
    fill(c, 3);
  } else {
    c.for_each(rank, [](std::int64_t, std::int64_t, Out& element) { element = Out(NAN); });
  }
  const std::size_t guards = c.guards();

  RankTraffic traffic;
  Options options;
  options.threads = 1;
  options.timeout = 300;
  options.machine.memory = 1 << 20;
  options.decomposition = of.into ? &*of.into : nullptr;
  options.traffic = &traffic;
  bytes_sent = 0;
#ifdef RUNG_VIRTUAL_GPU
  gemm(grid, Out(of.alpha), a.on_gpu(), b.on_gpu(), Out(of.beta), c.on_gpu(), CudaStream(nullptr),
       options);
  c.fetch();
#else
  gemm(grid, Out(of.alpha), a.matrix(), b.matrix(), Out(of.beta), c.matrix(), options);
#endif

  const std::string where = of.name + ", rank " + std::to_string(rank);
  const Plan plan =
      of.into ? make_plan(problem, options.machine, *of.into) : make_plan(problem, options.machine);
  const RankTraffic dry = dry_run(plan, rank);
  if (dry.moves != traffic.moves || dry.summa != traffic.summa || dry.sums != traffic.sums) {
    fail(where + ": the dry run has other bytes than the run");
  }
  if (bytes_sent != dry.total().sent) {
    fail(where + ": MPI was given " + std::to_string(bytes_sent) + " bytes, the dry run has " +
         std::to_string(dry.total().sent));
  }
  if (c.guards() != guards) fail(where + ": stored outside of C");

  const std::int64_t k = problem.a.cols.extent;
  const double unit = std::is_same_v<Out, float> ? 0x1p-24 : 0x1p-53;
  c.for_each(rank, [&](std::int64_t i, std::int64_t j, const Out& got) {
    long double sum = 0, absolute = 0;
    for (std::int64_t p = 0; p < k; ++p) {
      const long double product =
          wide(as<In>(value(values, 1, i, p))) * wide(as<In>(value(values, 2, p, j)));
      sum += product;
      absolute += std::abs(product);
    }
    const long double old = of.beta == 0 ? 0 : of.beta * wide(as<Out>(value(values, 3, i, j)));
    const long double exact = of.alpha * sum + old;
    const long double bound = values == Values::integers
                                  ? 0
                                  : static_cast<long double>(k + 4 + problem.ranks) * unit *
                                            (std::abs(of.alpha) * absolute + std::abs(old)) +
                                        unit * std::abs(exact);
    if (!(std::abs(static_cast<long double>(got) - exact) <= bound)) {
      fail(where + ": C(" + std::to_string(i) + ", " + std::to_string(j) + ") is " +
           std::to_string(got) + ", expected " + std::to_string(static_cast<double>(exact)));
    }
  });
}

template <class In, class Out>
void run(const Grid& grid, Case of) {
  of.problem.element_bytes = sizeof(In);
  of.problem.result_bytes = sizeof(Out);
  of.name += " of " + std::to_string(sizeof(In)) + " bytes";
  run<In, Out>(grid, of, std::is_same_v<In, float> ? Values::integers : Values::reals);
}

std::string text(int rows, int cols) { return std::to_string(rows) + " x " + std::to_string(cols); }

/// Layouts of one shape that differ in every property of a layout.
std::vector<std::pair<std::string, std::array<Layout, 3>>> layouts(std::int64_t m, std::int64_t n,
                                                                   std::int64_t k, int rows,
                                                                   int cols) {
  const auto all = [&](const auto& layout) {
    return std::array<Layout, 3>{layout(m, k), layout(k, n), layout(m, n)};
  };
  std::array<Layout, 3> shifted = all([&](std::int64_t r, std::int64_t c) {
    return Layout{{r, 5, rows, rows - 1, 2}, {c, 3, cols, cols / 2, 1}};
  });
  std::array<Layout, 3> apart = shifted;
  apart[0].rows = {m, 4, rows, 0, 3};
  apart[1].cols = {n, 7, cols, cols - 1, 0};
  std::array<Layout, 3> across = all([&](std::int64_t r, std::int64_t c) {
    return transposed(block_cyclic(c, r, 3, 5, rows, cols));
  });
  across[2] = block_cyclic(m, n, 6, 2, rows, cols);
  return {
      {"blocks", all([&](std::int64_t r, std::int64_t c) { return blocks_2d(r, c, rows, cols); })},
      {"block-cyclic",
       all([&](std::int64_t r, std::int64_t c) { return block_cyclic(r, c, 4, 4, rows, cols); })},
      {"shifted", shifted},
      {"apart", apart},
      {"transposed", across}};
}

void test_grid(int rows, int cols, int ranks) {
  const Grid grid(MPI_Comm_c2f(MPI_COMM_WORLD), rows, cols, 60);
  std::vector<std::optional<Decomposition>> divisions = {std::nullopt, {{rows, cols, 1, 6, true}}};
  divisions.push_back({{1, 1, ranks, 8, false}});
  if (ranks > 2) divisions.push_back({{1, ranks / 2, 2, 5, false}});
  if (ranks > 3) divisions.push_back({{2, ranks / 2, 1, 7, false}});
  for (const auto& [layout_name, all] : layouts(29, 31, 37, rows, cols)) {
    for (const auto& into : divisions) {
      Case of{text(rows, cols) + ", " + layout_name, {all[0], all[1], all[2], 8, 8, ranks}, into};
      if (into)
        of.name += ", into " + text(into->rows, into->cols) + " x " + std::to_string(into->layers);
      run<double, double>(grid, of);
      of.order = Order::row_major;
      of.alpha = -0.5;
      of.beta = 2;
      run<float, float>(grid, of);
      run<bfloat16, float>(grid, of);
    }
  }
  for (const std::array<std::int64_t, 3> size :
       {std::array<std::int64_t, 3>{0, 5, 3}, {5, 0, 3}, {5, 3, 0}, {1, 1, 1}, {2, 70, 1}}) {
    const auto& [m, n, k] = size;
    const auto layout = [&](std::int64_t r, std::int64_t c) { return blocks_2d(r, c, rows, cols); };
    Case of{"size " + text(static_cast<int>(m), static_cast<int>(n)) + " x " + std::to_string(k),
            {layout(m, k), layout(k, n), layout(m, n), 8, 8, ranks},
            std::nullopt};
    of.alpha = 2;
    of.beta = -1;
    run<double, double>(grid, of);
    of.into = Decomposition{1, 1, ranks, 8, false};
    run<double, double>(grid, of);
  }
}

/// Tests panels that are too long to be sent before the receiver requests them: their memory must
/// not be reused too early.
void test_long_panels(int rows, int cols, int ranks) {
  const Grid grid(MPI_Comm_c2f(MPI_COMM_WORLD), rows, cols, 60);
  const auto layout = [&](std::int64_t r, std::int64_t c) { return blocks_2d(r, c, rows, cols); };
  run<double, double>(grid, {"long panels",
                             {layout(3000, 48), layout(48, 6), layout(3000, 6), 8, 8, ranks},
                             Decomposition{rows, cols, 1, 4, true}});
}

/// Tests a C with transposed memory, for which the transposed problem is computed.
void test_transposed_c(int ranks) {
  const Grid grid(MPI_Comm_c2f(MPI_COMM_WORLD), 1, ranks, 60);
  const Layout square = blocks_2d(12, 12, 1, ranks);
  const Problem problem{square, square, square, 8, 8, ranks};
  Local<double> a(problem, square, grid.rank(), Order::col_major), b = a, c = a, d = a;
  for (Local<double>* local : {&a, &b}) {
    local->for_each(grid.rank(), [](std::int64_t i, std::int64_t j, double& element) {
      element = value(Values::integers, 1, i, j);
    });
  }
  gemm(grid, 1.0, a.matrix(), b.matrix(), 0.0, c.matrix(), {.threads = 1});
  // (A B) = (B' A')'
  gemm(grid, 1.0, transposed(b.matrix()), transposed(a.matrix()), 0.0, transposed(d.matrix()),
       {.threads = 1});
  if (c.memory != d.memory) fail("the transposed C differs");
}

}  // namespace
}  // namespace rung::dist

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
#ifdef RUNG_VIRTUAL_GPU
  static const rung::cuda::Driver driver = {.api = &rung::vgpu::virtual_driver(),
                                            .takes_cubin = false};
  rung::cuda::use_driver(&driver);
  rung::dist::use_gpu_driver(driver.api);
  rung::dist::GpuMemory::check();
  rung::vgpu::set_launch_defaults({.observe = false, .threads = 1});
#endif
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  try {
    int rows = static_cast<int>(std::sqrt(ranks));
    while (ranks % rows != 0) --rows;
    rung::dist::test_grid(rows, ranks / rows, ranks);
    if (rows * rows != ranks) rung::dist::test_grid(ranks / rows, rows, ranks);
    if (ranks > 2) rung::dist::test_grid(1, ranks - 1, ranks);  // one rank has no elements
    rung::dist::test_long_panels(1, ranks, ranks);
    rung::dist::test_transposed_c(ranks);
  } catch (const std::exception& error) {
    rung::dist::fail(error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return rung::dist::failures == 0 ? 0 : 1;
}
