// Loads that a compiler moved ahead of their condition race only where their value is used.

#include "vgpu/tests/launch_fixture.hpp"

namespace rung::vgpu {
namespace {

class SpeculationTest : public LaunchTest {
 protected:
  /// Odd threads write s[t], and all threads load s[t ^ partner] without a barrier in between.
  /// `use` has the value in %r8; %p1 is true in even threads.
  LaunchReport race(int partner, const std::string& use) {
    const std::uint64_t out = array(std::vector<std::uint32_t>(64, 0));
    return run(entry(".param .u64 p", R"(
      .shared .align 4 .b8 s[256];
      .reg .b32 %r<12>; .reg .b64 %rd<4>; .reg .pred %p<6>;
      ld.param.u64 %rd1, [p];
      mov.u32 %r1, %tid.x;
      mul.wide.u32 %rd2, %r1, 4;
      add.s64 %rd1, %rd1, %rd2;
      shl.b32 %r2, %r1, 2;
      mov.u32 %r3, s;
      add.s32 %r4, %r3, %r2;
      st.shared.u32 [%r4], %r1;
      bar.sync 0;
      and.b32 %r5, %r1, 1;
      setp.eq.u32 %p1, %r5, 0;
      @!%p1 st.shared.u32 [%r4], %r2;
      xor.b32 %r6, %r1, )" + std::to_string(partner) +
                                          R"(;
      shl.b32 %r6, %r6, 2;
      add.s32 %r7, %r3, %r6;
      ld.shared.u32 %r8, [%r7];
      )" + use + R"(
      ret;)"),
               {1, 1, 1}, {64, 1, 1}, {out});
  }
  static std::size_t races(const LaunchReport& report) {
    std::size_t found = 0;
    for (const Hazard& hazard : report.hazards) found += hazard.kind == HazardKind::shared_race;
    return found;
  }
};

// Thread t ^ 34 is in the other warp and has the parity of t; thread t ^ 35 does not.
constexpr int same = 34, other = 35;

constexpr const char* selected =
    "add.s32 %r9, %r8, 1; selp.b32 %r9, %r9, 0, %p1; st.global.u32 [%rd1], %r9;";

TEST_F(SpeculationTest, AValueThatIsNotSelected) {
  EXPECT_EQ(races(race(same, selected)), 0u);
  EXPECT_GT(races(race(other, selected)), 0u);
  EXPECT_GT(races(race(same, "selp.b32 %r9, 0, %r8, %p1; st.global.u32 [%rd1], %r9;")), 0u);
}

TEST_F(SpeculationTest, AValueThatIsUsedOnOneSideOfABranch) {
  const std::string use = "@!%p1 bra END; st.global.u32 [%rd1], %r8; END:";
  EXPECT_EQ(races(race(same, use)), 0u);
  EXPECT_GT(races(race(other, use)), 0u);
  EXPECT_GT(races(race(same, "@%p1 bra END; st.global.u32 [%rd1], %r8; END:")), 0u);
}

TEST_F(SpeculationTest, AValueThatDecidesNothing) {
  const std::string use =
      "setp.gt.u32 %p2, %r8, 5; and.pred %p3, %p2, %p1; @%p3 st.global.u32 [%rd1], %r1;";
  EXPECT_EQ(races(race(same, use)), 0u);
  EXPECT_GT(races(race(other, use)), 0u);
}

TEST_F(SpeculationTest, AValueThatIsUsedAnyway) {
  const std::string both = std::string(selected) + "st.global.u32 [%rd1], %r8;";
  EXPECT_GT(races(race(same, both)), 0u);
  EXPECT_GT(races(race(same, "st.global.u32 [%rd1], %r8;")), 0u);
  // Uses as an address, and in an exchange.
  EXPECT_GT(
      races(race(same, "and.b32 %r8, %r8, 4; add.s32 %r8, %r3, %r8; ld.shared.u32 %r9, [%r8];")),
      0u);
  EXPECT_GT(races(race(same, "shfl.sync.bfly.b32 %r9, %r8, 1, 31, -1;")), 0u);
}

TEST_F(SpeculationTest, AReadThatMattersRacesWithALaterWrite) {
  // Even threads use values that odd ones write afterwards.
  const std::string later = "@!%p1 st.shared.u32 [%r4], %r1;";
  EXPECT_EQ(races(race(same, selected + later)), 0u);
  EXPECT_GT(races(race(other, selected + later)), 0u);
}

TEST_F(SpeculationTest, AnAddressRegisterThatIsWrittenAgain) {
  const std::string reuse = "mov.u32 %r7, 0;";
  EXPECT_EQ(races(race(same, reuse + selected)), 0u);
  EXPECT_GT(races(race(other, reuse + selected)), 0u);
}

}  // namespace
}  // namespace rung::vgpu
