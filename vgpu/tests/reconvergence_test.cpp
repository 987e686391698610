// Divergent lanes reconverge, or wait for each other, even if some paths end early.

#include "vgpu/tests/launch_fixture.hpp"

namespace rung::vgpu {
namespace {

class ReconvergenceTest : public LaunchTest {
 protected:
  /// Runs the body with one warp of `threads` lanes. %r1: lane; %rd1: address of out[lane]. Returns `out`.
  std::vector<std::uint32_t> run_warp(const std::string& body, const std::string& end = {},
                                      std::uint32_t threads = 32) {
    const std::uint64_t out = array(std::vector<std::uint32_t>(32, 0));
    report = run(entry(".param .u64 p", R"(
      .reg .b32 %r<20>; .reg .b64 %rd<6>; .reg .pred %p<8>;
      ld.param.u64 %rd1, [p];
      mov.u32 %r1, %tid.x;
      mul.wide.u32 %rd2, %r1, 4;
      add.s64 %rd1, %rd1, %rd2;
      and.b32 %r2, %r1, 3;
      )" + body + end),
                 {1, 1, 1}, {threads, 1, 1}, {out});
    return values<std::uint32_t>(out, 32);
  }
  void expect_no_hazards() const {
    for (const Hazard& hazard : report.hazards) ADD_FAILURE() << hazard.message;
  }
  std::size_t count(HazardKind kind) const {
    std::size_t found = 0;
    for (const Hazard& hazard : report.hazards) found += hazard.kind == kind;
    return found;
  }
  static std::vector<std::uint32_t> lanes_xor(std::uint32_t with) {
    std::vector<std::uint32_t> lanes;
    for (std::uint32_t lane = 0; lane < 32; ++lane) lanes.push_back(lane ^ with);
    return lanes;
  }

  LaunchReport report;
};

constexpr const char* exchange_and_store = R"(
      shfl.sync.bfly.b32 %r10, %r1, 1, 31, -1;
      st.global.u32 [%rd1], %r10;
      ret;)";

TEST_F(ReconvergenceTest, ATrapThatNobodyTakes) {
  const auto out = run_warp(R"(
      setp.eq.u32 %p1, %r2, 0;
      @%p1 bra JOIN;
      setp.gt.u32 %p2, %r1, 1000;
      @%p2 bra STOP;
      add.u32 %r3, %r1, 1;
      bra JOIN;
      STOP: trap;
      exit;
      JOIN:)",
                            exchange_and_store);
  expect_no_hazards();
  EXPECT_EQ(out, lanes_xor(1));
}

TEST_F(ReconvergenceTest, TheImpossibleDefaultOfASwitch) {
  // The default is an exit, while the kernel ends with ret. Two branches lead to it.
  const auto out = run_warp(R"(
      setp.gt.u32 %p1, %r2, 1;
      @%p1 bra HIGH;
      setp.eq.u32 %p2, %r2, 0;
      @%p2 bra JOIN;
      setp.eq.u32 %p3, %r2, 1;
      @%p3 bra ONE;
      bra NEVER;
      ONE: add.u32 %r3, %r1, 1;
      bra JOIN;
      HIGH: setp.eq.u32 %p4, %r2, 2;
      @%p4 bra JOIN;
      setp.eq.u32 %p5, %r2, 3;
      @%p5 bra THREE;
      NEVER: mov.u32 %r4, 0;
      exit;
      THREE: add.u32 %r3, %r1, 3;
      JOIN:)",
                            exchange_and_store);
  expect_no_hazards();
  EXPECT_EQ(out, lanes_xor(1));
}

TEST_F(ReconvergenceTest, AnEarlyReturnWithWorkOfItsOwn) {
  // if (lane & 3 == 0) x; else { if (lane == 31) { store; return; } y; } exchange.
  const auto out = run_warp(R"(
      setp.eq.u32 %p1, %r2, 0;
      @%p1 bra JOIN;
      setp.ne.u32 %p2, %r1, 31;
      @%p2 bra STAY;
      mov.u32 %r5, 77;
      st.global.u32 [%rd1], %r5;
      ret;
      STAY: add.u32 %r3, %r1, 1;
      JOIN:)",
                            exchange_and_store);
  expect_no_hazards();
  auto expected = lanes_xor(1);
  expected[31] = 77;
  EXPECT_EQ(std::vector(out.begin(), out.begin() + 30),
            std::vector(expected.begin(), expected.begin() + 30));
  EXPECT_EQ(out[31], 77u);
}

TEST_F(ReconvergenceTest, AnIndirectBranchWithAnEntryThatReturns) {
  const auto out = run_warp(R"(
      min.u32 %r6, %r1, 2;
      targets: .branchtargets ZERO, GONE, TWO;
      brx.idx %r6, targets;
      ZERO: mov.u32 %r7, 1;
      bra JOIN;
      TWO: mov.u32 %r7, 2;
      bra JOIN;
      GONE: ret;
      JOIN: shfl.sync.idx.b32 %r10, %r7, 0, 31, -1;
      st.global.u32 [%rd1], %r10;
      ret;)");
  expect_no_hazards();
  EXPECT_EQ(out[0], 1u);
  EXPECT_EQ(out[1], 0u);
  EXPECT_EQ(out[31], 1u);
}

// Lanes 0 to 15 take one path and 16 to 31 another, which only some of the lanes could have left:
// at the exchange, no branch keeps them together.
constexpr const char* two_ways = R"(
      setp.lt.u32 %p1, %r1, 16;
      @%p1 bra LOW;
      mov.u32 %r3, 1;
      bra WORK;
      LOW: setp.gt.u32 %p2, %r1, 100;
      @%p2 bra BEHIND;
      mov.u32 %r3, 2;
      WORK: shfl.sync.bfly.b32 %r10, %r1, 16, 31, -1;
      st.global.u32 [%rd1], %r10;
      BEHIND: bar.warp.sync -1;
      ret;)";

TEST_F(ReconvergenceTest, AnExchangeWaitsForItsMembers) {
  EXPECT_EQ(run_warp(two_ways), lanes_xor(16));
  expect_no_hazards();
}

TEST_F(ReconvergenceTest, ABarrierForTheWarpWaitsForItsParts) {
  std::string body = two_ways;
  body.replace(body.find("shfl"), body.find("st.global") - body.find("shfl"),
               "bar.sync 0; xor.b32 %r10, %r1, 16; ");
  EXPECT_EQ(run_warp(body), lanes_xor(16));
  expect_no_hazards();
}

TEST_F(ReconvergenceTest, AnExchangeOfHalfTheWarpIsStillReported) {
  run_warp(R"(
      setp.lt.u32 %p1, %r1, 16;
      @!%p1 bra JOIN;
      shfl.sync.bfly.b32 %r10, %r1, 16, 31, -1;
      JOIN: st.global.u32 [%rd1], %r1;
      ret;)");
  EXPECT_EQ(count(HazardKind::bad_participant), 1u);
}

TEST_F(ReconvergenceTest, ABarrierOfHalfTheWarpIsStillReported) {
  run_warp(R"(
      setp.lt.u32 %p1, %r1, 16;
      @!%p1 bra JOIN;
      bar.sync 0;
      JOIN: st.global.u32 [%rd1], %r1;
      ret;)");
  EXPECT_EQ(count(HazardKind::divergent_barrier), 1u);
}

// The last warp of a block of 20 threads has no lanes 20 to 31. A mask may name them, but to read them is
// an error. In Metal's form, nothing is demanded of the others.
TEST_F(ReconvergenceTest, AShuffleFromALaneThatTheBlockDoesNotHave) {
  for (const std::string form : {"shfl.sync.", "shfl.sync.simdgroup."}) {
    run_warp("", form + "bfly.b32 %r10, %r1, 16, 31, -1; ret;", 20);
    EXPECT_EQ(count(HazardKind::bad_participant), 1u) << form;
    run_warp("", form + "bfly.b32 %r10, %r1, 1, 31, -1; ret;", 20);
    expect_no_hazards();
  }
  // The mask does not name the lane that is read: the program may know better than to use the value.
  run_warp("", "shfl.sync.bfly.b32 %r10, %r1, 16, 31, 1048575; ret;", 20);
  expect_no_hazards();
  run_warp(
      "setp.lt.u32 %p1, %r1, 16; @!%p1 bra JOIN;"
      "shfl.sync.simdgroup.bfly.b32 %r10, %r1, 16, 31, -1; JOIN:",
      "ret;");
  expect_no_hazards();
}

TEST_F(ReconvergenceTest, WhoNamesAMaskWithoutItself) {
  for (const std::string exchange :
       {"shfl.sync.bfly.b32 %r10, %r1, 1, 31, 65535;", "vote.sync.ballot.b32 %r10, %p1, 65535;",
        "redux.sync.add.u32 %r10, %r1, 65535;", "match.any.sync.b32 %r10, %r1, 65535;",
        "elect.sync %r10|%p1, 65535;", "bar.warp.sync 65535;"}) {
    run_warp("setp.lt.u32 %p1, %r1, 16;", exchange + "ret;");
    EXPECT_EQ(count(HazardKind::bad_participant), 1u) << exchange;
  }
  // Each half names itself in its mask.
  run_warp(
      "and.b32 %r3, %r1, 16; mov.u32 %r4, 65535; shl.b32 %r4, %r4, %r3;"
      "shfl.sync.bfly.b32 %r10, %r1, 1, 31, %r4; bar.warp.sync %r4; ret;");
  expect_no_hazards();
}

}  // namespace
}  // namespace rung::vgpu
