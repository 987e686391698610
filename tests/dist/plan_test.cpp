// The plan: axes compared with their definition, and bytes compared with small cases by hand and
// with a count of every moved element.

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "library/dist/plan/schedule.hpp"

namespace rung::dist {
namespace {

// The definition: deals the blocks one by one.
std::vector<int> owners(const Axis& axis) {
  std::vector<int> owner;
  int proc = axis.source;
  std::int64_t left = axis.block - axis.skipped;
  for (std::int64_t index = 0; index < axis.extent; ++index) {
    if (left == 0) {
      proc = (proc + 1) % axis.procs;
      left = axis.block;
    }
    owner.push_back(proc);
    --left;
  }
  return owner;
}

std::vector<Axis> axes(std::int64_t extent) {
  return {{extent, 1, 1},       {extent, 1, 3, 2},     {extent, 4, 2, 1, 3},
          {extent, 5, 3, 0, 2}, {extent, 40, 3, 1, 7}, blocks_2d(extent, 1, 4, 1).rows};
}

TEST(Axis, DealsBlocksInTurn) {
  for (const std::int64_t extent : {0, 1, 2, 7, 23, 37}) {
    for (const Axis& axis : axes(extent)) {
      std::vector<std::int64_t> held(static_cast<std::size_t>(axis.procs));
      const std::vector<int> owner = owners(axis);
      for (std::int64_t index = 0; index < extent; ++index) {
        const int proc = owner[static_cast<std::size_t>(index)];
        const Position at = position(axis, index);
        EXPECT_EQ(at.proc, proc);
        EXPECT_EQ(at.local, held[static_cast<std::size_t>(proc)]++);
        EXPECT_EQ(local_before(axis, proc, index), at.local);
      }
      for (int proc = 0; proc < axis.procs; ++proc) {
        EXPECT_EQ(local_extent(axis, proc), held[static_cast<std::size_t>(proc)]);
      }
    }
  }
}

TEST(Axis, PartKeepsOwners) {
  for (const Axis& axis : axes(23)) {
    const std::vector<int> owner = owners(axis);
    for (std::size_t begin = 0; begin <= 23; ++begin) {
      const std::vector<int> rest = owners(part(axis, static_cast<std::int64_t>(begin), 23));
      EXPECT_EQ(rest,
                std::vector<int>(owner.begin() + static_cast<std::ptrdiff_t>(begin), owner.end()));
    }
  }
}

TEST(Axis, DealtAlikeIsTheSameOwners) {
  for (const std::int64_t extent : {1, 4, 23}) {
    for (const Axis& left : axes(extent)) {
      for (const Axis& right : axes(extent)) {
        if (left.procs != right.procs) continue;
        // May miss that two different patterns coincide on a short axis, but never claims that they
        // do if they don't.
        if (dealt_alike(left, right)) {
          EXPECT_EQ(owners(left), owners(right));
        }
        if (left == right) {
          EXPECT_TRUE(dealt_alike(left, right));
        }
      }
    }
  }
  EXPECT_TRUE(dealt_alike({8, 8, 4, 1}, {8, 100, 4, 1, 50}));
  EXPECT_FALSE(dealt_alike({8, 8, 4, 1}, {8, 8, 4, 2}));
}

// Counts every moved element, one by one.
struct Counted {
  std::vector<RankTraffic> ranks;

  static int owner(const Placement& at, std::int64_t i, std::int64_t j) {
    return at.rank_of(owners(at.layout.rows)[static_cast<std::size_t>(i)],
                      owners(at.layout.cols)[static_cast<std::size_t>(j)]);
  }

  void pass(Traffic RankTraffic::* kind, int from, int to, std::int64_t bytes) {
    if (from == to) return;
    (ranks[static_cast<std::size_t>(from)].*kind).sent += bytes;
    (ranks[static_cast<std::size_t>(to)].*kind).received += bytes;
  }

  void move(Traffic RankTraffic::* kind, const Placement& from, const Placement& to, int bytes) {
    for (std::int64_t i = 0; i < from.layout.rows.extent; ++i) {
      for (std::int64_t j = 0; j < from.layout.cols.extent; ++j) {
        pass(kind, owner(from, i, j), owner(to, i, j), bytes);
      }
    }
  }

  // Passes elements from their owner around the ring until all ranks have them.
  void ring(const Placement& at, int from, bool along_row, int bytes) {
    const int row = at.grid_row(from), col = at.grid_col(from);
    const int size = along_row ? at.grid_cols : at.grid_rows;
    const auto rank = [&](int step) {
      return along_row ? at.rank_at(row, (col + step) % size)
                       : at.rank_at((row + step) % size, col);
    };
    for (int hop = 0; hop + 1 < size; ++hop) {
      pass(&RankTraffic::summa, rank(hop), rank(hop + 1), bytes);
    }
  }

  explicit Counted(const Plan& plan) : ranks(static_cast<std::size_t>(plan.problem.ranks)) {
    const Problem& problem = plan.problem;
    for (int index = 0; index < plan.grid.layers; ++index) {
      const Layer at = layer(problem, plan.grid, index);
      move(&RankTraffic::moves, at.a_given, at.a, problem.element_bytes);
      move(&RankTraffic::moves, at.b_given, at.b, problem.element_bytes);
      for (std::int64_t k = 0; k < at.k_extent; ++k) {
        for (std::int64_t i = 0; i < problem.c.rows.extent; ++i) {
          ring(at.a, owner(at.a, i, k), true, problem.element_bytes);
        }
        for (std::int64_t j = 0; j < problem.c.cols.extent; ++j) {
          ring(at.b, owner(at.b, k, j), false, problem.element_bytes);
        }
      }
      if (!plan.grid.in_place) {
        move(&RankTraffic::sums, at.c, given(problem, problem.c), problem.result_bytes);
      }
    }
  }
};

void expect_counted(const Plan& plan) {
  const Counted counted(plan);
  Traffic all;
  for (int rank = 0; rank < plan.problem.ranks; ++rank) {
    const RankTraffic dry = dry_run(plan, rank);
    const RankTraffic& real = counted.ranks[static_cast<std::size_t>(rank)];
    EXPECT_EQ(dry.moves, real.moves) << rank;
    EXPECT_EQ(dry.summa, real.summa) << rank;
    EXPECT_EQ(dry.sums, real.sums) << rank;
    EXPECT_GE(dry.total().sent + dry.total().received, least_for_layout(plan, rank)) << rank;
    all.sent += dry.total().sent;
    all.received += dry.total().received;
  }
  EXPECT_EQ(all.sent, all.received);
}

TEST(DryRun, EqualsACountOfEveryElement) {
  const Layout c = block_cyclic(11, 13, 3, 2, 2, 3);
  const Layout a = block_cyclic(11, 17, 3, 4, 2, 3);
  const Layout b = block_cyclic(17, 13, 5, 2, 2, 3);
  const Layout a_transposed = transposed(block_cyclic(17, 11, 2, 3, 2, 3));
  const Layout b_elsewhere = block_cyclic(17, 13, 5, 4, 2, 3);
  for (const Layout& left : {a, a_transposed}) {
    for (const Layout& right : {b, b_elsewhere}) {
      const Problem problem{left, right, c, 2, 4, 7};
      expect_counted(make_plan(problem, {}, {2, 3, 1, 4, true}));
      for (const Decomposition grid : {Decomposition{2, 3, 1, 4, false},
                                       {1, 1, 7, 4, false},
                                       {1, 3, 2, 4, false},
                                       {3, 1, 2, 4, false}}) {
        expect_counted(make_plan(problem, {}, grid));
      }
    }
  }
}

// 4 x 4 matrices of doubles on 2 x 2 ranks: each rank lacks two columns of its two rows of A and
// two rows of its two columns of B, or 2 * 2 + 2 * 2 elements of 8 bytes. It sends the same number.
TEST(DryRun, ByHandInPlace) {
  const Layout all = blocks_2d(4, 4, 2, 2);
  const Plan plan = make_plan({all, all, all, 8, 8, 4}, {}, {2, 2, 1, 4, true});
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(dry_run(plan, rank).summa, (Traffic{64, 64}));
    EXPECT_EQ(dry_run(plan, rank).total(), (Traffic{64, 64}));
    EXPECT_EQ(least_for_layout(plan, rank), 64);
  }
}

// 2 x 2 matrices on 2 x 1 ranks, in two layers of 1 x 1: each rank keeps one element of A and
// receives the other rank's element in its column of A. It already has its row of B. Then it sends
// a row of its copy of C.
TEST(DryRun, ByHandInLayers) {
  const Layout all = blocks_2d(2, 2, 2, 1);
  const Plan plan = make_plan({all, all, all, 8, 8, 2}, {}, {1, 1, 2, 1, false});
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(dry_run(plan, rank).moves, (Traffic{8, 8}));
    EXPECT_EQ(dry_run(plan, rank).summa, (Traffic{0, 0}));
    EXPECT_EQ(dry_run(plan, rank).sums, (Traffic{16, 16}));
    EXPECT_EQ(least_for_layout(plan, rank), 8 + 16);
  }
}

Problem cube(std::int64_t n, int rows, int cols) {
  const Layout all = blocks_2d(n, n, rows, cols);
  return {all, all, all, 8, 8, rows * cols};
}

TEST(MakePlan, UsesLayersOnlyWhereTheyFit) {
  Machine machine;
  machine.flops = 1e15;  // the network is the bottleneck
  machine.latency = 0;
  machine.memory = std::int64_t{1} << 40;
  const Plan roomy = make_plan(cube(16384, 8, 8), machine);
  EXPECT_GT(roomy.grid.layers, 1);
  EXPECT_LT(roomy.time.total(),
            make_plan(cube(16384, 8, 8), machine, {8, 8, 1, 512, true}).time.total());
  machine.memory = roomy.copies - 1;
  EXPECT_LE(make_plan(cube(16384, 8, 8), machine).copies, machine.memory);
  machine.memory = 0;
  EXPECT_TRUE(make_plan(cube(16384, 8, 8), machine).grid.in_place);
}

TEST(MakePlan, LeavesMatricesInPlaceWhereTheProductIsTheBottleneck) {
  Machine machine;
  machine.flops = 1e9;
  const Plan plan = make_plan(cube(8192, 4, 4), machine);
  EXPECT_EQ(plan.grid, (Decomposition{4, 4, 1, 512, true}));
  EXPECT_EQ(plan.steps, 16);
  EXPECT_DOUBLE_EQ(plan.time.product, 2.0 * 2048 * 2048 * 8192 / 1e9);
  EXPECT_DOUBLE_EQ(plan.time.steps, plan.time.product);
}

// The three cases of Al Daas et al.: 1-D, 2-D and 3-D.
TEST(LowerBound, OfEachRegion) {
  Machine machine;
  machine.memory = std::int64_t{1} << 50;
  const auto bound = [&](double m, double n, double k, int p) {
    const auto layout = [&](double rows, double cols) {
      return blocks_2d(static_cast<std::int64_t>(rows), static_cast<std::int64_t>(cols), p, 1);
    };
    return lower_bound({layout(m, k), layout(k, n), layout(m, n), 8, 8, p}, machine) / 8;
  };
  EXPECT_DOUBLE_EQ(bound(4096, 16, 16, 1), 0);
  EXPECT_DOUBLE_EQ(bound(4096, 64, 16, 4), 64 * 16 - 64 * 16 / 4.0);
  EXPECT_DOUBLE_EQ(bound(16, 64, 4096, 4), 64 * 16 - 64 * 16 / 4.0);
  EXPECT_DOUBLE_EQ(bound(4096, 4096, 256, 16), 2 * 256 * 1024 - (4096 * 256 + 4096 * 256) / 16.0);
  EXPECT_NEAR(bound(4096, 4096, 4096, 64), 3 * 1024 * 1024 - 3 * 4096 * 4096 / 64.0, 1e-6);
}

TEST(LowerBound, OfLittleMemory) {
  Machine machine;
  machine.memory = 0;
  const Problem problem = cube(65536, 64, 64);
  const double n = 65536, p = 4096, words = 3 * n * n / p;
  const double limited = n * n * n / (2 * std::sqrt(2.0) * p * std::sqrt(words)) - words;
  EXPECT_LE(limited * 8, lower_bound(problem, machine));
  const Plan plan = make_plan(problem, machine);
  const Traffic traffic = dry_run(plan, 0).total();
  EXPECT_LT(lower_bound(problem, machine), static_cast<double>(traffic.sent + traffic.received));
}

void expect_refused(const Problem& problem, const std::string& message) {
  try {
    make_plan(problem, {});
    ADD_FAILURE() << "expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Status::invalid_argument);
    EXPECT_EQ(error.what(), message);
  }
}

TEST(MakePlan, RefusesWithOneLine) {
  const Problem right = cube(8, 2, 2);
  Problem problem = right;
  problem.a.cols.block = 0;
  expect_refused(problem, "a.cols.block is 0; it must be at least 1");
  problem = right;
  problem.b.rows.source = 2;
  expect_refused(problem, "b.rows.source is 2; it must be from 0 to procs - 1");
  problem = right;
  problem.c.rows.skipped = 4;
  expect_refused(problem, "c.rows.skipped is 4; it must be from 0 to block - 1");
  problem = right;
  problem.a.rows.extent = 9;
  expect_refused(problem, "a.rows.extent is 9 and c.rows.extent is 8; they must be equal");
  problem = right;
  problem.b = blocks_2d(8, 8, 4, 1);
  expect_refused(problem,
                 "b is on a grid of 4 x 1 and c on one of 2 x 2; all matrices must be on one grid");
  problem = right;
  problem.ranks = 3;
  expect_refused(problem, "the grid of 2 x 2 has more processes than there are ranks, 3");
  problem = right;
  problem.c = transposed(problem.c);
  expect_refused(problem, "c is transposed; swap and transpose a and b instead");
}

TEST(MakePlan, RefusesADecompositionThatDoesNotFit) {
  EXPECT_THROW(make_plan(cube(8, 2, 2), {}, {2, 2, 2, 4, false}), Error);
  EXPECT_THROW(make_plan(cube(8, 2, 2), {}, {4, 1, 1, 4, true}), Error);
  EXPECT_THROW(make_plan(cube(8, 2, 2), {}, {2, 2, 1, 0, true}), Error);
}

}  // namespace
}  // namespace rung::dist
