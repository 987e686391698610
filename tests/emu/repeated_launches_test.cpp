// Launches that share a record.

#include "emu/runtime/repeated_launches.hpp"

#include <gtest/gtest.h>

namespace rung::emu {
namespace {

vgpu::LaunchReport launch(const std::string& kernel, std::uint32_t blocks) {
  vgpu::LaunchReport report;
  report.kernel = kernel;
  report.grid = {blocks, 1, 1};
  report.seconds = 0.5;
  report.counters.instructions = 3;
  return report;
}

/// Adds `count` launches and returns the number of those that get a record of their own.
int own_records(RepeatedLaunches& launches, const vgpu::LaunchReport& report, int count) {
  int own = 0;
  for (int i = 0; i < count; ++i) own += launches.add(report) ? 0 : 1;
  return own;
}

TEST(RepeatedLaunches, AreSummedUpByShape) {
  RepeatedLaunches launches;
  const int first = own_records(launches, launch("a", 1), 100);
  EXPECT_GT(first, 0);
  EXPECT_LT(first, 100);
  EXPECT_EQ(own_records(launches, launch("a", 2), 100), first);
  EXPECT_EQ(own_records(launches, launch("b", 1), 100), first);
  const std::vector<SharedRecord> records = launches.take();
  ASSERT_EQ(records.size(), 3u);
  for (const auto& [sum, times] : records) {
    EXPECT_EQ(times, 100u - static_cast<unsigned>(first));
    EXPECT_EQ(sum.counters.instructions, 3 * times);
    EXPECT_EQ(sum.seconds, 0.5 * static_cast<double>(times));
  }
  EXPECT_EQ(records[1].sum.kernel, "a");
  EXPECT_EQ(records[1].sum.grid.x, 2u);
  EXPECT_TRUE(launches.take().empty());
  EXPECT_EQ(own_records(launches, launch("a", 1), 10), 0);
  EXPECT_EQ(launches.take().at(0).times, 10u);
}

TEST(RepeatedLaunches, OnesWithHazardsOrFaultsHaveTheirOwn) {
  RepeatedLaunches launches;
  own_records(launches, launch("a", 1), 100);
  vgpu::LaunchReport hazardous = launch("a", 1), failed = hazardous;
  hazardous.hazards.emplace_back();
  failed.fault = vgpu::HazardKind::trap;
  EXPECT_FALSE(launches.add(hazardous));
  EXPECT_FALSE(launches.add(failed));
  EXPECT_TRUE(launches.add(launch("a", 1)));
}

}  // namespace
}  // namespace rung::emu
