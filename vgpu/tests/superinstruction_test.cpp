// Loads from shared memory and FMAs run by one handler give the same results as one by one. Reading
// the clock between two instructions keeps them separate.

#include <bit>

#include "vgpu/model/kernel.hpp"
#include "vgpu/tests/launch_fixture.hpp"

namespace rung::vgpu {
namespace {

constexpr std::uint32_t words = 1024;

/// Sums products of shared memory at [%a] and [%b], whose addresses depend on %t, the thread.
struct Case {
  std::string name;
  std::string addresses;
  std::string body;  // '|' separates two instructions
  int threads = 64;
};

std::string text(const Case& c, bool apart) {
  std::string body;
  for (const char character : c.body) {
    body += character == '|' ? (apart ? "\nmov.u32 %nothing, %clock;\n" : "\n")
                             : std::string(1, character);
  }
  return entry(".param .u64 in, .param .u64 out", R"(
    .reg .b32 %t, %n, %i, %a, %b, %x, %nothing; .reg .b64 %in, %out, %at, %offset;
    .reg .f32 %f<8>, %s<3>; .reg .pred %p;
    .shared .align 16 .b8 tile[4096];
    ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
    mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %i, %t; mov.f32 %s0, 0f00000000;
    mov.f32 %s1, 0f3F800000; mov.f32 %s2, 0f3F800000; mov.f32 %f7, 0f00000000;
  fill:
    mul.wide.u32 %offset, %i, 4; add.u64 %at, %in, %offset; ld.global.b32 %x, [%at];
    mov.u32 %b, tile; mad.lo.u32 %b, %i, 4, %b; st.shared.b32 [%b], %x;
    add.u32 %i, %i, %n; setp.lt.u32 %p, %i, 1024; @%p bra fill;
    bar.sync 0;
    mov.u32 %a, tile; mov.u32 %b, tile;
)" + c.addresses + "\n" + body + R"(
    mul.wide.u32 %offset, %t, 16; add.u64 %at, %out, %offset;
    st.global.f32 [%at], %s0; st.global.f32 [%at+4], %s1; st.global.f32 [%at+8], %s2;
    st.global.f32 [%at+12], %f7;
    ret;)");
}

class SuperinstructionTest : public LaunchTest {
 protected:
  struct Outcome {
    std::vector<std::uint32_t> out;
    LaunchReport report;
    std::size_t superinstructions;
  };

  Outcome outcome(const Case& c, bool apart) {
    std::vector<std::uint32_t> in(words);
    for (std::uint32_t i = 0; i < words; ++i) in[i] = std::bit_cast<std::uint32_t>(0.5f * (i % 61));
    in[7] = 0x7FC12345u;  // a NaN other than PTX's canonical one
    const std::uint64_t p = array(in);
    const std::uint64_t q = array(std::vector<std::uint32_t>(4 * words));
    Outcome result;
    result.report =
        run(text(c, apart), {1, 1, 1}, {static_cast<std::uint32_t>(c.threads), 1, 1}, {p, q});
    result.out = values<std::uint32_t>(q, 4 * words);
    result.superinstructions = module->kernel("k")->superinstructions.size();
    memory.free(p);
    memory.free(q);
    return result;
  }

  void expect_the_same(const Case& c) {
    SCOPED_TRACE(c.name);
    const Outcome joined = outcome(c, false), apart = outcome(c, true);
    EXPECT_GE(joined.superinstructions, 1u);
    EXPECT_EQ(apart.superinstructions, 0u);
    EXPECT_EQ(joined.out, apart.out);
    const Counters &a = joined.report.counters, &b = apart.report.counters;
    EXPECT_EQ(a.shared_load_requests, b.shared_load_requests);
    EXPECT_EQ(a.shared_load_wavefronts, b.shared_load_wavefronts);
    EXPECT_EQ(a.issued_shared_load_requests, b.issued_shared_load_requests);
    EXPECT_EQ(a.issued_shared_load_wavefronts, b.issued_shared_load_wavefronts);
    EXPECT_EQ(a.ffma, b.ffma);
    ASSERT_EQ(joined.report.hazards.size(), apart.report.hazards.size());
    for (std::size_t i = 0; i < joined.report.hazards.size(); ++i) {
      const Hazard &here = joined.report.hazards[i], &there = apart.report.hazards[i];
      EXPECT_EQ(here.kind, there.kind);
      EXPECT_EQ(here.address, there.address);
      EXPECT_EQ(here.count, there.count);
    }
  }
};

// Code that computes %a and %b from the thread.
const std::string uniform_and_dense = "mad.lo.u32 %b, %t, 4, %b;";
const std::string halves_and_repeated =
    "shr.u32 %x, %t, 4; mad.lo.u32 %a, %x, 64, %a; and.b32 %x, %t, 15; mad.lo.u32 %b, %x, 32, %b;";
const std::string strided_and_scattered =
    "mad.lo.u32 %a, %t, 16, %a; mul.lo.u32 %x, %t, 7; and.b32 %x, %x, 31;"
    "mad.lo.u32 %b, %x, 16, %b;";
const std::string falling_and_masked =
    "sub.u32 %x, 63, %t; mad.lo.u32 %a, %x, 4, %a; and.b32 %x, %t, 21; mad.lo.u32 %b, %x, 16, %b;";

const std::string sum_of_products =
    "ld.shared.f32 %f1, [%a];|ld.shared.f32 %f2, [%b+128];|fma.rn.f32 %s0, %f1, %f2, %s0;|"
    "ld.shared.f32 %f1, [%a+4];|ld.shared.f32 %f2, [%b+256];|fma.rn.f32 %s0, %f1, %f2, %s0;|"
    "ld.shared.f32 %f1, [%a+8];|ld.shared.f32 %f2, [%b];|fma.rn.f32 %s0, %f2, %f1, %s0;|"
    "ld.shared.f32 %f7, [%a+12];|fma.rn.f32 %s1, %f7, %f1, %s0;";
const std::string outer_product =
    "ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%a+16];|ld.shared.v2.f32 {%f5, %f6}, [%b+32];|"
    "ld.shared.f32 %f7, [%a+28];|fma.rn.f32 %s0, %f1, %f5, %s0;|fma.rn.f32 %s1, %f2, %f5, %s1;|"
    "fma.rn.f32 %s2, %f1, %f6, %s2;|fma.rn.f32 %s0, %f3, %f6, %s0;|fma.rn.f32 %s1, %f4, %f4, %s1;|"
    "fma.rn.f32 %s2, %f7, 0f40000000, %s2;";

// Loads of adjacent words: too many for one load, and not in the order of the registers.
const std::string adjacent_words =
    "ld.shared.f32 %f3, [%b+32];|ld.shared.f32 %f1, [%b+36];|ld.shared.f32 %f2, [%b+40];|"
    "ld.shared.f32 %f0, [%b+44];|ld.shared.v2.f32 {%f4, %f5}, [%b+48];|ld.shared.f32 %f6, [%b+56];|"
    "fma.rn.f32 %s0, %f0, %f3, %s0;|fma.rn.f32 %s1, %f1, %f4, %s1;|fma.rn.f32 %s2, %f2, %f5, %s2;|"
    "fma.rn.f32 %s0, %f6, %f1, %s0;|fma.rn.f32 %s1, %f3, %f2, %s1;|fma.rn.f32 %s2, %f4, %f0, %s2;|"
    "fma.rn.f32 %s0, %f5, %f6, %s0;|ld.shared.f32 %f7, [%a+4];";

// Instructions that compute between the loads, which have several sizes through one register.
const std::string steps_that_compute =
    "ld.shared.v2.f32 {%f1, %f2}, [%b];|sub.f32 %f3, %f1, %s1;|ld.shared.f32 %f4, [%b+8];|"
    "mul.f32 %f5, %f3, %f2;|setp.gt.f32 %p, %f5, %f4;|selp.f32 %f6, %f4, %f3, %p;|"
    "ld.shared.f32 %f1, [%a+4];|fma.rn.f32 %s0, %f1, %f6, %s0;|sub.f32 %f1, %f1, %f2;|"
    "ld.shared.b32 %x, [%b+12];|and.b32 %x, %x, 255;|cvt.rn.f32.u32 %f2, %x;|"
    "fma.rn.f32 %s1, %f2, %f1, %s1;|mul.wide.u32 %offset, %x, 3;|cvt.u32.u64 %x, %offset;|"
    "cvt.rn.f32.u32 %f3, %x;|max.f32 %s2, %f3, %s2;|ld.shared.f32 %f7, [%a+8];|"
    "neg.f32 %f4, %f7;|fma.rn.f32 %s2, %f4, %f1, %s2;";

TEST_F(SuperinstructionTest, ComputesBetweenItsLoads) {
  for (const std::string& addresses :
       {uniform_and_dense, halves_and_repeated, strided_and_scattered, falling_and_masked}) {
    const std::string aligned = addresses + " and.b32 %b, %b, 0xFFFFFFF0;";
    for (const int threads : {64, 40}) {
      expect_the_same({addresses, aligned, steps_that_compute, threads});
    }
    // Only some lanes of each warp.
    const std::string divergent =
        aligned + " and.b32 %x, %t, 12; setp.eq.u32 %p, %x, 8; @%p bra skip;";
    expect_the_same({"divergent", divergent, steps_that_compute + "\n skip:"});
  }
  expect_the_same({"beyond", "mad.lo.u32 %b, %t, 64, %b;", steps_that_compute});
  const Case one{"", uniform_and_dense, steps_that_compute};
  EXPECT_EQ(outcome({"", one.addresses + " and.b32 %b, %b, 0xFFFFFFF0;", one.body}, false)
                .superinstructions,
            1u);
}

TEST_F(SuperinstructionTest, RunsAsItsPartsDo) {
  for (const std::string& addresses :
       {uniform_and_dense, halves_and_repeated, strided_and_scattered, falling_and_masked}) {
    for (const std::string& body : {sum_of_products, outer_product, adjacent_words}) {
      for (const int threads : {64, 40}) {
        expect_the_same({addresses + body, addresses, body, threads});
      }
    }
  }
}

TEST_F(SuperinstructionTest, KeepsTheBitsOfALoadedNan) {
  const Outcome joined =
      outcome({"", "add.u32 %a, %a, 16;" + uniform_and_dense, sum_of_products}, false);
  EXPECT_EQ(joined.out[3], 0x7FC12345u);
  EXPECT_EQ(joined.out[1], 0x7FFFFFFFu);
}

TEST_F(SuperinstructionTest, ReportsWhatIsOutOfBounds) {
  const Case c{"", "mad.lo.u32 %b, %t, 64, %b;", sum_of_products};
  expect_the_same(c);
  EXPECT_FALSE(outcome(c, false).report.hazards.empty());
}

TEST_F(SuperinstructionTest, ReportsRacesWithItsLoads) {
  const std::string four_loads =
      "ld.shared.f32 %f1, [%b];|ld.shared.f32 %f2, [%b+4];|ld.shared.f32 %f3, [%b+8];|"
      "ld.shared.f32 %f4, [%b+12];|";
  // Before the other warp's write, and after it.
  for (const std::string& body :
       {four_loads + "st.shared.f32 [%b+128], %f1;", "st.shared.f32 [%b+128], %f7;" + four_loads}) {
    const Case c{body, uniform_and_dense, body};
    expect_the_same(c);
    EXPECT_FALSE(outcome(c, false).report.hazards.empty());
  }
}

TEST_F(SuperinstructionTest, AddressThatItLoadsItselfIsFollowed) {
  // The bits of 0.0 are the address of the first word.
  expect_the_same(
      {"", uniform_and_dense,
       "ld.shared.f32 %f1, [%b];|ld.shared.f32 %f2, [%b+4];|ld.shared.f32 %f3, [%b+8];|"
       "ld.shared.f32 %f4, [%b+12];|ld.shared.b32 %a, [tile];|ld.shared.f32 %f7, [%a];"});
}

}  // namespace
}  // namespace rung::vgpu
