// The cost model of decompositions, and the choice among all of them.

#include <algorithm>
#include <cmath>
#include <functional>

#include "library/dist/plan/schedule.hpp"

namespace rung::dist {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t largest_share(const Axis& axis) {
  std::int64_t largest = 0;
  for (int proc = 0; proc < axis.procs; ++proc) {
    largest = std::max(largest, local_extent(axis, proc));
  }
  return largest;
}

/// The maximum number of processes of another axis with which a process of this axis shares
/// indices.
std::int64_t partners(const Axis& axis, int procs) {
  const bool one_block_each = std::int64_t{axis.block} * axis.procs >= axis.extent;
  if (!one_block_each) return procs;
  return std::min<std::int64_t>(procs, ceil_div(procs, axis.procs) + 1);
}

struct Model {
  const Problem& problem;
  const Machine& machine;
  const Decomposition& grid;
  std::int64_t m = problem.c.rows.extent;
  std::int64_t n = problem.c.cols.extent;
  std::int64_t k = problem.a.cols.extent;
  std::int64_t ranks = std::int64_t{grid.rows} * grid.cols * grid.layers;
  std::int64_t callers = std::int64_t{problem.c.rows.procs} * problem.c.cols.procs;
  std::int64_t rows = grid.in_place ? largest_share(problem.c.rows) : ceil_div(m, grid.rows);
  std::int64_t cols = grid.in_place ? largest_share(problem.c.cols) : ceil_div(n, grid.cols);
  std::int64_t depth = ceil_div(k, grid.layers);
  std::int64_t steps = ceil_div(depth, grid.panel);
  bool moves_a = !stays_a(problem, grid);
  bool moves_b = !stays_b(problem, grid);

  double seconds(std::int64_t messages, double bytes) const {
    return static_cast<double>(messages) * machine.latency + bytes / machine.bandwidth;
  }

  /// The larger of a rank's two shares of a matrix, the sent and the received one.
  std::int64_t share(std::int64_t elements) const {
    return ceil_div(elements, std::min(ranks, callers));
  }

  std::int64_t panel_bytes() const {
    const std::int64_t lines = (grid.cols > 1 ? rows : 0) + (grid.rows > 1 ? cols : 0);
    return std::min(grid.panel, depth) * lines * problem.element_bytes;
  }

  std::int64_t copies() const {
    std::int64_t bytes = 2 * panel_bytes();  // double buffering
    // For each redistributed operand, the copy and its messages.
    if (moves_a) bytes += 2 * share(m * k) * problem.element_bytes;
    if (moves_b) bytes += 2 * share(k * n) * problem.element_bytes;
    if (!grid.in_place) bytes += 2 * rows * cols * problem.result_bytes;
    return bytes;
  }

  double move(const Layout& layout, std::int64_t elements) const {
    const std::int64_t messages =
        partners(layout.rows, grid.rows) * partners(layout.cols, grid.cols * grid.layers);
    return seconds(messages, static_cast<double>(share(elements)) * problem.element_bytes);
  }

  /// Messages per panel: one for each owner of a part of it.
  std::int64_t pieces() const {
    const auto of = [&](const Axis& axis, bool moves, int procs) -> std::int64_t {
      if (procs == 1) return 0;
      return moves ? 1 : ceil_div(std::min(grid.panel, depth), axis.block);
    };
    return of(problem.a.cols, moves_a, grid.cols) + of(problem.b.rows, moves_b, grid.rows);
  }

  ExpectedTime time() const {
    ExpectedTime time;
    if (moves_a) time.moves += move(problem.a, m * k);
    if (moves_b) time.moves += move(problem.b, k * n);
    const double panel = seconds(pieces(), static_cast<double>(panel_bytes()));
    time.product = 2.0 * static_cast<double>(rows) * static_cast<double>(cols) *
                   static_cast<double>(depth) / machine.flops;
    time.fill = (std::max(grid.rows, grid.cols) - 1) * panel;
    time.steps = std::max(time.product, static_cast<double>(steps) * panel);
    if (!grid.in_place) {
      const std::int64_t received = grid.layers * ceil_div(m * n, callers);
      const std::int64_t most = std::max(rows * cols, received);
      time.sums = seconds(
          grid.layers * partners(problem.c.rows, grid.rows) * partners(problem.c.cols, grid.cols),
          static_cast<double>(most) * problem.result_bytes);
    }
    return time;
  }
};

Plan plan_of(const Problem& problem, const Machine& machine, const Decomposition& grid) {
  const Model model{problem, machine, grid};
  return {problem, grid, model.moves_a, model.moves_b, model.steps, model.copies(), model.time()};
}

Decomposition with_panel(Decomposition grid, std::int64_t k) {
  if (grid.rows * grid.cols == 1) grid.panel = std::max<std::int64_t>(k, 1);  // nothing to overlap
  return grid;
}

}  // namespace

Plan make_plan(const Problem& problem, const Machine& machine, const Decomposition& grid) {
  check(problem, grid);
  return plan_of(problem, machine, grid);
}

Plan make_plan(const Problem& problem, const Machine& machine) {
  check(problem);
  const std::int64_t m = problem.c.rows.extent, n = problem.c.cols.extent;
  const std::int64_t k = problem.a.cols.extent;
  const int rows = problem.c.rows.procs, cols = problem.c.cols.procs;
  Plan best =
      plan_of(problem, machine, with_panel({.rows = rows, .cols = cols, .in_place = true}, k));
  for (int layers = 1; layers <= std::min<std::int64_t>(problem.ranks, k); ++layers) {
    for (int r = 1; r <= std::min<std::int64_t>(problem.ranks / layers, m); ++r) {
      const int c = static_cast<int>(std::min<std::int64_t>(problem.ranks / layers / r, n));
      if (c == 0) continue;
      const Plan other =
          plan_of(problem, machine, with_panel({r, c, layers, Decomposition().panel, false}, k));
      if (other.copies <= machine.memory && other.time.total() < best.time.total()) best = other;
    }
  }
  return best;
}

double lower_bound(const Problem& problem, const Machine& machine) {
  double extents[] = {static_cast<double>(problem.c.rows.extent),
                      static_cast<double>(problem.c.cols.extent),
                      static_cast<double>(problem.a.cols.extent)};
  std::sort(std::begin(extents), std::end(extents), std::greater<>());
  const auto [m, n, k] = extents;
  const double p = problem.ranks;
  const double owned = (m * n + m * k + n * k) / p;

  double accessed = 3 * std::pow(m * n * k / p, 2.0 / 3.0);
  if (p * n <= m) {
    accessed = (m * n + m * k) / p + n * k;
  } else if (p * k * k <= m * n) {
    accessed = 2 * k * std::sqrt(m * n / p) + m * n / p;
  }
  const double words = owned + static_cast<double>(machine.memory) / problem.element_bytes;
  const double limited = m * n * k / (2 * std::sqrt(2.0) * p * std::sqrt(words)) - words;
  return std::max({accessed - owned, limited, 0.0}) * problem.element_bytes;
}

}  // namespace rung::dist
