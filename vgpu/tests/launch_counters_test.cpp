// The counters of a launch, compared with numbers that are easy to compute by hand.

#include <numeric>

#include "vgpu/tests/launch_fixture.hpp"

namespace rung::vgpu {
namespace {

/// Loads a word at p + stride * thread and stores it at q + 4 * thread.
std::string copy_kernel(int stride) {
  return entry(".param .u64 p, .param .u64 q", R"(
    .reg .b32 %r<4>; .reg .b64 %rd<8>; .reg .f32 %f<2>;
    ld.param.u64 %rd1, [p];
    ld.param.u64 %rd2, [q];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mad.lo.u32 %r1, %r2, %r3, %r1;
    mul.wide.u32 %rd3, %r1, )" + std::to_string(stride) +
                                                   R"(;
    add.s64 %rd4, %rd1, %rd3;
    mul.wide.u32 %rd5, %r1, 4;
    add.s64 %rd6, %rd2, %rd5;
    ld.global.f32 %f1, [%rd4];
    st.global.f32 [%rd6], %f1;
    ret;)");
}

class CountersTest : public LaunchTest {
 protected:
  LaunchReport copy(int stride) {
    std::vector<float> in(64 * 32);
    std::iota(in.begin(), in.end(), 0.0f);
    const std::uint64_t p = array(in);
    const std::uint64_t q = memory.allocate(64 * 4);
    const LaunchReport report = run(copy_kernel(stride), {1, 1, 1}, {64, 1, 1}, {p, q});
    const std::vector<float> out = values<float>(q, 64);
    for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], in[i * stride / 4]);
    EXPECT_TRUE(report.hazards.empty());
    return report;
  }
};

TEST_F(CountersTest, NeighbouringWordsAreFourSectors) {
  const Counters counters = copy(4).counters;
  EXPECT_EQ(counters.global_load_requests, 2u);
  EXPECT_EQ(counters.global_load_sectors, 8u);
  EXPECT_EQ(counters.global_store_requests, 2u);
  EXPECT_EQ(counters.global_store_sectors, 8u);
  EXPECT_EQ(counters.instructions, 2u * 13u);
}

TEST_F(CountersTest, OneWordForAllIsOneSector) {
  EXPECT_EQ(copy(0).counters.global_load_sectors, 2u);
}

TEST_F(CountersTest, WordsFarApartAreASectorEach) {
  EXPECT_EQ(copy(64).counters.global_load_sectors, 64u);
}

TEST_F(CountersTest, EveryOtherWordIsEightSectors) {
  EXPECT_EQ(copy(8).counters.global_load_sectors, 16u);
}

/// One warp stores to shared memory with a stride in bytes, and loads from the same addresses.
std::string shared_kernel(int stride) {
  return entry("", R"(
    .shared .align 16 .b8 s[8192];
    .reg .b32 %r<6>;
    mov.u32 %r1, %tid.x;
    mul.lo.s32 %r2, %r1, )" +
                       std::to_string(stride) + R"(;
    mov.u32 %r3, s;
    add.s32 %r4, %r3, %r2;
    st.shared.u32 [%r4], %r1;
    ld.shared.u32 %r5, [%r4];
    ret;)");
}

TEST_F(CountersTest, BankConflicts) {
  struct Case {
    int stride;
    std::uint64_t wavefronts;
  };
  for (const auto& [stride, wavefronts] :
       {Case{4, 1}, Case{8, 2}, Case{12, 1}, Case{16, 4}, Case{128, 32}, Case{132, 1}}) {
    const Counters counters = run(shared_kernel(stride), {1, 1, 1}, {32, 1, 1}, {}).counters;
    EXPECT_EQ(counters.shared_store_requests, 1u);
    EXPECT_EQ(counters.shared_store_wavefronts, wavefronts) << "stride " << stride;
    EXPECT_EQ(counters.shared_load_wavefronts, wavefronts) << "stride " << stride;
  }
}

TEST_F(CountersTest, DivergenceAndFma) {
  // Odd lanes take a branch; all lanes reconverge for an FMA.
  const std::string text = entry(".param .u64 p", R"(
    .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .f32 %f<4>; .reg .pred %p<2>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 1;
    setp.eq.s32 %p1, %r2, 0;
    mov.f32 %f1, 0f40000000;
    @%p1 bra even;
    mov.f32 %f1, 0f40400000;
even:
    fma.rn.f32 %f2, %f1, %f1, 0f3F800000;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.f32 [%rd3], %f2;
    ret;)");
  const std::uint64_t p = memory.allocate(32 * 4);
  const Counters counters = run(text, {1, 1, 1}, {32, 1, 1}, {p}).counters;
  const std::vector<float> out = values<float>(p, 32);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], i % 2 == 0 ? 5.0f : 10.0f);
  EXPECT_EQ(counters.divergent_branches, 1u);
  EXPECT_EQ(counters.branches, 1u);
  EXPECT_EQ(counters.ffma, 32u);
  // Together before and after the branch, plus one instruction for the odd lanes.
  EXPECT_EQ(counters.instructions, 12u);
  EXPECT_EQ(counters.thread_instructions, 11u * 32u + 16u);
}

TEST_F(CountersTest, MultiplyAddsOfTensorCores) {
  // Two warps, with 16 x 8 x 16 each.
  const std::string text = entry("", R"(
    .reg .b32 %r<8>; .reg .f32 %f<5>;
    mov.u32 %r1, 0;
    mov.f32 %f1, 0f00000000;
    mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f1, %f2, %f3, %f4}, {%r1, %r1, %r1, %r1},
      {%r1, %r1}, {%f1, %f1, %f1, %f1};
    ret;)");
  const Counters counters = run(text, {1, 1, 1}, {64, 1, 1}, {}).counters;
  EXPECT_EQ(counters.tensor_multiply_adds, 2u * 16 * 8 * 16);
  EXPECT_EQ(counters.ffma + counters.wgmma_shared_load_bytes, 0u);
}

TEST_F(CountersTest, TheSameOnOneThreadAndTwo) {
  std::vector<float> in(1 << 14, 1.0f);
  const std::uint64_t p = array(in);
  const std::uint64_t q = memory.allocate(in.size() * 4);
  options.threads = 1;
  const LaunchReport one = run(copy_kernel(4), {256, 1, 1}, {64, 1, 1}, {p, q});
  options.threads = 2;
  const LaunchReport two = run(copy_kernel(4), {256, 1, 1}, {64, 1, 1}, {p, q});
  EXPECT_EQ(one.counters.instructions, two.counters.instructions);
  EXPECT_EQ(one.counters.global_load_sectors, two.counters.global_load_sectors);
  EXPECT_TRUE(one.hazards.empty() && two.hazards.empty());
}

TEST_F(CountersTest, UnknownInstructionIsRefusedWithItsLine) {
  const std::string text =
      entry("", "  .reg .b32 %r<2>;\n  .loc 1 31 2\n  frob.b32 %r1, %r1;\n  ret;") +
      ".file 1 \"kernels/tile.cu\"\n";
  module = Module::load(text, "test.ptx", memory);
  try {
    module->kernel("k");
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "test.ptx:9: frob.b32 is not known to the virtual GPU (tile.cu:31)");
  }
}

TEST_F(CountersTest, LineZeroIsNoLine) {
  const std::string text = entry("",
                                 "  .reg .b32 %r<2>;\n  .loc 1 0 2\n  mov.u32 %r1, 1;\n"
                                 "  .loc 1 7 2\n  ret;") +
                           ".file 1 \"kernels/tile.cu\"\n";
  module = Module::load(text, "test.ptx", memory);
  const std::vector<Site>& found = sites(*module->kernel("k"));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].where, "");
  EXPECT_EQ(found[1].where, "tile.cu:7");
}

TEST_F(CountersTest, RefusesWhatTheDeviceRefuses) {
  const std::string text = entry("", "  ret;");
  EXPECT_THROW(run(text, {1, 1, 1}, {1025, 1, 1}, {}), std::invalid_argument);
  EXPECT_THROW(run(text, {1, 65536, 1}, {1, 1, 1}, {}), std::invalid_argument);
  EXPECT_THROW(run(text, {0, 1, 1}, {1, 1, 1}, {}), std::invalid_argument);
  EXPECT_THROW(run(entry(".param .u64 p", "  ret;"), {1, 1, 1}, {1, 1, 1}, {}),
               std::invalid_argument);
  options.dynamic_shared = 1 << 20;
  EXPECT_THROW(run(text, {1, 1, 1}, {1, 1, 1}, {}), std::invalid_argument);
}

TEST_F(CountersTest, AThreadHasAtMost255Registers) {
  // 300 values that are all live before the first use.
  std::string body = ".reg .b32 %r<301>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [p];\n";
  for (int i = 1; i <= 300; ++i) {
    body += "ld.global.u32 %r" + std::to_string(i) + ", [%rd1+" + std::to_string(4 * i) + "];\n";
  }
  for (int i = 1; i <= 300; ++i) body += "st.global.u32 [%rd1], %r" + std::to_string(i) + ";\n";
  const auto loaded = Module::load(entry(".param .u64 p", body + "ret;"), "many", memory);
  EXPECT_EQ(info(*loaded->kernel("k")).registers, 255);
}

}  // namespace
}  // namespace rung::vgpu
