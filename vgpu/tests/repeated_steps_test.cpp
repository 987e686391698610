// A loop of loads from shared memory and FMAs, whose iterations translated code runs together,
// gives the same bits, counters and hazards as its instructions one by one.

#include <fmt/format.h>

#include <bit>

#include "vgpu/model/kernel.hpp"
#include "vgpu/native/translate.hpp"
#include "vgpu/tests/launch_fixture.hpp"

namespace rung::vgpu {
namespace {

constexpr std::uint32_t words = 2048;
constexpr int threads = 96;

/// An outer product of rows x columns words per lane and iteration, with addresses %a and %b.
struct StepsCase {
  std::string addresses;     // instructions that compute %a and %b from %t, the thread
  std::string trips = "16";  // number of iterations; may depend on the thread, in %x
  int rows = 8, columns = 4;
  int step_of_a = 64, step_of_b = 128;  // bytes per iteration
  std::string behind = "";              // code after each iteration
};

std::string text(const StepsCase& c) {
  std::string loads, products, zeros, stores;
  for (int i = 0; i < c.rows; ++i) {
    loads += fmt::format("ld.shared.f32 %f{}, [%a+{}];\n", i, 4 * i);
  }
  loads += "add.u32 %next, %b, %shift;\n";  // moves ahead of the loads
  for (int j = 0; j < c.columns; ++j) {
    loads += fmt::format("ld.shared.f32 %g{}, [%next+{}];\n", j, 4 * j);
  }
  for (int i = 0; i < c.rows; ++i) {
    for (int j = 0; j < c.columns; ++j) {
      const int sum = i * c.columns + j;
      products += fmt::format("fma.rn.f32 %s{}, %f{}, %g{}, %s{};\n", sum, i, j, sum);
      zeros += fmt::format("mov.f32 %s{}, 0f{:08X};\n", sum, 0x3F800000 + sum);
      stores += fmt::format("st.global.f32 [%at+{}], %s{};\n", 4 * sum, sum);
    }
  }
  return entry(".param .u64 in, .param .u64 out",
               fmt::format(R"(
    .reg .b32 %t, %n, %i, %a, %b, %next, %shift, %x, %trips; .reg .b64 %in, %out, %at, %offset;
    .reg .f32 %f<8>, %g<8>, %s<64>; .reg .pred %p;
    .shared .align 16 .b8 tile[8192];
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
    mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %i, %t;
  fill:
    mul.wide.u32 %offset, %i, 4; add.u64 %at, %in, %offset; ld.global.b32 %x, [%at];
    mov.u32 %b, tile; mad.lo.u32 %b, %i, 4, %b; st.shared.b32 [%b], %x;
    add.u32 %i, %i, %n; setp.lt.u32 %p, %i, {}; @%p bra fill;
    bar.sync 0;
    mov.u32 %a, tile; mov.u32 %b, tile; mov.u32 %shift, 1024; mov.u32 %i, 0;
    {}
    {}
    mov.u32 %x, %t; {}
  again:
    {}{}{}
    add.u32 %a, %a, {}; add.u32 %shift, %shift, {}; add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, %trips; @%p bra again;
    mul.wide.u32 %offset, %t, 256; add.u64 %at, %out, %offset;
    {}
    ret;)",
                           words, c.addresses, zeros,
                           c.trips == "thread" ? "and.b32 %trips, %t, 15;"
                                               : "mov.u32 %trips, " + c.trips + ";",
                           loads, products, c.behind, c.step_of_a, c.step_of_b, stores));
}

class RepeatedStepsTest : public LaunchTest {
 protected:
  void SetUp() override {
    if (!native::is_supported())
      GTEST_SKIP() << "this CPU has no AVX2, or there is no assembler for it";
  }

  struct Outcome {
    std::vector<std::uint32_t> out;
    LaunchReport report;
    std::size_t loops;
  };

  Outcome outcome(const StepsCase& c, bool native, bool observe) {
    std::vector<std::uint32_t> in(words);
    for (std::uint32_t i = 0; i < words; ++i)
      in[i] = std::bit_cast<std::uint32_t>(0.37f * (i % 61));
    in[299] = 0x7FC12345u;  // a NaN other than PTX's canonical one
    const std::uint64_t p = array(in);
    const std::uint64_t q = array(std::vector<std::uint32_t>(threads * 64));
    options.native = native;
    options.observe = observe;
    Outcome result;
    result.report = run(text(c), {1, 1, 1}, {threads - 8, 1, 1}, {p, q});
    result.out = values<std::uint32_t>(q, threads * 64);
    result.loops = module->kernel("k")->loops.size();
    memory.free(p);
    memory.free(q);
    return result;
  }

  void expect_the_same(const StepsCase& c, std::size_t loops = 1) {
    SCOPED_TRACE(c.addresses + " " + c.trips);
    const Outcome here = outcome(c, true, true), there = outcome(c, false, true);
    EXPECT_EQ(here.loops, loops);
    EXPECT_EQ(here.out, there.out);
    EXPECT_EQ(outcome(c, true, false).out, there.out);
    for (std::size_t i = 0; i < here.report.per_site.size(); ++i) {
      EXPECT_EQ(here.report.per_site[i].executions, there.report.per_site[i].executions) << i;
      EXPECT_EQ(here.report.per_site[i].lanes, there.report.per_site[i].lanes) << i;
      EXPECT_EQ(here.report.per_site[i].units, there.report.per_site[i].units) << i;
    }
    ASSERT_EQ(here.report.hazards.size(), there.report.hazards.size());
    for (std::size_t i = 0; i < here.report.hazards.size(); ++i) {
      EXPECT_EQ(here.report.hazards[i].kind, there.report.hazards[i].kind);
      EXPECT_EQ(here.report.hazards[i].address, there.report.hazards[i].address);
      EXPECT_EQ(here.report.hazards[i].count, there.report.hazards[i].count);
    }
  }
};

const std::string uniform_and_dense = "mad.lo.u32 %b, %t, 4, %b;";
const std::string halves_and_repeated =
    "shr.u32 %x, %t, 4; mad.lo.u32 %a, %x, 32, %a; and.b32 %x, %t, 15; mad.lo.u32 %b, %x, 32, %b;";
const std::string falling_halves =
    "and.b32 %x, %t, 16; sub.u32 %x, 32, %x; mad.lo.u32 %a, %x, 8, %a; mad.lo.u32 %b, %t, 16, %b;";
const std::string repeated_and_dense =
    "and.b32 %x, %t, 15; mad.lo.u32 %a, %x, 4, %a; mad.lo.u32 %b, %t, 4, %b;";
const std::string scattered =
    "mul.lo.u32 %x, %t, 7; and.b32 %x, %x, 31; mad.lo.u32 %b, %x, 16, %b;";

TEST_F(RepeatedStepsTest, RunAsTheInstructionsDo) {
  for (const std::string& addresses :
       {uniform_and_dense, halves_and_repeated, falling_halves, repeated_and_dense, scattered}) {
    expect_the_same({addresses});
  }
}

TEST_F(RepeatedStepsTest, AnyNumberOfIterationsAndSums) {
  for (const std::string trips : {"1", "2", "15", "17", "33", "thread"}) {
    expect_the_same({halves_and_repeated, trips, 8, 8, 32, 64});
  }
  expect_the_same({halves_and_repeated, "9", 1, 3});
  expect_the_same({uniform_and_dense, "9", 5, 5});
}

TEST_F(RepeatedStepsTest, AddressesThatLeaveTheArrayAreReported) {
  expect_the_same({uniform_and_dense, "20", 8, 4, 64, 1024});
  EXPECT_FALSE(
      outcome({uniform_and_dense, "20", 8, 4, 64, 1024}, true, true).report.hazards.empty());
}

TEST_F(RepeatedStepsTest, ALoopThatReadsItsSumsIsNone) {
  StepsCase reads{uniform_and_dense};
  reads.behind = "cvt.rzi.u32.f32 %x, %s0; and.b32 %x, %x, 4; add.u32 %a, %a, %x;";
  expect_the_same(reads, 0);
  StepsCase changes{uniform_and_dense};
  changes.behind = "mul.f32 %s1, %s1, 0f3F000000;";
  expect_the_same(changes, 0);
}

}  // namespace
}  // namespace rung::vgpu
