// Recursion and calls through pointers, from PTX to results.

#include <algorithm>

#include "vgpu/tests/launch_fixture.hpp"

namespace rung::vgpu {
namespace {

class CallStackTest : public LaunchTest {
 protected:
  /// Runs one warp of `k`. %lane: the lane. %to: the address of its result.
  std::vector<std::uint32_t> run_lanes(const std::string& functions, const std::string& body) {
    const std::uint64_t out = array(std::vector<std::uint32_t>(32, 77));
    report = run(entry(".param .u64 out",
                       ".reg .b32 %lane, %r<9>; .reg .b64 %to, %rd<9>; .reg .pred %p<9>;"
                       " mov.u32 %lane, %tid.x; ld.param.u64 %to, [out];"
                       " mad.wide.u32 %to, %lane, 4, %to; " +
                           body + " ret;",
                       functions),
                 {1, 1, 1}, {32, 1, 1}, {out});
    return values<std::uint32_t>(out, 32);
  }
  std::string hazards() const {
    std::string text;
    for (const Hazard& hazard : report.hazards) text += hazard.message + "\n";
    return text;
  }

  LaunchReport report;
};

const char* const factorial =
    ".func (.param .b32 y) factorial(.param .b32 x) { .reg .b32 %n, %m, %f; .reg .pred %q;"
    " ld.param.u32 %n, [x]; setp.lt.u32 %q, %n, 2; mov.u32 %f, 1; @%q bra DONE;"
    " add.u32 %m, %n, -1; { .param .b32 in; .param .b32 out; st.param.b32 [in], %m;"
    " call (out), factorial, (in); ld.param.b32 %f, [out]; } mul.lo.u32 %f, %f, %n;"
    " DONE: st.param.b32 [y], %f; ret; }";

TEST_F(CallStackTest, EachLaneHasItsOwnDepth) {
  const auto found = run_lanes(factorial,
                               " rem.u32 %r1, %lane, 7; call (%r2), factorial, (%r1);"
                               " st.global.u32 [%to], %r2;");
  const std::uint32_t expected[] = {1, 1, 2, 6, 24, 120, 720};
  for (std::size_t lane = 0; lane < 32; ++lane) EXPECT_EQ(found[lane], expected[lane % 7]) << lane;
  EXPECT_EQ(hazards(), "");
}

// Lanes that return at different times reconverge: one store serves all of them.
TEST_F(CallStackTest, LanesMeetBehindTheCall) {
  run_lanes(factorial,
            " rem.u32 %r1, %lane, 7; call (%r2), factorial, (%r1); bar.sync 0;"
            " st.global.u32 [%to], %r2;");
  EXPECT_EQ(report.counters.global_store_requests, 1u);
  EXPECT_EQ(report.counters.barriers, 1u);
}

TEST_F(CallStackTest, UnderAGuard) {
  const auto found = run_lanes(factorial,
                               " mov.u32 %r2, 5; setp.lt.u32 %p1, %lane, 4;"
                               " @%p1 call (%r2), factorial, (%lane); st.global.u32 [%to], %r2;");
  EXPECT_EQ(std::vector(found.begin(), found.begin() + 6),
            (std::vector<std::uint32_t>{1, 1, 2, 6, 5, 5}));
}

const char* const two_functions =
    ".func (.param .b32 y) twice(.param .b32 x) { .reg .b32 %a; ld.param.u32 %a, [x];"
    " add.u32 %a, %a, %a; st.param.b32 [y], %a; ret; }"
    ".func (.param .b32 y) plus(.param .b32 x) { .reg .b32 %a; ld.param.u32 %a, [x];"
    " add.u32 %a, %a, 100; st.param.b32 [y], %a; ret; }"
    ".func wide(.param .b64 x) { trap; }"
    ".global .u64 table[3] = {twice, plus, wide};";

TEST_F(CallStackTest, ByPointersFromMemory) {
  const auto found =
      run_lanes(two_functions,
                " and.b32 %r1, %lane, 1; mov.u64 %rd1, table; mad.wide.u32 %rd1, %r1, 8, %rd1;"
                " ld.global.u64 %rd2, [%rd1]; call (%r2), %rd2, (%lane), P; P: .callprototype "
                "(.param .b32 _) _"
                " (.param .b32 _); st.global.u32 [%to], %r2;");
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(found[lane], lane % 2 == 0 ? 2 * lane : lane + 100) << lane;
  }
  EXPECT_EQ(hazards(), "");
}

// The return point of the call is also where the branch around it ends.
TEST_F(CallStackTest, LanesMeetBehindABranchThatCalls) {
  run_lanes(".func none(.param .b32 x) { ret; }",
            " setp.lt.u32 %p1, %lane, 16; @%p1 bra SKIP; mov.u64 %rd2, none;"
            " call %rd2, (%lane), P; P: .callprototype ()_ (.param .b32 _);"
            " SKIP: bar.sync 0; st.global.u32 [%to], %lane;");
  EXPECT_EQ(hazards(), "");
  EXPECT_EQ(report.counters.barriers, 1u);
}

TEST_F(CallStackTest, APointerThatIsNoFunctionTraps) {
  for (const char* pointer : {"0", "12345", "-1"}) {
    run_lanes(two_functions, std::string(" mov.u64 %rd2, ") + pointer +
                                 "; call (%r2), %rd2, (%lane), P;"
                                 " P: .callprototype (.param .b32 _) _ (.param .b32 _);"
                                 " st.global.u32 [%to], %r2;");
    EXPECT_EQ(report.fault, HazardKind::trap) << pointer;
  }
  // A function with other parameters is not callable, either.
  run_lanes(two_functions,
            " mov.u64 %rd2, wide; call (%r2), %rd2, (%lane), P;"
            " P: .callprototype (.param .b32 _) _ (.param .b32 _);");
  EXPECT_EQ(report.fault, HazardKind::trap);
}

TEST_F(CallStackTest, RecursionWithoutEndTraps) {
  run_lanes(
      ".func (.param .b32 y) f(.param .b32 x) { .reg .b32 %a; ld.param.u32 %a, [x];"
      " call (%a), f, (%a); add.u32 %a, %a, 1; st.param.b32 [y], %a; ret; }",
      " call (%r1), f, (%lane); st.global.u32 [%to], %r1;");
  EXPECT_EQ(report.fault, HazardKind::trap);
}

}  // namespace
}  // namespace rung::vgpu
