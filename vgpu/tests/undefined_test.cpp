// Registers that are read before they are written are reported where the value matters, and only
// there.

#include "vgpu/tests/launch_fixture.hpp"

namespace rung::vgpu {
namespace {

class UndefinedTest : public LaunchTest {
 protected:
  /// The messages about one warp that runs `body`. %r1: lane; %rd1: an array; %rd2: 8 bytes of it.
  std::vector<std::string> messages(const std::string& body) {
    const std::uint64_t words = array(std::vector<std::uint32_t>(64, 0));
    const LaunchReport report = run(entry(".param .u64 p", R"(
      .reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<10>; .reg .b64 %rd<8>; .reg .f32 %f<8>;
      ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 8;
      add.s64 %rd2, %rd1, %rd2;
      )" + body + "\nret;"),
                                    {1, 1, 1}, {32, 1, 1}, {words});
    std::vector<std::string> texts;
    for (const Hazard& hazard : report.hazards) {
      EXPECT_EQ(hazard.kind, HazardKind::uninitialised_read);
      texts.push_back(hazard.message);
    }
    return texts;
  }
  void expect_silent(const std::string& body) {
    for (const std::string& text : messages(body)) ADD_FAILURE() << text << "\n" << body;
  }
  void expect_report_of(const std::string& reg, const std::string& body) {
    const auto texts = messages(body);
    ASSERT_EQ(texts.size(), 1u) << body;
    EXPECT_NE(texts[0].find("register " + reg + ","), std::string::npos) << texts[0];
  }
};

TEST_F(UndefinedTest, WhatIsStoredMatters) {
  expect_report_of("%r3", "add.u32 %r4, %r1, %r3; st.global.u32 [%rd2], %r4;");
  expect_silent("add.u32 %r4, %r1, %r3; st.global.u32 [%rd2], %r1;");
  expect_report_of("%r3", "mov.b64 %rd3, {%r1, %r3}; st.global.u64 [%rd2], %rd3;");
}

TEST_F(UndefinedTest, HalvesOfPackedArithmetic) {
  const std::string sum =
      "cvt.u16.u32 %h1, %r1; mov.b32 %r4, {%h1, %h2}; add.s16x2 %r5, %r4, %r1; "
      "mov.b32 {%h3, %h4}, %r5; ";
  expect_silent(sum + "st.global.u16 [%rd2], %h3;");
  expect_report_of("%h2", sum + "st.global.u16 [%rd2], %h4;");
}

TEST_F(UndefinedTest, AddressesAndBranchesMatter) {
  expect_report_of("%r3",
                   "and.b32 %r4, %r3, 0; mad.wide.u32 %rd3, %r3, 0, %rd1; "
                   "ld.global.u32 %r5, [%rd3];");
  expect_report_of("%r3", "setp.eq.u32 %p1, %r3, 7; @%p1 bra L; mov.u32 %r4, 0; L:");
  expect_report_of("%p2", "@%p2 st.global.u32 [%rd2], %r1;");
}

TEST_F(UndefinedTest, TheReportNamesBothPlaces) {
  const auto texts = messages("\nadd.u32 %r4, %r1, %r3;\n st.global.u32 [%rd2], %r4;");
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_EQ(texts[0],
            "uninitialised read: use by thread (0,0,0) of block (0,0,0): the value comes from "
            "register %r3, which is read (PTX line 12) before anything is written to it");
}

TEST_F(UndefinedTest, ASumThatIsNeverSetToZero) {
  const std::string loop = R"(
    L: add.f32 %f1, %f1, 0f3F800000; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 4; @%p1 bra L;
    st.global.f32 [%rd2], %f1;)";
  expect_report_of("%f1", "mov.u32 %r3, 0;" + loop);
  expect_silent("mov.u32 %r3, 0; mov.f32 %f1, 0f00000000;" + loop);
}

TEST_F(UndefinedTest, OnlyThePathThatIsTakenCounts) {
  const std::string first_half = R"(
    setp.lt.u32 %p1, %r1, 16; @!%p1 bra L; mov.u32 %r3, 5; L: setp.lt.u32 %p2, %r1, LANES;
    @!%p2 bra M; st.global.u32 [%rd2], %r3; M:)";
  const auto with = [&](const char* lanes) {
    std::string body = first_half;
    return body.replace(body.find("LANES"), 5, lanes);
  };
  expect_silent(with("16"));
  const auto texts = messages(with("17"));
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_NE(texts[0].find("thread (16,0,0)"), std::string::npos) << texts[0];
}

TEST_F(UndefinedTest, EveryBlockBeginsAnew) {
  options.threads = 1;
  const std::uint64_t words = array(std::vector<std::uint32_t>(64, 0));
  const LaunchReport report = run(entry(".param .u64 p", R"(
      .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
      ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x;
      setp.eq.u32 %p1, %r1, 1; @%p1 bra L; mov.u32 %r2, 7; L: st.global.u32 [%rd1], %r2; ret;)"),
                                  {2, 1, 1}, {1, 1, 1}, {words});
  std::size_t undefined = 0;
  for (const Hazard& hazard : report.hazards) {
    if (hazard.kind != HazardKind::uninitialised_read) continue;
    ++undefined;
    EXPECT_EQ(hazard.first.block[0], 1u);
  }
  EXPECT_EQ(undefined, 1u);
}

// Code that compilers generate where a value does not matter.
TEST_F(UndefinedTest, PartsThatNobodyLooksAt) {
  expect_silent("mov.b64 %rd3, {%r1, %r3}; mov.b64 {%r4, %r5}, %rd3; st.global.u32 [%rd2], %r4;");
  expect_silent(
      "mov.b32 %r4, {%h1, %h2}; mov.u16 %h3, 1; mov.b32 %r5, {%h3, %h2}; "
      "cvt.u16.u32 %h4, %r5; st.global.u16 [%rd2], %h4;");
  expect_silent(
      "mov.u64 %rd4, 0; mov.b64 %rd3, {%r1, %r3}; shl.b64 %rd3, %rd3, 32; "
      "st.global.u64 [%rd2], %rd3;");
  expect_silent("mov.b64 %rd3, {%r3, %r1}; shr.u64 %rd3, %rd3, 32; st.global.u64 [%rd2], %rd3;");
  expect_silent(
      "mov.b64 %rd3, {%r1, %r3}; and.b64 %rd3, %rd3, 0xFFFFFFFF; "
      "st.global.u64 [%rd2], %rd3;");
}

// LLVM writes four neighbouring bytes in this way, and stores some of them.
TEST_F(UndefinedTest, BitsBesideThoseThatAreStored) {
  expect_silent("bfi.b32 %r4, %r3, %r1, 8, 24; st.global.u8 [%rd2], %r4;");
  expect_silent("bfi.b32 %r4, %r1, %r3, 0, 40; st.global.u32 [%rd2], %r4;");
  expect_silent("bfi.b64 %rd3, %rd4, %rd1, 64, 8; st.global.u64 [%rd2], %rd3;");
  expect_silent(
      "bfi.b64 %rd3, %rd1, %rd4, 8, 16; shr.u64 %rd3, %rd3, 8; st.global.u16 [%rd2], %rd3;");
  expect_silent(
      "bfi.b32 %r4, %r3, %r1, 24, 8; prmt.b32 %r5, %r4, %r6, 0x1210; st.global.u32 [%rd2], %r5;");
  expect_report_of("%r3", "bfi.b32 %r4, %r3, %r1, 31, 8; st.global.u32 [%rd2], %r4;");
  expect_report_of("%r3", "bfi.b32 %r4, %r1, %r3, 1, 31; st.global.u8 [%rd2], %r4;");
  expect_report_of("%r3", "prmt.b32 %r4, %r1, %r3, 0x7210; st.global.u32 [%rd2], %r4;");
  expect_report_of("%r3", "prmt.b32 %r4, %r1, %r3, 0xF210; st.global.u32 [%rd2], %r4;");
  expect_report_of("%r3", "prmt.b32 %r3, %r3, %r1, 0x4567; st.global.u8 [%rd2], %r3;");
}

// A store of part of a register ignores the rest.
TEST_F(UndefinedTest, BytesThatAreStored) {
  expect_silent("bfi.b32 %r4, %r3, %r1, 16, 16; st.global.u16 [%rd2], %r4;");
  expect_silent("bfi.b32 %r4, %r3, %r1, 16, 16; st.global.v2.u8 [%rd2], {%r4, %r4};");
  expect_report_of("%r3", "bfi.b32 %r4, %r3, %r1, 15, 16; st.global.u16 [%rd2], %r4;");
}

TEST_F(UndefinedTest, AValueThatDecides) {
  expect_silent("add.u32 %r4, %r3, 1; or.b32 %r4, %r4, 0xFFFFFFFF; st.global.u32 [%rd2], %r4;");
  expect_silent("add.u32 %r4, %r3, 1; and.b32 %r4, %r4, 0; st.global.u32 [%rd2], %r4;");
  expect_report_of("%r3",
                   "add.u32 %r4, %r3, 1; or.b32 %r4, %r4, 0xFFFFFFFE; "
                   "st.global.u32 [%rd2], %r4;");
}

TEST_F(UndefinedTest, ChoicesThatFallOnTheOther) {
  expect_silent("setp.ge.u32 %p1, %r1, 0; selp.b32 %r4, %r1, %r3, %p1; st.global.u32 [%rd2], %r4;");
  expect_report_of("%r3",
                   "setp.ge.u32 %p1, %r1, 0; selp.b32 %r4, %r3, %r1, %p1; "
                   "st.global.u32 [%rd2], %r4;");
  expect_silent(
      "setp.lt.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r3, 1; and.pred %p3, %p1, %p2; "
      "@%p3 bra L; mov.u32 %r4, 0; L:");
  expect_silent(
      "setp.ge.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r3, 1; or.pred %p3, %p2, %p1; "
      "@%p3 bra L; mov.u32 %r4, 0; L:");
}

TEST_F(UndefinedTest, CopiesThroughSharedMemory) {
  const std::string stored = R"(
      .shared .align 4 .b8 s[128];
      mov.u32 %r2, s; mad.lo.u32 %r2, %r1, 4, %r2; st.shared.u32 [%r2], %r3;)";
  const std::string load = "ld.shared.u32 %r4, [%r2];";
  expect_report_of("%r3", stored + load + "st.global.u32 [%rd2], %r4;");
  expect_silent(stored + load + "st.shared.u32 [%r2], %r4;");
  const auto expect_at_load = [&](const std::string& body) {
    const auto texts = messages(stored + body);
    ASSERT_EQ(texts.size(), 1u) << body;
    EXPECT_NE(texts[0].find("no thread of the block has written it"), std::string::npos)
        << texts[0];
  };
  // Computation with the value.
  expect_at_load(load + "add.u32 %r4, %r4, 1; st.global.u32 [%rd2], %r4;");
  // Through local memory, which is not tracked, or a generic address.
  expect_at_load(".local .align 4 .b8 l[4];" + load +
                 "st.local.u32 [l], %r4; ld.local.u32 %r5, [l]; st.global.u32 [%rd2], %r5;");
  expect_at_load(
      "cvt.u64.u32 %rd3, %r2; cvta.shared.u64 %rd3, %rd3; ld.u32 %r4, [%rd3]; "
      "st.global.u32 [%rd2], %r4;");
}

/// Loads of shared memory that nothing has written: %r4 has such a value in all lanes but lane 0, which wrote 7.
class UnwrittenTest : public UndefinedTest {
 protected:
  static std::string load(const std::string& before = {}) {
    return R"(
      .shared .align 8 .b8 s[256]; .local .align 4 .b8 l[4];
      mov.u32 %r2, s; mad.lo.u32 %r2, %r1, 8, %r2; setp.eq.u32 %p1, %r1, 0; mov.u32 %r3, 7;
      @%p1 st.shared.u32 [%r2], %r3;
      )" + before +
           "\nld.shared.u32 %r4, [%r2];\n";
  }
  void expect_unused(const std::string& use) { expect_silent(load() + use); }
  /// Expects one report, which names the load's line, a thread and an offset.
  void expect_load(const std::string& use,
                   const std::string& place = "thread (1,0,0) of block (0,0,0), s + 8") {
    const auto texts = messages(load() + use);
    ASSERT_EQ(texts.size(), 1u) << use;
    EXPECT_EQ(texts[0],
              "uninitialised read: read by " + place + ": no thread of the block has written it");
  }
};

TEST_F(UnwrittenTest, ValuesThatAreChosenAway) {
  expect_unused("add.u32 %r5, %r4, 1;");
  expect_unused("add.u32 %r5, %r4, 1; selp.u32 %r5, %r5, %r1, %p1; st.global.u32 [%rd2], %r5;");
  expect_unused("@%p1 st.global.u32 [%rd2], %r4;");
  expect_unused("@!%p1 bra L; st.global.u32 [%rd2], %r4; L:");
  expect_unused("setp.eq.u32 %p2, %r4, 7; and.pred %p2, %p1, %p2; @%p2 st.global.u32 [%rd2], %r1;");
  expect_unused("and.b32 %r5, %r4, 0; st.global.u32 [%rd2], %r5;");
  expect_unused("st.shared.u32 [%r2], %r4; bar.sync 0; ld.shared.u32 %r5, [%r2];");
}

TEST_F(UnwrittenTest, ValuesThatMatter) {
  expect_load("st.global.u32 [%rd2], %r4;");
  expect_load("mad.lo.u32 %r5, %r4, 3, 1; cvt.rn.f32.u32 %f1, %r5; st.global.f32 [%rd2], %f1;");
  expect_load("selp.u32 %r5, %r1, %r4, %p1; st.global.u32 [%rd2], %r5;");
  expect_load("setp.eq.u32 %p2, %r4, 7; @%p2 bra L; mov.u32 %r5, 0; L:");
  expect_load("setp.eq.u32 %p2, %r4, 7; @%p2 st.global.u32 [%rd2], %r1;");
  expect_load("mul.wide.u32 %rd3, %r4, 0; add.s64 %rd3, %rd3, %rd1; ld.global.u32 %r5, [%rd3];");
  expect_load("red.global.add.u32 [%rd1], %r4;");
  expect_load("setp.eq.u32 %p2, %r4, 7; vote.sync.ballot.b32 %r5, %p2, -1;");
  expect_load("st.local.u32 [l], %r4; ld.local.u32 %r5, [l]; st.global.u32 [%rd2], %r5;");
}

TEST_F(UnwrittenTest, ShufflesPassItOn) {
  // Lane 0 adds the value of lane 1, and no lane uses those of the others.
  const std::string add = "shfl.sync.down.b32 %r5, %r4, 1, 31, -1; add.u32 %r5, %r5, %r4; ";
  expect_load(add + "@%p1 st.global.u32 [%rd2], %r5;");
  expect_unused("shfl.sync.idx.b32 %r5|%p2, %r4, 0, 31, -1; st.global.u32 [%rd2], %r5;");
  expect_load("shfl.sync.idx.b32 %r5, %r1, %r4, 31, -1;");
}

TEST_F(UnwrittenTest, StoresPassItOn) {
  expect_load(
      "add.u32 %r5, %r4, 1; st.shared.u32 [%r2+4], %r5; ld.shared.u32 %r6, [%r2+4]; "
      "add.u32 %r6, %r6, 1; st.global.u32 [%rd2], %r6;");
}

TEST_F(UnwrittenTest, OneElementOfAVector) {
  const std::string vectors = R"(
      .shared .align 8 .b8 s[256];
      mov.u32 %r2, s; mad.lo.u32 %r2, %r1, 8, %r2; st.shared.u32 [%r2], %r1;
      ld.shared.v2.u32 {%r4, %r5}, [%r2]; )";
  expect_silent(vectors + "add.u32 %r6, %r4, 1; add.u32 %r7, %r5, 1; st.global.u32 [%rd2], %r6;");
  const auto texts = messages(vectors + "add.u32 %r7, %r5, %r4; st.global.u32 [%rd2], %r7;");
  ASSERT_EQ(texts.size(), 1u);
  EXPECT_NE(texts[0].find("s + 4: no thread"), std::string::npos) << texts[0];
}

// A block that has written to global memory cannot start again in the tracking version.
TEST_F(UnwrittenTest, AfterAStoreItIsReportedAtOnce) {
  const auto texts = messages(load("st.global.u32 [%rd2], %r1;") + "add.u32 %r5, %r4, 1;");
  ASSERT_EQ(texts.size(), 1u);
}

TEST_F(UnwrittenTest, CountersDoNotChange) {
  options.threads = 1;
  const std::uint64_t words = array(std::vector<std::uint32_t>(64, 0));
  const std::string text = entry(".param .u64 p", R"(
      .reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 %rd<4>;
      ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; ld.global.u32 %r9, [%rd1]; mul.wide.u32 %rd2, %r1, 8;
      add.s64 %rd2, %rd1, %rd2; mov.u32 %r8, %ctaid.x; setp.ne.u32 %p2, %r8, 1; @!%p2 ld.global.u32 %r9, [%rd1];)" +
                                                      load() + R"(
      ld.shared.u32 %r5, [%r2]; add.u32 %r5, %r5, %r4; selp.u32 %r5, %r5, %r1, %p1;
      @%p1 st.global.u32 [%rd2], %r9; ret;)");
  const LaunchReport restarted = run(text, {1, 1, 1}, {32, 1, 1}, {words});
  expect_none(restarted);
  const LaunchReport tracked =
      launch(*module->kernel("k"), options, std::as_bytes(std::span(&words, 1)), memory, device);
  EXPECT_EQ(restarted.counters.instructions, tracked.counters.instructions);
  EXPECT_EQ(restarted.counters.shared_load_requests, 2u);
  EXPECT_EQ(tracked.counters.shared_load_requests, 2u);
  EXPECT_EQ(restarted.counters.global_load_requests, tracked.counters.global_load_requests);
  for (std::size_t i = 0; i < restarted.per_site.size(); ++i) {
    EXPECT_EQ(restarted.per_site[i].lanes, tracked.per_site[i].lanes) << i;
  }
}

TEST_F(UndefinedTest, WithoutChecksNothingIsReported) {
  options.observe = false;
  expect_silent("st.global.u32 [%rd2], %r3;");
}

}  // namespace
}  // namespace rung::vgpu
