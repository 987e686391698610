// Counts the bytes that one rank will send and receive in a run.

#include "library/dist/plan/schedule.hpp"

namespace rung::dist {
namespace {

std::int64_t elements(const Placement& at, int rank) {
  return at.has(rank) ? at.local_rows(rank) * at.local_cols(rank) : 0;
}

/// The number of elements that a rank holds in both placements.
std::int64_t staying(const Placement& from, const Placement& to, int rank) {
  if (!from.has(rank) || !to.has(rank)) return 0;
  return shared_extent(from.layout.rows, from.row_proc(rank), to.layout.rows, to.row_proc(rank)) *
         shared_extent(from.layout.cols, from.col_proc(rank), to.layout.cols, to.col_proc(rank));
}

void add_move(Traffic& traffic, const Placement& from, const Placement& to, int rank, int bytes) {
  const std::int64_t stay = staying(from, to, rank);
  traffic.sent += (elements(from, rank) - stay) * bytes;
  traffic.received += (elements(to, rank) - stay) * bytes;
}

/// A ring forwards each k-index, a line of elements, from its owner around to the rank before the
/// owner. A process therefore sends all lines but those of the next one, and receives all but its
/// own.
void add_ring(Traffic& traffic, const Axis& k, int proc, std::int64_t line_bytes) {
  const int next = (proc + 1) % k.procs;
  traffic.sent += (k.extent - local_extent(k, next)) * line_bytes;
  traffic.received += (k.extent - local_extent(k, proc)) * line_bytes;
}

Traffic summa(const Layer& layer, int rank, int bytes) {
  Traffic traffic;
  const int row = layer.c.grid_row(rank), col = layer.c.grid_col(rank);
  add_ring(traffic, layer.a.layout.cols, col, layer.c.local_rows(rank) * bytes);
  add_ring(traffic, layer.b.layout.rows, row, layer.c.local_cols(rank) * bytes);
  return traffic;
}

/// The elements of A or B that a rank holds and needs for its part of C: whole lines along k.
std::int64_t held(const Placement& operand, const Placement& c, int rank, bool is_a) {
  if (!operand.has(rank)) return 0;
  if (is_a) {
    return operand.local_cols(rank) * shared_extent(operand.layout.rows, operand.row_proc(rank),
                                                    c.layout.rows, c.row_proc(rank));
  }
  return operand.local_rows(rank) * shared_extent(operand.layout.cols, operand.col_proc(rank),
                                                  c.layout.cols, c.col_proc(rank));
}

}  // namespace

RankTraffic dry_run(const Plan& plan, int rank) {
  const Problem& problem = plan.problem;
  RankTraffic traffic;
  for (int index = 0; index < plan.grid.layers; ++index) {
    const Layer at = layer(problem, plan.grid, index);
    if (plan.moves_a) add_move(traffic.moves, at.a_given, at.a, rank, problem.element_bytes);
    if (plan.moves_b) add_move(traffic.moves, at.b_given, at.b, rank, problem.element_bytes);
    if (index == layer_of(plan.grid, rank)) {
      traffic.summa = summa(at, rank, problem.element_bytes);
    }
    if (!plan.grid.in_place) {
      add_move(traffic.sums, at.c, given(problem, problem.c), rank, problem.result_bytes);
    }
  }
  return traffic;
}

std::int64_t least_for_layout(const Plan& plan, int rank) {
  const Problem& problem = plan.problem;
  const int index = layer_of(plan.grid, rank);
  if (index < 0) return 0;
  const Layer at = layer(problem, plan.grid, index);
  const Placement to = given(problem, problem.c);
  const std::int64_t a = at.c.local_rows(rank) * at.k_extent - held(at.a_given, at.c, rank, true);
  const std::int64_t b = at.c.local_cols(rank) * at.k_extent - held(at.b_given, at.c, rank, false);
  const std::int64_t c = plan.grid.in_place ? 0 : elements(at.c, rank) - staying(at.c, to, rank);
  return (a + b) * problem.element_bytes + c * problem.result_bytes;
}

}  // namespace rung::dist
