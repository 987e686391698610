// For every problem, the CPU's rules and cost models select a kernel that can run it.

#include "select/cpu/select.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "core/rung.hpp"
#include "device/cpu/cost/dot_products.hpp"
#include "device/cpu/cost/masked_edges.hpp"
#include "device/cpu/cost/narrow.hpp"
#include "device/cpu/cost/panels.hpp"
#include "device/cpu/fma_units.hpp"
#include "device/cpu/machine.hpp"
#include "select/cpu/tables.hpp"

namespace rung {
namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t sizes[] = {1, 2, 16, 100, 4096, 1'000'000, largest};
constexpr DotMode modes[] = {DotMode::fast, DotMode::deterministic, DotMode::compensated,
                             DotMode::reproducible};
constexpr Order orders[] = {Order::row_major, Order::col_major};

std::set<std::string> catalog_ids() {
  std::set<std::string> ids;
  for (const RungInfo& rung : catalog()) ids.insert(rung.id);
  return ids;
}

TEST(Rules, NameRungsOfTheCatalog) {
  const std::set<std::string> ids = catalog_ids();
  for (const GemmRule& rule : tuned::gemm_rules)
    EXPECT_TRUE(ids.contains(rule.use.id)) << rule.use.id;
  for (const DotRule& rule : tuned::dot_rules)
    EXPECT_TRUE(ids.contains(rule.use.id)) << rule.use.id;
}

TEST(Rules, NameRungsOfTheirComputeMode) {
  for (const GemmRule& rule : tuned::gemm_rules) {
    for (const RungInfo* rung : select({rule.use.id})) {
      EXPECT_EQ(rung->compute_mode, rule.compute_mode) << rung->id;
    }
  }
}

/// A fixed machine with vectors of 64 bytes and one vector FMA per cycle, independent of the real
/// one.
const CpuRates rates_of_machine{.lanes_f32 = 16,
                                .lanes_f64 = 8,
                                .l1 = 32 << 10,
                                .l2 = 1 << 20,
                                .l3 = 32 << 20,
                                .handover = 6e3};

cpu::CpuModel model_of(std::string_view vendor, int family, int model) {
  cpu::CpuModel cpu{.family = family, .model = model};
  std::ranges::copy(vendor, cpu.vendor);
  return cpu;
}

/// The rate is known by CPU model: in a virtual machine, a measurement depends on the other guests.
TEST(Rates, OfFmasAreKnownByTheModel) {
  const auto zen = model_of("AuthenticAMD", 0x17, 0x01);
  const auto zen3 = model_of("AuthenticAMD", 0x19, 0x01),
             zen4 = model_of("AuthenticAMD", 0x19, 0x11);
  const auto emerald_rapids = model_of("GenuineIntel", 6, 0xcf);
  EXPECT_EQ(cpu::fmas_per_cycle(zen, 256), 1);
  EXPECT_EQ(cpu::fmas_per_cycle(zen3, 256), 2);
  EXPECT_EQ(cpu::fmas_per_cycle(zen4, 256), 2);
  EXPECT_EQ(cpu::fmas_per_cycle(zen4, 512), 1);
  EXPECT_EQ(cpu::fmas_per_cycle(emerald_rapids, 256), 2);
  EXPECT_EQ(cpu::fmas_per_cycle(emerald_rapids, 512), 2);
}

TEST(Rates, OfFmasAreMeasuredWhereNamesDoNotTell) {
  EXPECT_EQ(cpu::fmas_per_cycle(model_of("GenuineIntel", 6, 0x55), 512), std::nullopt);
  EXPECT_EQ(cpu::fmas_per_cycle(model_of("GenuineIntel", 6, 0x97), 256), std::nullopt);
  EXPECT_EQ(cpu::fmas_per_cycle(model_of("AuthenticAMD", 0x19, 0x01), 128), std::nullopt);
  EXPECT_EQ(cpu::fmas_per_cycle(cpu::CpuModel{}, 256), std::nullopt);
}

std::string rung_for(Dtype dtype, std::int64_t m, std::int64_t n, std::int64_t k, int threads = 1) {
  const GemmShape shape{dtype, m, n, k, Order::row_major, Order::row_major};
  return std::string(cheapest_gemm(shape, threads, CostFactors(), rates_of_machine).id);
}

TEST(Costs, ChooseRungsByShape) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    EXPECT_EQ(rung_for(dtype, 8, 8, 8), "gemm/cpu/masked_edges");
    EXPECT_EQ(rung_for(dtype, 1, 4096, 4096), "gemm/cpu/narrow");
    EXPECT_EQ(rung_for(dtype, 4096, 1, 4096), "gemm/cpu/narrow");
    EXPECT_EQ(rung_for(dtype, 2048, 2048, 2048), "gemm/cpu/just_in_time");
    EXPECT_EQ(rung_for(dtype, 1000, 100, 1000), "gemm/cpu/just_in_time");
    EXPECT_EQ(rung_for(dtype, 8, 8, 1 << 20, 2), "gemm/cpu/split_k");
    EXPECT_NE(rung_for(dtype, 64, 64, 65536), "gemm/cpu/split_k");
  }
}

/// unpacked pads the last strip of B to whole vectors, and has too few independent sums.
TEST(Costs, OfFewRowsAndColumnsAreLessInPlace) {
  CpuRates rates = rates_of_machine;
  rates.fmas_per_cycle = 2;
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    for (const auto& [n, k] : {std::pair{2, 1728}, std::pair{3, 2000}, std::pair{8, 2000}}) {
      const GemmShape shape{dtype, 1, n, k, Order::row_major, Order::row_major};
      EXPECT_STRNE(cheapest_gemm(shape, 1, CostFactors(), rates).id, "gemm/cpu/unpacked");
    }
  }
}

/// A CPU with 16 registers of 256 bits. masked_edges reads a B in L2 in place, or copies strips of
/// B. It remains the best for a C beyond L2, but not with many splits of k, as each adds to C.
/// just_in_time prefetches a B beyond L2 for some dozens of rows, unless a strip is most of a short
/// row of B. narrow loses with a few rows of A: they do not stay in registers.
TEST(Costs, OfTilesOfFewRowsKnowWhatTheirFmasHide) {
  const CpuRates rates{.lanes_f32 = 8,
                       .lanes_f64 = 4,
                       .l1 = 32 << 10,
                       .l2 = 512 << 10,
                       .l3 = 32 << 20,
                       .handover = 6e3,
                       .fmas_per_cycle = 2,
                       .has_few_registers = true};
  const auto rung = [&](Dtype dtype, std::int64_t m, std::int64_t n, std::int64_t k) {
    const GemmShape shape{dtype, m, n, k, Order::row_major, Order::row_major};
    return std::string(cheapest_gemm(shape, 1, CostFactors(), rates).id);
  };
  EXPECT_EQ(rung(Dtype::f32, 512, 704, 64), "gemm/cpu/masked_edges");
  EXPECT_EQ(rung(Dtype::f32, 808, 176, 56), "gemm/cpu/masked_edges");
  EXPECT_EQ(rung(Dtype::f32, 4, 1500, 300), "gemm/cpu/masked_edges");
  EXPECT_EQ(rung(Dtype::f32, 640, 4032, 40), "gemm/cpu/masked_edges");
  EXPECT_EQ(rung(Dtype::f32, 2, 39, 3823), "gemm/cpu/masked_edges");
  for (const std::int64_t side : {1000, 1024, 1536, 2048}) {
    EXPECT_EQ(rung(Dtype::f32, side, side, side), "gemm/cpu/just_in_time") << side;
  }
  EXPECT_EQ(rung(Dtype::f64, 32, 520, 2736), "gemm/cpu/just_in_time");
  EXPECT_EQ(rung(Dtype::f32, 368, 16, 304), "gemm/cpu/masked_edges");
  EXPECT_EQ(rung(Dtype::f32, 576, 128, 128), "gemm/cpu/masked_edges");
  EXPECT_EQ(rung(Dtype::f64, 616, 2120, 80), "gemm/cpu/masked_edges");
  EXPECT_EQ(rung(Dtype::f32, 256, 2688, 3392), "gemm/cpu/just_in_time");
  EXPECT_EQ(rung(Dtype::f32, 1, 1000, 1000), "gemm/cpu/narrow");
  EXPECT_EQ(rung(Dtype::f32, 4096, 1, 4096), "gemm/cpu/narrow");
}

/// masked_edges streams A from memory, a part of a few rows at a time; narrow reads whole rows.
TEST(Costs, OfFewColumnsAreLessByRows) {
  const CpuRates rates{.lanes_f32 = 16,
                       .lanes_f64 = 8,
                       .l1 = 48 << 10,
                       .l2 = 2 << 20,
                       .l3 = 300 << 20,
                       .handover = 6e3,
                       .fmas_per_cycle = 2};
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    for (const std::int64_t n : {1, 2, 4}) {
      const GemmShape shape{dtype, 8192, n, 8192, Order::row_major, Order::row_major};
      EXPECT_STREQ(cheapest_gemm(shape, 1, CostFactors(), rates).id, "gemm/cpu/narrow") << n;
    }
  }
}

/// narrow reads a column-major B again for every four rows: from memory, if L3 does not keep it.
TEST(Costs, OfRowsByAFarBAreLessInOnePass) {
  const CpuRates rates{.lanes_f32 = 16,
                       .lanes_f64 = 8,
                       .l1 = 32 << 10,
                       .l2 = 1 << 20,
                       .l3 = 32 << 20,
                       .handover = 6e3,
                       .fmas_per_cycle = 2};
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    for (const std::int64_t m : {3, 4, 5, 8, 9, 12, 13}) {
      for (const auto& [n, k] : {std::pair{3200, 3200}, std::pair{600, 8000}}) {
        const GemmShape shape{dtype, m, n, k, Order::row_major, Order::col_major};
        const std::string id = cheapest_gemm(shape, 1, CostFactors(), rates).id;
        EXPECT_EQ(id == "gemm/cpu/narrow", m <= 4) << m << " by " << n << ": " << id;
      }
    }
  }
}

/// unpacked assigns strips of few rows to threads one by one.
TEST(Costs, OfFewRowsOnThreadsAreLessInParts) {
  const CpuRates rates{.lanes_f32 = 8,
                       .lanes_f64 = 4,
                       .l1 = 32 << 10,
                       .l2 = 512 << 10,
                       .l3 = 32 << 20,
                       .handover = 6e3,
                       .fmas_per_cycle = 2,
                       .has_few_registers = true};
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    for (const auto& [m, n, k] :
         {std::tuple{3, 2072, 1236}, std::tuple{4, 1416, 592}, std::tuple{5, 200, 3288}}) {
      const GemmShape shape{dtype, m, n, k, Order::row_major, Order::row_major};
      EXPECT_STRNE(cheapest_gemm(shape, 2, CostFactors(), rates).id, "gemm/cpu/unpacked") << m;
    }
  }
}

TEST(Costs, PreferTilesToDotProductsByShape) {
  const auto prefers_tiles = [](Dtype dtype, std::int64_t m, std::int64_t n, std::int64_t k) {
    const GemmShape shape{dtype, m, n, k, Order::row_major, Order::row_major};
    return cost_of_tiles(shape) < cost_of_dot_products(shape);
  };
  for (const Dtype dtype : {Dtype::bf16, Dtype::i8}) {
    EXPECT_TRUE(prefers_tiles(dtype, 100, 100, 100));
    EXPECT_TRUE(prefers_tiles(dtype, 5, 1000, 1000));
    EXPECT_TRUE(prefers_tiles(dtype, 2000, 6, 500));
    EXPECT_TRUE(prefers_tiles(dtype, 64, 4, 256));
    EXPECT_FALSE(prefers_tiles(dtype, 4096, 1, 4096));
    EXPECT_FALSE(prefers_tiles(dtype, 10, 1, 1903));
    EXPECT_FALSE(prefers_tiles(dtype, 4, 1, 104));
    EXPECT_FALSE(prefers_tiles(dtype, 1, 4096, 4096));
    EXPECT_FALSE(prefers_tiles(dtype, 4, 4, 4));
    EXPECT_FALSE(prefers_tiles(dtype, 16, 64, 2));
  }
}

TEST(Costs, AreOfRungsInTheCatalog) {
  const std::set<std::string> ids = catalog_ids();
  for (const auto& rung : gemm_rungs_with_costs()) {
    EXPECT_TRUE(ids.contains(rung.id)) << rung.id;
    EXPECT_TRUE(is_in_use(rung.id));
  }
  EXPECT_TRUE(is_in_use("gemm/cpu/amx"));
  EXPECT_FALSE(is_in_use("gemm/cpu/02_blocked"));
}

CpuRates rates_of_lanes(double lanes_f32) {
  return {.lanes_f32 = lanes_f32,
          .lanes_f64 = lanes_f32 / 2,
          .l1 = 32 << 10,
          .l2 = 1 << 20,
          .l3 = 8 << 20,
          .handover = 1e4};
}

TEST(Costs, OfMoreWorkAreHigher) {
  const CpuRates rates = rates_of_lanes(8);
  for (const Order a : orders) {
    for (const Order b : orders) {
      const GemmTerms less({Dtype::f64, 100, 90, 80, a, b}, rates);
      const GemmTerms more({Dtype::f64, 300, 90, 80, a, b}, rates);
      EXPECT_LT(cost::cache_blocks(less, 1), cost::cache_blocks(more, 1));
      EXPECT_LT(cost::unpacked(less, 2), cost::unpacked(more, 2));
      EXPECT_LT(cost::masked_edges(less, 1), cost::masked_edges(more, 1));
      EXPECT_LT(cost::masked_edges(more, 2), cost::masked_edges(more, 1));
      EXPECT_LT(cost::just_in_time(less, 2), cost::just_in_time(more, 2));
      EXPECT_LT(cost::just_in_time(more, 2), cost::just_in_time(more, 1));
    }
  }
}

TEST(Costs, AreThereForEmptyProducts) {
  for (const bool has_few_registers : {false, true}) {
    CpuRates rates = rates_of_lanes(has_few_registers ? 8 : 16);
    rates.fmas_per_cycle = 2;
    rates.has_few_registers = has_few_registers;
    for (const std::int64_t m : {0, 2, 100, 2000}) {
      for (const std::int64_t n : {0, 100, 2000}) {
        for (const std::int64_t k : {0, 100, 2000}) {
          const GemmTerms costs({Dtype::f32, m, n, k, Order::row_major, Order::row_major}, rates);
          EXPECT_GE(cost::masked_edges(costs, 1), 0) << m << " x " << n << " x " << k;
          EXPECT_GE(cost::just_in_time(costs, 1), 0) << m << " x " << n << " x " << k;
        }
      }
    }
  }
}

TEST(Costs, OfThreadsThatHaveNoPartAreNotPaid) {
  const CpuRates rates = rates_of_lanes(16);
  // One tile of four rows by 32 columns.
  const GemmTerms tile({Dtype::f32, 4, 32, 5000, Order::row_major, Order::row_major}, rates);
  EXPECT_EQ(cost::masked_edges(tile, 2), cost::masked_edges(tile, 1));

  CpuRates few_registers = rates_of_lanes(8);
  few_registers.has_few_registers = true;
  const GemmTerms block({Dtype::f32, 28, 64, 500, Order::row_major, Order::row_major},
                        few_registers);
  EXPECT_EQ(cost::cache_blocks(block, 2), cost::cache_blocks(block, 1));

  // Up to 64 columns are one part, and k is too short to be split.
  const GemmTerms row({Dtype::f32, 2, 39, 1000, Order::row_major, Order::row_major}, rates);
  EXPECT_EQ(cost::narrow(row, 16), cost::narrow(row, 1));
  const GemmTerms long_k({Dtype::f32, 2, 39, 3823, Order::row_major, Order::row_major}, rates);
  EXPECT_LT(cost::narrow(long_k, 2), cost::narrow(long_k, 1));
}

TEST(Costs, OfANarrowProductCountItsPassesOverC) {
  const CpuRates rates = rates_of_lanes(16);
  const auto narrow = [&](std::int64_t k) {
    const GemmTerms terms({Dtype::f32, 2, 4096, k, Order::row_major, Order::row_major}, rates);
    return cost::narrow(terms, 1);
  };
  EXPECT_GT(narrow(13) - narrow(12), 1.5 * (narrow(12) - narrow(11)));  // two passes instead of one
}

TEST(CostFactors, ReadsWhatItWrites) {
  CostFactors factors;
  factors.f32[4] = 1.25;
  factors.f64[0] = 0.5;
  const CostFactors read = parse_cost_factors(format_cost_factors(factors, "some CPU"));
  EXPECT_EQ(read.f32, factors.f32);
  EXPECT_EQ(read.f64, factors.f64);
}

TEST(CostFactors, RefusesOtherLines) {
  for (const char* line :
       {"gemm/cpu/just_in_time f32", "gemm/cpu/just_in_time f32 0", "gemm/cpu/just_in_time f32 nan",
        "gemm/cpu/just_in_time f32 1 2", "gemm/cpu/just_in_time i32 1", "gemm/cpu/02_blocked f32 1",
        "gemm/cuda/fma_tiles f32 1"}) {
    try {
      parse_cost_factors(line);
      ADD_FAILURE() << line;
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), std::string("'") + line +
                                  "' is not 'RUNG DTYPE FACTOR', as rung tune gemm/cpu writes it");
    }
  }
}

TEST(CostFactors, DecideTheRung) {
  const GemmShape shape = {Dtype::f32, 2048, 2048, 2048, Order::row_major, Order::row_major};
  CostFactors factors;
  const auto id = [&] { return cheapest_gemm(shape, 1, factors, rates_of_machine).id; };
  EXPECT_STREQ(id(), "gemm/cpu/just_in_time");
  factors.f32[4] = 10;
  EXPECT_STREQ(id(), "gemm/cpu/cache_blocks");
  factors.f64[0] = 10;
  EXPECT_STREQ(id(), "gemm/cpu/cache_blocks");
}

TEST(Rules, GiveEachThreadSomeWork) {
  for (const GemmRule& rule : tuned::gemm_rules) EXPECT_GT(rule.work_per_thread, 0);
  for (const DotRule& rule : tuned::dot_rules) EXPECT_GT(rule.work_per_thread, 0);
}

TEST(Rules, LastOneFitsEveryGemm) {
  const GemmRule& last = *std::rbegin(tuned::gemm_rules);
  for (const Dtype dtype : all_dtypes) EXPECT_TRUE(last.dtypes.has(dtype));
  EXPECT_LE(last.min_m, 1);
  EXPECT_LE(last.min_n, 1);
  EXPECT_LE(last.min_k, 1);
  for (const std::int64_t max : {last.max_m, last.max_n, last.max_k}) {
    EXPECT_EQ(max, any_size);
  }
  EXPECT_EQ(last.max_work, any_work);
  EXPECT_FALSE(last.a || last.b);
}

TEST(Rules, SomeOneFitsEveryDot) {
  for (const DotMode mode : modes) {
    const bool covered = std::any_of(
        std::begin(tuned::dot_rules), std::end(tuned::dot_rules), [&](const DotRule& rule) {
          return rule.mode == detail::mode_of_rule(mode) && rule.max_n == any_size &&
                 !rule.use.rung->unit_stride &&
                 std::all_of(all_dtypes.begin(), all_dtypes.end(),
                             [&](Dtype dtype) { return rule.dtypes.has(dtype); });
        });
    EXPECT_TRUE(covered) << static_cast<int>(mode);
  }
}

TEST(ChooseGemm, UsesAtMostTheThreadsAllowed) {
  for (const Dtype dtype : all_dtypes) {
    for (const std::int64_t m : sizes) {
      for (const std::int64_t n : sizes) {
        for (const std::int64_t k : sizes) {
          for (const Order order : orders) {
            const GemmShape shape{dtype, m, n, k, order, Order::row_major};
            EXPECT_EQ(choose_gemm(shape, 1).threads, 1);
            EXPECT_LE(choose_gemm(shape, 3).threads, 3);
            EXPECT_GE(choose_gemm(shape, 3).threads, 1);
            EXPECT_LE(choose_gemm(shape, 0).threads, cpu::available_threads());
          }
        }
      }
    }
  }
}

TEST(ChooseGemm, LeavesTinyProductsToOneThread) {
  EXPECT_EQ(choose_gemm({Dtype::f32, 8, 8, 8, Order::row_major, Order::row_major}, 64).threads, 1);
}

TEST(ChooseGemm, SharesOutLargeProducts) {
  const GemmShape shape{Dtype::f32, 4096, 4096, 4096, Order::row_major, Order::row_major};
  EXPECT_EQ(choose_gemm(shape, 2).threads, 2);
}

TEST(ChooseGemm, ReadsTheOrdersOffACall) {
  const GemmCall call{Dtype::f32,      64, 48, 32, 1.0, {nullptr, 1, 64}, {nullptr, 48, 1}, 0.0,
                      {nullptr, 48, 1}};
  const GemmShape shape{Dtype::f32, 64, 48, 32, Order::col_major, Order::row_major};
  EXPECT_EQ(choose_gemm(call, 1).rung, choose_gemm(shape, 1).rung);
}

TEST(ChooseDot, TakesTheModeAndTheStridesIntoAccount) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::bf16, Dtype::f16}) {
    for (const std::int64_t n : sizes) {
      for (const DotMode mode : modes) {
        const DotChoice strided = choose_dot(DotShape{dtype, n, false, mode}, 2);
        EXPECT_FALSE(strided.rung->unit_stride);
        const DotChoice unit = choose_dot(DotShape{dtype, n, true, mode}, 2);
        EXPECT_EQ(std::string(unit.id).ends_with("compensated"), mode == DotMode::compensated);
        EXPECT_EQ(std::string(unit.id).ends_with("reproducible"), mode == DotMode::reproducible);
        EXPECT_LE(unit.threads, 2);
      }
    }
  }
}

}  // namespace
}  // namespace rung
