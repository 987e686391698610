#include "library/dist/plan/axis.hpp"

namespace rung::dist {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// An equivalent axis in normal form; all equivalent axes with a single block have the same one.
Axis normal(Axis axis) {
  if (axis.procs == 1) return {.extent = axis.extent};
  if (axis.skipped + axis.extent <= axis.block) {
    return {axis.extent, std::max<std::int64_t>(axis.extent, 1), axis.procs, axis.source, 0};
  }
  return axis;
}

}  // namespace

Layout block_cyclic(std::int64_t rows, std::int64_t cols, std::int64_t block_rows,
                    std::int64_t block_cols, int grid_rows, int grid_cols) {
  return {.rows = {rows, block_rows, grid_rows}, .cols = {cols, block_cols, grid_cols}};
}

Layout blocks_2d(std::int64_t rows, std::int64_t cols, int grid_rows, int grid_cols) {
  const auto block = [](std::int64_t extent, int procs) {
    return std::max<std::int64_t>(ceil_div(extent, procs), 1);
  };
  return block_cyclic(rows, cols, block(rows, grid_rows), block(cols, grid_cols), grid_rows,
                      grid_cols);
}

Layout transposed(const Layout& layout) { return {layout.cols, layout.rows, !layout.transposed}; }

Position position(const Axis& axis, std::int64_t index) {
  const std::int64_t padded = index + axis.skipped;
  const std::int64_t block = padded / axis.block;
  const int proc = static_cast<int>((block + axis.source) % axis.procs);
  const std::int64_t before = proc == axis.source ? axis.skipped : 0;
  return {proc, block / axis.procs * axis.block + padded % axis.block - before};
}

std::int64_t local_before(const Axis& axis, int proc, std::int64_t index) {
  const std::int64_t padded = index + axis.skipped;
  const std::int64_t blocks = padded / axis.block;  // blocks before that of the index
  const int turn = (proc - axis.source + axis.procs) % axis.procs;
  std::int64_t count = blocks / axis.procs * axis.block;
  if (turn < blocks % axis.procs) count += axis.block;
  if (turn == blocks % axis.procs) count += padded % axis.block;
  return count - (turn == 0 ? axis.skipped : 0);
}

std::int64_t local_extent(const Axis& axis, int proc) {
  return local_before(axis, proc, axis.extent);
}

Axis part(const Axis& axis, std::int64_t begin, std::int64_t end) {
  const std::int64_t padded = begin + axis.skipped;
  const int source = static_cast<int>((padded / axis.block + axis.source) % axis.procs);
  return {end - begin, axis.block, axis.procs, source, padded % axis.block};
}

bool dealt_alike(const Axis& left, const Axis& right) { return normal(left) == normal(right); }

std::int64_t shared_extent(const Axis& from, int p, const Axis& to, int q) {
  std::int64_t shared = 0;
  for_each_run(from, to, [&](std::int64_t, std::int64_t length, Position left, Position right) {
    if (left.proc == p && right.proc == q) shared += length;
  });
  return shared;
}

std::vector<std::vector<Run>> runs_from(const Axis& from, int p, const Axis& to) {
  std::vector<std::vector<Run>> runs(static_cast<std::size_t>(to.procs));
  for_each_run(from, to, [&](std::int64_t, std::int64_t length, Position left, Position right) {
    if (left.proc != p) return;
    runs[static_cast<std::size_t>(right.proc)].push_back({length, left.local, right.local});
  });
  return runs;
}

std::vector<std::vector<Run>> runs_to(const Axis& from, const Axis& to, int q) {
  std::vector<std::vector<Run>> runs(static_cast<std::size_t>(from.procs));
  for_each_run(from, to, [&](std::int64_t, std::int64_t length, Position left, Position right) {
    if (right.proc != q) return;
    runs[static_cast<std::size_t>(left.proc)].push_back({length, left.local, right.local});
  });
  return runs;
}

std::int64_t total(const std::vector<Run>& runs) {
  std::int64_t length = 0;
  for (const Run& run : runs) length += run.length;
  return length;
}

}  // namespace rung::dist
