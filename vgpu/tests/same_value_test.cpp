// Unordered writes of the same value are reported as such; unordered writes of different values are
// a race. The written value is compared with memory, bit by bit.

#include <algorithm>

#include "vgpu/tests/launch_fixture.hpp"

namespace rung::vgpu {
namespace {

using Kinds = std::vector<HazardKind>;

class SameValueTest : public LaunchTest {
 protected:
  static Kinds kinds(const LaunchReport& report) {
    Kinds found;
    for (const Hazard& hazard : report.hazards) found.push_back(hazard.kind);
    return found;
  }
};

/// The first lane of each warp runs `body`, with the thread's index in %r1.
std::string by_each_warp(const std::string& body) {
  return R"(
    .reg .b16 %h<4>; .reg .b32 %r<12>; .reg .b64 %rd<8>; .reg .pred %p<4>;
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 31;
    setp.ne.s32 %p1, %r2, 0;
    @%p1 bra DONE;
    )" + body +
         R"(
    DONE: ret;)";
}

std::string in_shared(const std::string& body) {
  return entry("", "\n.shared .align 16 .b8 s[64];\n" + by_each_warp("mov.u32 %r3, s;\n" + body));
}

/// %rd2: the address in the only parameter.
std::string in_global(const std::string& body) {
  return entry(".param .u64 p",
               by_each_warp("ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1;\n" + body));
}

TEST_F(SameValueTest, SharedMemory) {
  const auto of = [&](const std::string& body) {
    return kinds(run(in_shared(body), {1, 1, 1}, {128, 1, 1}, {}));
  };
  EXPECT_EQ(of("st.shared.u32 [%r3], 7;"), Kinds{HazardKind::same_value});
  EXPECT_EQ(of("st.shared.u32 [%r3], %r1;"), Kinds{HazardKind::shared_race});
  EXPECT_EQ(of("st.shared.v2.u32 [%r3], {7, 8};"), Kinds{HazardKind::same_value});
  EXPECT_EQ(of("st.shared.v2.u32 [%r3], {7, %r1};"), Kinds{HazardKind::shared_race});
  EXPECT_EQ(of("st.shared.v2.u32 [%r3], {%r1, 7};"), Kinds{HazardKind::shared_race});
  // Only the low byte is stored: of 0, 32, 64 and 96, then of 0, 256, 512 and 768.
  EXPECT_EQ(of("st.shared.u8 [%r3], %r1;"), Kinds{HazardKind::shared_race});
  EXPECT_EQ(of("shl.b32 %r4, %r1, 3; st.shared.u8 [%r3+1], %r4;"), Kinds{HazardKind::same_value});
  EXPECT_EQ(of("mov.u64 %rd1, 5; st.shared.u64 [%r3], %rd1;"), Kinds{HazardKind::same_value});
  // Only the upper half differs.
  EXPECT_EQ(of("cvt.u64.u32 %rd1, %r1; shl.b64 %rd1, %rd1, 32; st.shared.u64 [%r3], %rd1;"),
            Kinds{HazardKind::shared_race});
}

TEST_F(SameValueTest, WholeWarps) {
  // Each lane writes its own word, once in every warp.
  const auto of =
      [&](const std::string& value) {
        return kinds(run(entry("", R"(
      .shared .align 16 .b8 s[256];
      .reg .b32 %r<12>;
      mov.u32 %r1, %tid.x;
      and.b32 %r2, %r1, 31;
      shl.b32 %r4, %r2, 2;
      mov.u32 %r3, s;
      add.s32 %r3, %r3, %r4;
      st.shared.u32 [%r3], )" + value + R"(;
      ret;)"),
                         {1, 1, 1}, {96, 1, 1}, {}));
      };
  EXPECT_EQ(of("%r2"), Kinds{HazardKind::same_value});
  EXPECT_EQ(of("%r1"), Kinds{HazardKind::shared_race});
}

TEST_F(SameValueTest, ReadersAreNotExcused) {
  // All warps write 1, but each has read before what another may have written.
  const LaunchReport report = run(in_shared(R"(
      setp.ne.s32 %p2, %r1, 0;
      @%p2 bra WAIT;
      st.shared.u32 [%r3], 0;
      WAIT: barrier.sync 1, 128;
      ld.shared.u32 %r5, [%r3];
      st.shared.u32 [%r3], 1;)"),
                                  {1, 1, 1}, {128, 1, 1}, {});
  EXPECT_NE(std::ranges::count(kinds(report), HazardKind::shared_race), 0);
}

TEST_F(SameValueTest, OneDifferentValueIsARace) {
  // Both pairs are of one instruction; the last warp writes a different value.
  const auto report =
      run(in_shared("shr.u32 %r4, %r1, 5; setp.eq.s32 %p2, %r4, 3; selp.b32 %r5, 1, 2, %p2;"
                    "st.shared.u32 [%r3], %r5;"),
          {1, 1, 1}, {128, 1, 1}, {});
  EXPECT_EQ(kinds(report), Kinds{HazardKind::shared_race});
}

TEST_F(SameValueTest, AtomicsAreNotComparedByValue) {
  // The word is written before, so that the exchange does not read undefined data.
  const auto report = run(in_shared(R"(
      setp.ne.s32 %p2, %r1, 0;
      @%p2 bra WAIT;
      st.shared.u32 [%r3], 1;
      WAIT: barrier.sync 1, 64;
      @%p2 bra STORE;
      atom.shared.exch.b32 %r5, [%r3], 1;
      bra DONE;
      STORE: st.shared.u32 [%r3], 1;)"),
                          {1, 1, 1}, {64, 1, 1}, {});
  EXPECT_EQ(kinds(report), Kinds{HazardKind::shared_race});
}

TEST_F(SameValueTest, GlobalMemoryWithinABlock) {
  const std::uint64_t word = array<std::uint32_t>({0, 0});
  const auto of = [&](const std::string& body) {
    return kinds(run(in_global(body), {1, 1, 1}, {128, 1, 1}, {word}));
  };
  EXPECT_EQ(of("st.global.u32 [%rd2], 7;"), Kinds{HazardKind::same_value});
  EXPECT_EQ(of("st.global.u32 [%rd2], %r1;"), Kinds{HazardKind::global_race});
  EXPECT_EQ(of("st.global.v2.u32 [%rd2], {7, 8};"), Kinds{HazardKind::same_value});
  EXPECT_EQ(of("st.global.v2.u32 [%rd2], {7, %r1};"), Kinds{HazardKind::global_race});
  EXPECT_EQ(of("shl.b32 %r4, %r1, 3; st.global.u8 [%rd2+3], %r4;"), Kinds{HazardKind::same_value});
  EXPECT_EQ(of("st.global.u8 [%rd2+3], %r1;"), Kinds{HazardKind::global_race});
}

TEST_F(SameValueTest, GlobalMemoryBetweenBlocks) {
  // Many blocks on several CPU threads: a recorded write may not have been made yet.
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t word = array<std::uint32_t>({0});
    EXPECT_EQ(kinds(run(in_global("st.global.u32 [%rd2], 7;"), {500, 1, 1}, {32, 1, 1}, {word})),
              Kinds{HazardKind::same_value});
    EXPECT_EQ(kinds(run(in_global("mov.u32 %r4, %ctaid.x; st.global.u32 [%rd2], %r4;"), {500, 1, 1},
                        {32, 1, 1}, {word})),
              Kinds{HazardKind::global_race});
  }
}

TEST_F(SameValueTest, AVolatileReadIsNoAtomic) {
  const std::uint64_t word = array<std::uint32_t>({0});
  const auto report = run(in_global(R"(
      setp.ne.s32 %p2, %r1, 0;
      @%p2 bra STORE;
      ld.volatile.global.u32 %r5, [%rd2];
      bra DONE;
      STORE: st.global.u32 [%rd2], 1;)"),
                          {1, 1, 1}, {64, 1, 1}, {word});
  ASSERT_EQ(kinds(report), Kinds{HazardKind::global_race});
  EXPECT_EQ(report.hazards[0].other.access, "read");
}

TEST_F(SameValueTest, TheReportNamesBothWriters) {
  const auto report = run(in_shared("st.shared.u32 [%r3], 7;"), {1, 1, 1}, {64, 1, 1}, {});
  ASSERT_EQ(report.hazards.size(), 1u);
  const Hazard& hazard = report.hazards[0];
  EXPECT_TRUE(hazard.has_other);
  EXPECT_EQ(hazard.first.thread[0], 32u);
  EXPECT_EQ(hazard.other.thread[0], 0u);
  EXPECT_EQ(hazard.address, "s + 0");
  EXPECT_EQ(hazard.message,
            "same value: write by thread (32,0,0) of block (0,0,0), s + 0: not ordered with the "
            "write by thread (0,0,0) of block (0,0,0), which wrote the same value");
  EXPECT_FALSE(is_fault(hazard.kind));
}

}  // namespace
}  // namespace rung::vgpu
