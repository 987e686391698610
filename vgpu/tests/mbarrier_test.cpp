// mbarriers: phases, counts, bytes, waits, and errors (PTX ISA, 9.7.13.15).

#include "vgpu/tests/async_fixture.hpp"

namespace rung::vgpu {
namespace {

class MbarrierTest : public AsyncTest {
 protected:
  LaunchReport run_body(const std::string& body, unsigned threads) {
    out = array(std::vector<std::uint32_t>(1024, 0xFFFFFFFFu));
    return run(entry(".param .u64 out", R"(
      .shared .align 8 .b8 bar[64];
      .shared .align 4 .b8 data[4096];)" + registers() +
                                            R"(
      ld.param.u64 %rd1, [out];
      mov.u32 %r1, %tid.x;
      mul.wide.u32 %rd2, %r1, 4;
      add.u64 %rd2, %rd1, %rd2;
      shl.b32 %r2, %r1, 2;
      mov.u32 %r3, data;
      add.u32 %r3, %r3, %r2;
      )" + body + "\nret;"),
               {1, 1, 1}, {threads, 1, 1}, {out});
  }
  std::vector<std::uint32_t> results(std::size_t count) {
    return values<std::uint32_t>(out, count);
  }
  std::uint64_t out = 0;
};

const std::string init = R"(
  setp.ne.u32 %p1, %r1, 0;
  @!%p1 mbarrier.init.shared::cta.b64 [bar], 64;
  bar.sync 0;
  )";

TEST_F(MbarrierTest, PhasesAndStates) {
  // One thread, and one barrier with two arrivals.
  expect_none(run_body(R"(
    mbarrier.init.shared.b64 [bar], 2;
    mbarrier.test_wait.parity.shared.b64 %p1, [bar], 1;  // the phase before the first is over
    selp.u32 %r10, 1, 0, %p1;
    st.global.u32 [%rd1], %r10;
    mbarrier.arrive.shared.b64 %rd3, [bar];
    mbarrier.test_wait.shared.b64 %p1, [bar], %rd3;
    selp.u32 %r10, 1, 0, %p1;
    st.global.u32 [%rd1+4], %r10;
    mbarrier.arrive.shared.b64 _, [bar];
    mbarrier.test_wait.shared.b64 %p1, [bar], %rd3;
    selp.u32 %r10, 1, 0, %p1;
    st.global.u32 [%rd1+8], %r10;
    mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;
    selp.u32 %r10, 1, 0, %p1;
    st.global.u32 [%rd1+12], %r10;
    mbarrier.test_wait.parity.shared.b64 %p1, [bar], 1;  // of the current one
    selp.u32 %r10, 1, 0, %p1;
    st.global.u32 [%rd1+16], %r10;
    mbarrier.arrive_drop.shared.b64 _, [bar];
    mbarrier.arrive.shared.b64 _, [bar];  // ends it, and the next waits for one only
    mbarrier.arrive.shared.b64 _, [bar];
    mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;
    selp.u32 %r10, 1, 0, %p1;
    st.global.u32 [%rd1+20], %r10;
    mbarrier.inval.shared.b64 [bar];)",
                       1));
  EXPECT_EQ(results(6), (std::vector<std::uint32_t>{1, 0, 1, 1, 0, 1}));
}

TEST_F(MbarrierTest, BytesThatAreDue) {
  expect_none(run_body(R"(
    mbarrier.init.shared.b64 [bar], 1;
    mbarrier.arrive.expect_tx.shared.b64 _, [bar], 48;
    mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [bar], 32;
    mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;
    selp.u32 %r10, 1, 0, %p1;
    st.global.u32 [%rd1], %r10;
    mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [bar], 16;
    mbarrier.test_wait.parity.shared.b64 %p1, [bar], 0;
    selp.u32 %r10, 1, 0, %p1;
    st.global.u32 [%rd1+4], %r10;)",
                       1));
  EXPECT_EQ(results(2), (std::vector<std::uint32_t>{0, 1}));
}

/// Warp 1 writes data that warp 0 reads.
std::string hand_over(const std::string& arrive, const std::string& wait) {
  return init + R"(
    setp.lt.u32 %p2, %r1, 32;
    @%p2 bra READER;
    st.shared.u32 [%r3], %r1;
    )" + arrive +
         R"(
    ret;
    READER:
    )" + arrive +
         wait + R"(
    ld.shared.u32 %r10, [%r3+128];
    st.global.u32 [%rd2], %r10;)";
}

TEST_F(MbarrierTest, ArrivalsAndWaitsOrder) {
  const std::string arrive = "mbarrier.arrive.shared.b64 _, [bar];\n";
  expect_none(run_body(hand_over(arrive, wait_for("bar", "0", "0")), 64));
  const auto result = results(32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(result[i], i + 32);
  // Nothing is ordered without the wait, with a relaxed one, or with relaxed arrivals.
  found(run_body(hand_over(arrive, ""), 64), HazardKind::shared_race);
  const std::string relaxed = "mbarrier.arrive.relaxed.cluster.shared.b64 _, [bar];\n";
  found(run_body(hand_over(relaxed, wait_for("bar", "0", "0")), 64), HazardKind::shared_race);
}

TEST_F(MbarrierTest, SpinningOnATestIsNoDeadlock) {
  const std::string spin = "S: mbarrier.test_wait.parity.shared.b64 %pw, [bar], 0;\n@!%pw bra S;\n";
  expect_none(run_body(hand_over("mbarrier.arrive.shared.b64 _, [bar];\n", spin), 64));
}

TEST_F(MbarrierTest, DeadlockSaysWhoWaitsForWhat) {
  const std::string lone = init + wait_for("bar", "0", "0");
  const LaunchReport report = run_body(lone, 32);
  EXPECT_EQ(
      found(report, HazardKind::deadlock).message,
      "deadlock: wait by thread (0,0,0) of block (0,0,0): mbarrier bar + 0, phase 0 (parity "
      "0), waits for 64 of 64 arrivals and 0 bytes, and nothing that is left will bring them");
  EXPECT_EQ(report.fault, HazardKind::deadlock);
  const std::string spin =
      init + "S: mbarrier.test_wait.parity.shared.b64 %pw, [bar], 0;\n@!%pw bra S;\n";
  EXPECT_EQ(found(run_body(spin, 32), HazardKind::deadlock).message.find("deadlock: wait by"), 0u);
}

TEST_F(MbarrierTest, Misuse) {
  const auto message = [&](const std::string& body, unsigned threads = 1) {
    return found(run_body(body, threads), HazardKind::barrier_misuse).message;
  };
  const std::string one = "mbarrier.init.shared.b64 [bar], 1;\n";
  EXPECT_NE(message("mbarrier.arrive.shared.b64 _, [bar];").find("no initialised mbarrier"),
            std::string::npos);
  EXPECT_NE(message(one + "mbarrier.inval.shared.b64 [bar];\nmbarrier.arrive.shared.b64 _, [bar];")
                .find("no initialised mbarrier"),
            std::string::npos);
  EXPECT_NE(message(one + one).find("initialised again"), std::string::npos);
  EXPECT_NE(message("mbarrier.init.shared.b64 [bar], 0;").find("a count of 0"), std::string::npos);
  EXPECT_NE(message("mbarrier.init.shared.b64 [bar], 2;\nmbarrier.arrive.shared.b64 _, [bar], 3;")
                .find("3 more arrivals, and phase 0 waits for 2 only"),
            std::string::npos);
}

TEST_F(MbarrierTest, InitialisationHasToBeOrdered) {
  const std::string unordered = R"(
    setp.ne.u32 %p1, %r1, 0;
    @!%p1 mbarrier.init.shared.b64 [bar], 64;
    mbarrier.arrive.shared.b64 _, [bar];)";
  found(run_body(unordered, 64), HazardKind::shared_race);
}

TEST_F(MbarrierTest, CopiesArrive) {
  // cp.async of each thread's number, which its neighbour in the other warp reads.
  const std::string body = init + R"(
    st.global.u32 [%rd2], %r1;
    bar.sync 0;
    cp.async.ca.shared.global [%r3], [%rd2], 4;
    cp.async.mbarrier.arrive.noinc.shared.b64 [bar];
    )" + wait_for("bar", "0", "0") +
                           R"(
    xor.b32 %r4, %r2, 128;
    mov.u32 %r5, data;
    add.u32 %r5, %r5, %r4;
    ld.shared.u32 %r10, [%r5];
    bar.sync 0;
    st.global.u32 [%rd2], %r10;)";
  expect_none(run_body(body, 64));
  const auto result = results(64);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(result[i], i ^ 32);
}

}  // namespace
}  // namespace rung::vgpu
