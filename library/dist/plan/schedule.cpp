#include "library/dist/plan/schedule.hpp"

#include <string>

namespace rung::dist {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(Status::invalid_argument, message);
}

void check(const std::string& name, const Axis& axis) {
  const auto require = [&](bool right, const char* field, std::int64_t value, const char* allowed) {
    if (!right) {
      refuse(name + "." + field + " is " + std::to_string(value) + "; it must be " + allowed);
    }
  };
  require(axis.extent >= 0, "extent", axis.extent, "at least 0");
  require(axis.block >= 1, "block", axis.block, "at least 1");
  require(axis.procs >= 1, "procs", axis.procs, "at least 1");
  require(axis.source >= 0 && axis.source < axis.procs, "source", axis.source,
          "from 0 to procs - 1");
  require(axis.skipped >= 0 && axis.skipped < axis.block, "skipped", axis.skipped,
          "from 0 to block - 1");
}

void check(const std::string& name, const Layout& layout, const Layout& c) {
  check(name + ".rows", layout.rows);
  check(name + ".cols", layout.cols);
  const int rows = layout.transposed ? layout.cols.procs : layout.rows.procs;
  const int cols = layout.transposed ? layout.rows.procs : layout.cols.procs;
  if (rows != c.rows.procs || cols != c.cols.procs) {
    refuse(name + " is on a grid of " + std::to_string(rows) + " x " + std::to_string(cols) +
           " and c on one of " + std::to_string(c.rows.procs) + " x " +
           std::to_string(c.cols.procs) + "; all matrices must be on one grid");
  }
}

void check_equal(const char* left, std::int64_t a, const char* right, std::int64_t b) {
  if (a != b) {
    refuse(std::string(left) + " is " + std::to_string(a) + " and " + right + " is " +
           std::to_string(b) + "; they must be equal");
  }
}

Placement on_layer(const Decomposition& grid, int index, const Layout& layout) {
  return {layout, index * grid.rows * grid.cols, grid.rows, grid.cols};
}

}  // namespace

Placement given(const Problem& problem, const Layout& layout) {
  return {layout, 0, problem.c.rows.procs, problem.c.cols.procs};
}

bool stays_a(const Problem& problem, const Decomposition& grid) {
  return grid.in_place && !problem.a.transposed && dealt_alike(problem.a.rows, problem.c.rows);
}

bool stays_b(const Problem& problem, const Decomposition& grid) {
  return grid.in_place && !problem.b.transposed && dealt_alike(problem.b.cols, problem.c.cols);
}

Layer layer(const Problem& problem, const Decomposition& grid, int index) {
  const std::int64_t m = problem.c.rows.extent, n = problem.c.cols.extent;
  const std::int64_t k = problem.a.cols.extent;
  const std::int64_t begin = k * index / grid.layers;
  const std::int64_t end = k * (index + 1) / grid.layers;

  Layout a = problem.a, b = problem.b;
  a.cols = part(a.cols, begin, end);
  b.rows = part(b.rows, begin, end);
  const Layout c = grid.in_place ? problem.c : blocks_2d(m, n, grid.rows, grid.cols);
  const Layout spread_a = {c.rows, blocks_2d(1, end - begin, 1, grid.cols).cols};
  const Layout spread_b = {blocks_2d(end - begin, 1, grid.rows, 1).rows, c.cols};
  return {.k_begin = begin,
          .k_extent = end - begin,
          .a_given = given(problem, a),
          .b_given = given(problem, b),
          .a = on_layer(grid, index, stays_a(problem, grid) ? a : spread_a),
          .b = on_layer(grid, index, stays_b(problem, grid) ? b : spread_b),
          .c = on_layer(grid, index, c)};
}

int layer_of(const Decomposition& grid, int rank) {
  const int index = rank / (grid.rows * grid.cols);
  return index < grid.layers ? index : -1;
}

void check(const Problem& problem) {
  check("a", problem.a, problem.c);
  check("b", problem.b, problem.c);
  check("c", problem.c, problem.c);
  if (problem.c.transposed) refuse("c is transposed; swap and transpose a and b instead");
  check_equal("a.rows.extent", problem.a.rows.extent, "c.rows.extent", problem.c.rows.extent);
  check_equal("b.cols.extent", problem.b.cols.extent, "c.cols.extent", problem.c.cols.extent);
  check_equal("a.cols.extent", problem.a.cols.extent, "b.rows.extent", problem.b.rows.extent);
  if (std::int64_t{problem.c.rows.procs} * problem.c.cols.procs > problem.ranks) {
    refuse("the grid of " + std::to_string(problem.c.rows.procs) + " x " +
           std::to_string(problem.c.cols.procs) + " has more processes than there are ranks, " +
           std::to_string(problem.ranks));
  }
}

void check(const Problem& problem, const Decomposition& grid) {
  check(problem);
  if (grid.rows < 1 || grid.cols < 1 || grid.layers < 1 || grid.panel < 1) {
    refuse("rows, cols, layers and panel of a decomposition must be at least 1");
  }
  if (grid.rows * grid.cols > 1 && grid.panel > max_panel) {
    refuse("panel is " + std::to_string(grid.panel) + "; it must be at most " +
           std::to_string(max_panel));
  }
  const std::string text = std::to_string(grid.rows) + " x " + std::to_string(grid.cols) + " x " +
                           std::to_string(grid.layers);
  if (std::int64_t{grid.rows} * grid.cols * grid.layers > problem.ranks) {
    refuse("a decomposition into " + text + " needs more ranks than there are, " +
           std::to_string(problem.ranks));
  }
  if (grid.in_place && (grid.rows != problem.c.rows.procs || grid.cols != problem.c.cols.procs ||
                        grid.layers != 1)) {
    refuse("a decomposition into " + text + " is not in place: c's grid is " +
           std::to_string(problem.c.rows.procs) + " x " + std::to_string(problem.c.cols.procs));
  }
}

}  // namespace rung::dist
