// The accesses passed to the watcher agree with the counters, address by address.

#include "vgpu/model/access_watch.hpp"

#include <map>

#include "vgpu/tests/launch_fixture.hpp"

namespace rung::vgpu {
namespace {

class AccessWatchTest : public LaunchTest {
 protected:
  AccessWatchTest() {
    options.watcher = [this](const WarpAccess& access) { seen.push_back(access); };
  }

  /// Sums up the accesses of each instruction, and compares the sums with the launch's own
  /// counters.
  void expect_counted(const LaunchReport& report) const {
    std::map<std::uint32_t, SiteCounters> told;
    for (const WarpAccess& access : seen) {
      ++told[access.site].executions;
      told[access.site].units += static_cast<std::uint64_t>(access.units);
    }
    ASSERT_FALSE(told.empty());
    for (const auto& [site, counters] : told) {
      EXPECT_EQ(counters.executions, report.per_site[site].executions) << site;
      EXPECT_EQ(counters.units, report.per_site[site].units) << site;
    }
  }

  std::vector<WarpAccess> seen;
};

TEST_F(AccessWatchTest, GlobalAccessesHaveTheirAddresses) {
  const std::uint64_t p = array(std::vector<float>(512));
  const std::uint64_t q = memory.allocate(4 * 64);
  const LaunchReport report = run(entry(".param .u64 p, .param .u64 q", R"(
    .reg .b32 %t; .reg .b64 %p, %q, %o; .reg .f32 %f;
    ld.param.u64 %p, [p]; ld.param.u64 %q, [q];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %o, %t, 8; add.s64 %p, %p, %o; ld.global.f32 %f, [%p+4];
    mul.wide.u32 %o, %t, 4; add.s64 %q, %q, %o; st.global.f32 [%q], %f;
    ret;)"),
                                  {1, 1, 1}, {64, 1, 1}, {p, q});
  expect_counted(report);
  ASSERT_EQ(seen.size(), 4u);
  for (const WarpAccess& access : seen) {
    EXPECT_FALSE(access.shared);
    EXPECT_EQ(access.lanes, 0xFFFFFFFFu);
    EXPECT_EQ(access.bytes, 4u);
    EXPECT_EQ(access.units, access.load ? 8 : 4);
    for (std::uint64_t lane = 0; lane < 32; ++lane) {
      const std::uint64_t thread = 32 * static_cast<std::uint64_t>(access.warp) + lane;
      EXPECT_EQ(access.address[lane], access.load ? p + 4 + 8 * thread : q + 4 * thread);
    }
  }
}

TEST_F(AccessWatchTest, SharedAccessesOfSuperinstructionsAreTold) {
  const std::uint64_t q = memory.allocate(4 * 32);
  const LaunchReport report = run(entry(".param .u64 q", R"(
    .reg .b32 %t, %a; .reg .b64 %q, %o; .reg .f32 %f<4>;
    .shared .align 16 .b8 tile[1024];
    ld.param.u64 %q, [q];
    mov.u32 %t, %tid.x; mov.u32 %a, tile; mad.lo.u32 %a, %t, 8, %a;
    mov.f32 %f0, 0f3F800000;
    st.shared.f32 [%a], %f0; st.shared.f32 [%a+4], %f0;
    bar.sync 0;
    ld.shared.f32 %f1, [%a]; ld.shared.f32 %f2, [%a+4];
    fma.rn.f32 %f3, %f1, %f2, %f0;
    mul.wide.u32 %o, %t, 4; add.s64 %q, %q, %o; st.global.f32 [%q], %f3;
    ret;)"),
                                  {1, 1, 1}, {32, 1, 1}, {q});
  EXPECT_TRUE(report.hazards.empty());
  int loads = 0, stores = 0;
  for (const WarpAccess& access : seen) {
    if (!access.shared) continue;
    ++(access.load ? loads : stores);
    EXPECT_EQ(access.units, 2);
    for (std::uint64_t lane = 1; lane < 32; ++lane) {
      EXPECT_EQ(access.address[lane] - access.address[0], 8 * lane);
    }
    EXPECT_LT(access.address[31], 256u);
  }
  EXPECT_EQ(loads, 2);
  EXPECT_EQ(stores, 2);
}

TEST_F(AccessWatchTest, LaunchWithoutAWatcherTellsNobody) {
  options.watcher = {};
  const std::uint64_t q = memory.allocate(4);
  run(entry(".param .u64 q", R"(
    .reg .b64 %q;
    ld.param.u64 %q, [q]; st.global.b32 [%q], 1;
    ret;)"),
      {1, 1, 1}, {1, 1, 1}, {q});
  EXPECT_TRUE(seen.empty());
}

}  // namespace
}  // namespace rung::vgpu
