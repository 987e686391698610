// Launches in the orders of seeds: results may differ, hazards may not, and equal seeds give equal results.

#include "vgpu/schedule.hpp"

#include <algorithm>
#include <set>

#include "vgpu/model/schedule.hpp"
#include "vgpu/tests/launch_fixture.hpp"

namespace rung::vgpu {
namespace {

constexpr std::uint64_t seeds = 8;

class ScheduleTest : public LaunchTest {
 protected:
  ScheduleTest() { options.threads = 1; }
  ~ScheduleTest() override { set_schedule(0); }

  /// The first word of an array of zeros after a launch of `blocks` blocks in the order of that seed.
  std::uint32_t result(const std::string& text, std::uint64_t seed, std::uint32_t blocks,
                       std::uint32_t threads) {
    set_schedule(seed);
    const std::uint64_t x = array(std::vector<std::uint32_t>(1024, 0u));
    report = run(text, {blocks, 1, 1}, {threads, 1, 1}, {x});
    return values<std::uint32_t>(x, 1).front();
  }

  LaunchReport report;
};

/// A kernel with %rd1 = x, %r1 = the thread and %r2 = the block.
std::string kernel(const std::string& body) {
  return entry(".param .u64 p", R"(
    .shared .align 4 .b8 s[4096];
    .reg .b32 %r<12>; .reg .b64 %rd<4>; .reg .pred %p<4>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    )" + body + "\nret;");
}

const std::string increments = kernel(R"(
    ld.global.u32 %r3, [%rd1];
    add.u32 %r3, %r3, 1;
    st.global.u32 [%rd1], %r3;)");

TEST(Schedule, BlocksStartInAPermutation) {
  for (const std::uint64_t count : {1, 2, 3, 7, 64, 1000, 1025}) {
    const Schedule schedule(count);
    std::set<std::uint64_t> started;
    for (std::uint64_t i = 0; i < count; ++i) started.insert(schedule.permuted(i, count));
    EXPECT_EQ(started.size(), count);
    EXPECT_EQ(*started.rbegin(), count - 1);
  }
}

TEST(Schedule, NodesComeAfterThoseTheyWaitFor) {
  const std::vector<std::vector<std::size_t>> after = {{}, {0}, {0}, {1, 2}, {}, {4, 3}};
  std::set<std::vector<std::size_t>> orders;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Schedule schedule(seed);
    const std::vector<std::size_t> order = random_order(after, schedule);
    ASSERT_EQ(order.size(), after.size());
    const auto position = [&](std::size_t node) { return std::ranges::find(order, node); };
    for (std::size_t node = 0; node < after.size(); ++node) {
      for (const std::size_t other : after[node]) EXPECT_LT(position(other), position(node));
    }
    orders.insert(order);
  }
  EXPECT_GT(orders.size(), 4u);
}

TEST_F(ScheduleTest, UpdatesAreLostInSomeOrders) {
  std::set<std::uint32_t> results;
  for (std::uint64_t seed = 0; seed <= seeds; ++seed) {
    const std::uint32_t once = result(increments, seed, 32, 1);
    expect_only(report, HazardKind::global_race);
    EXPECT_EQ(result(increments, seed, 32, 1), once) << "seed " << seed;
    results.insert(once);
  }
  EXPECT_GT(results.size(), 2u);
}

TEST_F(ScheduleTest, AtomicsLoseNoUpdates) {
  const std::string text = kernel("red.global.add.u32 [%rd1], 1;");
  for (std::uint64_t seed = 0; seed <= seeds; ++seed) {
    EXPECT_EQ(result(text, seed, 33, 96), 33u * 96u);
    expect_none(report);
  }
}

TEST_F(ScheduleTest, UnwrittenSharedMemoryDiffers) {
  const std::string text = kernel(R"(
    ld.shared.u32 %r3, [s + 8];
    st.global.u32 [%rd1], %r3;)");
  std::set<std::uint32_t> results;
  for (std::uint64_t seed = 0; seed <= seeds; ++seed) {
    results.insert(result(text, seed, 2, 1));
    EXPECT_TRUE(has(report, HazardKind::uninitialised_read));
  }
  EXPECT_EQ(results.size(), seeds + 1);
  EXPECT_EQ(result(text, 1, 1, 1), result(text, 1, 1, 1));
}

/// Thread t stores t in s[t], and thread 0 adds up s[255 - i] after `between`.
std::string sum_of_words(const std::string& between) {
  return kernel(R"(
    shl.b32 %r3, %r1, 2;
    mov.u32 %r4, s;
    add.u32 %r5, %r4, %r3;
    st.shared.u32 [%r5], %r1;
    )" + between +
                R"(
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra end;
    mov.u32 %r6, 0;
    mov.u32 %r7, 0;
next:
    ld.shared.u32 %r8, [%r4];
    add.u32 %r6, %r6, %r8;
    add.u32 %r4, %r4, 4;
    add.u32 %r7, %r7, 1;
    setp.lt.u32 %p2, %r7, 256;
    @%p2 bra next;
    st.global.u32 [%rd1], %r6;
end:)");
}

TEST_F(ScheduleTest, BarriersHoldInEveryOrder) {
  for (std::uint64_t seed = 0; seed <= seeds; ++seed) {
    EXPECT_EQ(result(sum_of_words("bar.sync 0;"), seed, 1, 256), 255u * 256u / 2u);
    expect_none(report);
  }
}

TEST_F(ScheduleTest, AMissingBarrierIsReportedInEveryOrder) {
  for (std::uint64_t seed = 0; seed <= seeds; ++seed) {
    result(sum_of_words(""), seed, 1, 256);
    EXPECT_TRUE(has(report, HazardKind::shared_race)) << "seed " << seed;
  }
}

TEST_F(ScheduleTest, BlocksThatWaitForEachOtherEnd) {
  const std::string text = kernel(R"(
wait:
    ld.acquire.gpu.global.u32 %r3, [%rd1];
    setp.ne.u32 %p1, %r3, %r2;
    @%p1 bra wait;
    add.u32 %r3, %r3, 1;
    st.release.gpu.global.u32 [%rd1], %r3;)");
  for (std::uint64_t seed = 0; seed <= seeds; ++seed) {
    EXPECT_EQ(result(text, seed, 40, 1), 40u) << "seed " << seed;
    expect_none(report);
  }
}

}  // namespace
}  // namespace rung::vgpu
