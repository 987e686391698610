// Structures are copied with their padding, which was never written. That is an error only if some
// instruction computes with it, or if nothing that is copied was written.

#include "vgpu/program/copied_loads.hpp"

#include "vgpu/ptx/parser.hpp"
#include "vgpu/tests/launch_fixture.hpp"

namespace rung::vgpu {
namespace {

constexpr const char* declarations =
    ".reg .b16 %h<4>; .reg .b32 %r<12>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .pred %p<4>;";

CopiedLoads loads_of(const std::string& body) {
  const ptx::Module module =
      ptx::parse(entry(".param .u64 p", declarations + body + "\nret;"), "text");
  return copied_loads(module.functions.front());
}

using Loads = CopiedLoads;

TEST(CopiedLoadsAnalysis, ValuesThatAreOnlyStored) {
  EXPECT_EQ(loads_of("ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd2], %r1;"),
            (Loads{{0, {false}}}));
  EXPECT_EQ(loads_of("ld.global.u32 %r1, [%rd1]; mov.b32 %r2, %r1; st.global.u32 [%rd2], %r2;"),
            (Loads{{0, {false}}}));
  EXPECT_EQ(loads_of("ld.global.v2.u32 {%r1, %r2}, [%rd1]; add.s32 %r3, %r1, 1;"),
            (Loads{{0, {true, false}}}));
  EXPECT_EQ(loads_of("ld.global.u32 %r1, [%rd1]; add.s32 %r3, %r1, 1;"), Loads());
  // Copies of copies, including one that is used, and a cycle of copies that are never used.
  EXPECT_EQ(loads_of("ld.global.u32 %r1, [%rd1]; mov.b32 %r3, %r2; mov.b32 %r4, %r2;"
                     "mov.b32 %r2, %r1; add.s32 %r5, %r4, 1; st.global.u32 [%rd2], %r3;"),
            Loads());
  EXPECT_EQ(loads_of("ld.global.u32 %r1, [%rd1]; mov.b32 %r2, %r1; mov.b32 %r1, %r2;"
                     "st.global.u32 [%rd2], %r2;"),
            (Loads{{0, {false}}}));
  EXPECT_EQ(loads_of("ld.global.u32 %r1, [%rd1]; mov.b32 %r2, %r1; add.s32 %r3, %r2, 1;"), Loads());
  // Uses as an address, and as a condition.
  EXPECT_EQ(loads_of("ld.global.u64 %rd1, [%rd3]; st.global.u32 [%rd1], %r1;"), Loads());
  EXPECT_EQ(loads_of("ld.global.u32 %r1, [%rd1]; setp.eq.s32 %p1, %r1, 0;"
                     "@%p1 st.global.u32 [%rd2], %r1;"),
            Loads());
}

TEST(CopiedLoadsAnalysis, ExchangesWhoseOldValueIsDropped) {
  EXPECT_EQ(loads_of("atom.global.exch.b32 %r1, [%rd1], 7;"), (Loads{{0, {}}}));
  EXPECT_EQ(loads_of("atom.global.exch.b32 _, [%rd1], 7;"), (Loads{{0, {}}}));
  EXPECT_EQ(loads_of("atom.global.exch.b32 %r1, [%rd1], 7; st.global.u32 [%rd2], %r1;"), Loads());
  EXPECT_EQ(loads_of("atom.global.add.u32 %r1, [%rd1], 7;"), Loads());
}

class CopiedLoadsTest : public LaunchTest {
 protected:
  /// Runs the body for 32 threads. %rd1: address of the thread's 16 bytes; only the first 12 are
  /// written. %rd2: address of 16 other bytes. Returns the number of hazards.
  std::size_t hazards(const std::string& body) {
    const std::uint64_t from = memory.allocate(32 * 16), to = memory.allocate(32 * 16);
    const std::vector<std::uint32_t> three = {1, 2, 3};
    for (std::uint64_t i = 0; i < 32; ++i) memory.write(from + 16 * i, three.data(), 12);
    const auto report = run(entry(".param .u64 p, .param .u64 q", std::string(declarations) + R"(
        ld.param.u64 %rd1, [p];
        ld.param.u64 %rd2, [q];
        mov.u32 %r1, %tid.x;
        mul.wide.u32 %rd3, %r1, 16;
        add.s64 %rd1, %rd1, %rd3;
        add.s64 %rd2, %rd2, %rd3;
        )" + body + "\nret;"),
                            {1, 1, 1}, {32, 1, 1}, {from, to});
    for (const Hazard& hazard : report.hazards) {
      EXPECT_EQ(hazard.kind, HazardKind::uninitialised_read) << hazard.message;
    }
    return report.hazards.size();
  }
};

TEST_F(CopiedLoadsTest, Exchanges) {
  const std::string shared = ".shared .align 4 .b32 word;";
  EXPECT_EQ(hazards("atom.global.exch.b32 %r4, [%rd1+12], 7; ld.global.u32 %r5, [%rd1+12];"
                    "add.u32 %r5, %r5, 1; st.global.u32 [%rd2], %r5;"),
            0u);
  EXPECT_EQ(hazards("atom.global.exch.b32 %r4, [%rd1+12], 7; st.global.u32 [%rd2], %r4;"), 1u);
  EXPECT_EQ(hazards("atom.global.add.u32 %r4, [%rd1+12], 7;"), 1u);
  EXPECT_EQ(hazards(shared + "atom.shared.exch.b32 %r4, [word], 7;"), 0u);
  EXPECT_EQ(hazards(shared + "atom.shared.exch.b32 %r4, [word], 7; add.u32 %r4, %r4, 1;"
                             "st.global.u32 [%rd2], %r4;"),
            1u);
}

TEST_F(CopiedLoadsTest, GlobalMemory) {
  EXPECT_EQ(
      hazards("ld.global.v2.u64 {%rd4, %rd5}, [%rd1]; st.global.v2.u64 [%rd2], {%rd4, %rd5};"), 0u);
  EXPECT_EQ(hazards("ld.global.u64 %rd5, [%rd1+8]; st.global.u64 [%rd2+8], %rd5;"), 0u);
  // The fourth element is not used.
  EXPECT_EQ(hazards("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]; add.f32 %f5, %f1, %f3;"
                    "st.global.f32 [%rd2], %f5;"),
            0u);
  EXPECT_EQ(hazards("ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]; add.f32 %f5, %f1, %f4;"
                    "st.global.f32 [%rd2], %f5;"),
            1u);
  // Nothing that is copied was written.
  EXPECT_EQ(hazards("ld.global.u32 %r4, [%rd1+12]; st.global.u32 [%rd2], %r4;"), 1u);
  EXPECT_EQ(hazards("ld.global.u64 %rd5, [%rd1+8]; add.s64 %rd5, %rd5, 1;"
                    "st.global.u64 [%rd2], %rd5;"),
            1u);
}

TEST_F(CopiedLoadsTest, SharedMemory) {
  const auto of = [&](const std::string& body) {
    return hazards(
        ".shared .align 16 .b8 s[512]; mov.u32 %r2, s; shl.b32 %r3, %r1, 4;"
        "add.s32 %r2, %r2, %r3; st.shared.u8 [%r2], %r1; st.shared.u32 [%r2+4], %r1;" +
        body);
  };
  EXPECT_EQ(of("ld.shared.u64 %rd4, [%r2]; st.global.u64 [%rd2], %rd4;"), 0u);
  EXPECT_EQ(of("ld.shared.u32 %r4, [%r2]; st.global.u32 [%rd2], %r4;"), 0u);
  EXPECT_EQ(of("ld.shared.u32 %r4, [%r2]; add.s32 %r4, %r4, 1; st.global.u32 [%rd2], %r4;"), 1u);
  EXPECT_EQ(of("ld.shared.u64 %rd4, [%r2+8]; st.global.u64 [%rd2], %rd4;"), 1u);
  EXPECT_EQ(of("ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r2]; st.global.u32 [%rd2], %r5;"), 0u);
}

TEST_F(CopiedLoadsTest, AsynchronousCopies) {
  EXPECT_EQ(hazards(".shared .align 16 .b8 s[512]; mov.u32 %r2, s; shl.b32 %r3, %r1, 4;"
                    "add.s32 %r2, %r2, %r3; cp.async.cg.shared.global [%r2], [%rd1], 16;"
                    "cp.async.wait_all;"),
            0u);
}

}  // namespace
}  // namespace rung::vgpu
