// Addresses in 32-bit registers: register and offset are added modulo 2^32.

#include "vgpu/tests/launch_fixture.hpp"

namespace rung::vgpu {
namespace {

class AddressWrapTest : public LaunchTest {
 protected:
  /// Thread t has s + 4 t - 4096, a negative number, in %r4, and out + 4 t in %rd1.
  std::vector<std::uint32_t> run_with(const std::string& body, unsigned threads = 64) {
    const std::uint64_t out = array(std::vector<std::uint32_t>(128, 0));
    report = run(entry(".param .u64 p", R"(
      .shared .align 16 .b8 s[1024];
      .local .align 16 .b8 l[512];
      .reg .b32 %r<16>; .reg .b64 %rd<6>; .reg .pred %p<4>;
      ld.param.u64 %rd1, [p];
      mov.u32 %r1, %tid.x;
      mul.wide.u32 %rd2, %r1, 4;
      add.s64 %rd1, %rd1, %rd2;
      shl.b32 %r2, %r1, 2;
      mov.u32 %r3, s;
      add.s32 %r3, %r3, -4096;
      add.s32 %r4, %r3, %r2;
      )" + body + " ret;"),
                 {1, 1, 1}, {threads, 1, 1}, {out});
    return values<std::uint32_t>(out, threads);
  }
  void expect_lanes(const std::vector<std::uint32_t>& out) const {
    for (const Hazard& hazard : report.hazards) ADD_FAILURE() << hazard.message;
    for (std::uint32_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], i);
  }

  LaunchReport report;
};

TEST_F(AddressWrapTest, SharedLoadsAndStores) {
  expect_lanes(run_with(R"(st.shared.u32 [%r4+4096], %r1;
    ld.shared.u32 %r5, [%r4+4096]; st.global.u32 [%rd1], %r5;)"));
}

TEST_F(AddressWrapTest, OtherOrdersAndPartsOfAWarp) {
  // In reverse order, scattered, and by some lanes only.
  expect_lanes(run_with(R"(sub.s32 %r6, %r3, %r2; st.shared.u32 [%r6+4352], %r1;
    ld.shared.u32 %r5, [%r6+4352]; st.global.u32 [%rd1], %r5;)"));
  expect_lanes(run_with(R"(xor.b32 %r6, %r2, 20; add.s32 %r6, %r3, %r6;
    st.shared.u32 [%r6+4096], %r1; ld.shared.u32 %r5, [%r6+4096]; st.global.u32 [%rd1], %r5;)"));
  expect_lanes(run_with(R"(st.global.u32 [%rd1], %r1; setp.gt.u32 %p1, %r1, 5;
    @%p1 st.shared.u32 [%r4+4096], %r1; @%p1 ld.shared.u32 %r5, [%r4+4096];
    @%p1 st.global.u32 [%rd1], %r5;)"));
}

TEST_F(AddressWrapTest, OnBothSidesOfZero) {
  // Lanes start at addresses -64 to 60 relative to s; the offset is 64 bytes.
  expect_lanes(run_with(R"(mov.u32 %r6, s; add.s32 %r6, %r6, %r2; add.s32 %r6, %r6, -64;
    xor.b32 %r7, %r1, 0; st.shared.u32 [%r6+64], %r1;
    ld.shared.u32 %r5, [%r6+64]; st.global.u32 [%rd1], %r5;)"));
}

TEST_F(AddressWrapTest, SumsFarFromTheWindow) {
  expect_lanes(run_with(R"(mov.u32 %r6, s; add.u32 %r6, %r6, %r2; add.u32 %r6, %r6, 2147483648;
    st.shared.u32 [%r6+-2147483648], %r1; ld.shared.u32 %r5, [%r6+-2147483648];
    st.global.u32 [%rd1], %r5;)"));
}

TEST_F(AddressWrapTest, LocalMemoryAndAtomics) {
  expect_lanes(run_with(R"(mov.u32 %r6, l; add.s32 %r6, %r6, -32;
    st.local.u32 [%r6+32], %r1; ld.local.u32 %r5, [%r6+32]; st.global.u32 [%rd1], %r5;)"));
  expect_lanes(run_with(R"(mov.u32 %r7, 0; st.shared.u32 [%r4+4096], %r7;
    atom.shared.add.u32 %r8, [%r4+4096], %r1; ld.shared.u32 %r5, [%r4+4096];
    st.global.u32 [%rd1], %r5;)"));
}

TEST_F(AddressWrapTest, AsynchronousCopies) {
  expect_lanes(
      run_with(R"(st.global.u32 [%rd1], %r1; cp.async.ca.shared.global [%r4+4096], [%rd1], 4;
    cp.async.wait_all; ld.shared.u32 %r5, [%r4+4096]; st.global.u32 [%rd1], %r5;)"));
}

TEST_F(AddressWrapTest, Matrices) {
  // One row of 16 bytes per lane: thread t loads the word that it stored.
  expect_lanes(run_with(R"(st.shared.u32 [%r4+4096], %r1; bar.sync 0;
    and.b32 %r6, %r1, 7; shl.b32 %r6, %r6, 4; and.b32 %r7, %r1, 32; shl.b32 %r7, %r7, 2;
    add.s32 %r6, %r6, %r7; add.s32 %r6, %r3, %r6;
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r6+4096]; st.global.u32 [%rd1], %r5;)"));
}

TEST_F(AddressWrapTest, Mbarriers) {
  expect_lanes(run_with(R"(setp.eq.u32 %p2, %r1, 0;
    @%p2 mbarrier.init.shared.b64 [%r3+4096], 64; bar.sync 0;
    mbarrier.arrive.shared.b64 %rd3, [%r3+4096];
    WAIT: mbarrier.test_wait.shared.b64 %p1, [%r3+4096], %rd3; @!%p1 bra WAIT;
    st.global.u32 [%rd1], %r1;)"));
}

TEST_F(AddressWrapTest, OutsideIsStillOutside) {
  for (const char* offset : {"4092", "5124"}) {
    run_with(std::string("st.shared.u32 [%r4+") + offset + "], %r1;", 256);
    ASSERT_EQ(report.hazards.size(), 1u) << offset;
    EXPECT_EQ(report.hazards[0].kind, HazardKind::out_of_bounds);
  }
}

}  // namespace
}  // namespace rung::vgpu
