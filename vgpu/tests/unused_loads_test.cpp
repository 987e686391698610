// A load may race with another thread's store if its own thread does not use the value, as in tiles of Triton that
// several threads load and one of them stores.

#include "vgpu/tests/launch_fixture.hpp"

namespace rung::vgpu {
namespace {

class UnusedLoadsTest : public LaunchTest {
 protected:
  /// The kinds of hazards if the threads of two warps each load element %r3 of 32, of `space`, and then do `what`. The
  /// value is in %r4, its double in %r5; %p1: the thread is in the first warp.
  std::vector<HazardKind> hazards_of(const std::string& what, const std::string& space = "global") {
    const std::string in_shared = R"(
      cvt.u64.u32 %rd1, %r3;
      shl.b64 %rd1, %rd1, 2;
      mov.u64 %rd5, s;
      add.s64 %rd1, %rd1, %rd5;
      @%p1 st.shared.u32 [%rd1], %r1;
      bar.sync 0;)";
    const std::string text = entry(".param .u64 x, .param .u64 y, .param .u32 zero",
                                   R"(
      .shared .align 4 .b8 s[128];
      .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .pred %p<8>;
      ld.param.u64 %rd1, [x];
      ld.param.u64 %rd2, [y];
      ld.param.u32 %r9, [zero];
      mov.u32 %r1, %tid.x;
      and.b32 %r3, %r1, 31;
      and.b32 %r6, %r1, 32;
      setp.eq.b32 %p1, %r6, 0;
      mul.wide.u32 %rd3, %r3, 4;
      add.s64 %rd1, %rd1, %rd3;
      mul.wide.u32 %rd4, %r1, 4;
      add.s64 %rd2, %rd2, %rd4;)" + (space == "shared" ? in_shared : "") +
                                       "\nld." + space + R"(.u32 %r4, [%rd1];
      add.u32 %r5, %r4, %r4;
      )" + what + "\nret;");
    const std::uint64_t x = array(std::vector<std::uint32_t>(32, 1));
    const std::uint64_t y = array(std::vector<std::uint32_t>(64, 1));
    std::vector<HazardKind> kinds;
    for (const Hazard& hazard :
         run(text, {1, 1, 1}, {64, 1, 1}, {x, y, std::uint64_t{0}}).hazards) {
      kinds.push_back(hazard.kind);
    }
    return kinds;
  }
};

using Kinds = std::vector<HazardKind>;

TEST_F(UnusedLoadsTest, MayRaceWithAStore) {
  EXPECT_EQ(hazards_of("@%p1 st.global.u32 [%rd1], %r5;"), Kinds{});
  EXPECT_EQ(hazards_of("@%p1 st.shared.u32 [%rd1], %r5;", "shared"), Kinds{});
  // The predicate by other instructions, and as a conjunction with one that is not known.
  EXPECT_EQ(
      hazards_of("shr.u32 %r7, %r1, 5; setp.lt.u32 %p2, %r7, 1; @%p2 st.global.u32 [%rd1], %r5;"),
      Kinds{});
  EXPECT_EQ(hazards_of("setp.gt.u32 %p2, %r1, 31; @!%p2 st.global.u32 [%rd1], %r5;"), Kinds{});
  EXPECT_EQ(hazards_of(
                "setp.eq.u32 %p2, %r9, 0; and.pred %p3, %p2, %p1; @%p3 st.global.u32 [%rd1], %r5;"),
            Kinds{});
}

TEST_F(UnusedLoadsTest, OthersAreRaces) {
  const Kinds race = {HazardKind::global_race};
  const std::string store = "@%p1 st.global.u32 [%rd1], %r5;\n";
  // The second warp uses the value: in a store, an address, a condition, another lane.
  EXPECT_EQ(hazards_of(store + "st.global.u32 [%rd2], %r5;"), race);
  EXPECT_EQ(hazards_of(store + "not.pred %p2, %p1; @%p2 st.global.u32 [%rd2], %r5;"), race);
  EXPECT_EQ(hazards_of(store + "setp.eq.u32 %p2, %r5, 2; @%p2 st.global.u32 [%rd2], 3;"), race);
  EXPECT_EQ(
      hazards_of(store + "shfl.sync.idx.b32 %r8, %r5, 0, 31, -1; @%p1 st.global.u32 [%rd2], %r8;"),
      race);
  // The guard of the store depends on data alone. Both threads store, too.
  EXPECT_EQ(hazards_of("setp.eq.u32 %p2, %r9, %r3; @%p2 st.global.u32 [%rd1], %r5;"),
            (Kinds{HazardKind::global_race, HazardKind::global_race}));
  // Nothing follows from a load that is never used.
  EXPECT_EQ(hazards_of("@%p1 st.global.u32 [%rd1], 7;"), race);
  EXPECT_EQ(hazards_of("@%p1 st.shared.u32 [%rd1], %r5; st.global.u32 [%rd2], %r5;", "shared"),
            Kinds{HazardKind::shared_race});
}

}  // namespace
}  // namespace rung::vgpu
