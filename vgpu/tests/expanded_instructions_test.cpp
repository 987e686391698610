// Tensor maps that a kernel makes in shared memory and copies to global memory, as Triton's do; atomic vectors.

#include <numeric>

#include "vgpu/tests/async_fixture.hpp"

namespace rung::vgpu {
namespace {

class ExpandedInstructionsTest : public AsyncTest {
 protected:
  /// A warp makes a map of the 16 x 8 matrix `x` of u32 with boxes of 8 x 4, loads the box at (8, 4), and stores it to
  /// `y`. `edits` replaces fields of the map in `made`, by lane 0.
  LaunchReport run_with(const std::string& edits, std::uint64_t x, std::uint64_t y) {
    std::string text = entry(".param .u64 x, .param .u64 y, .param .u64 map", R"(
      .shared .align 128 .b8 data[128];
      .shared .align 128 .b8 made[128];
      .shared .align 8 .b8 bar[8];)" + registers() + R"(
      ld.param.u64 %rd1, [x];
      ld.param.u64 %rd2, [y];
      ld.param.u64 %rd3, [map];
      mov.u32 %r1, %tid.x;
      setp.eq.u32 %p1, %r1, 0;
      shl.b32 %r2, %r1, 2;
      mov.u32 %r3, made;
      add.u32 %r4, %r3, %r2;
      mov.u32 %r5, 0;
      st.shared.b32 [%r4], %r5;
      @%p1 mbarrier.init.shared.b64 [bar], 1;
      @%p1 fence.mbarrier_init.release.cluster;
      bar.warp.sync 0xffffffff;
      mov.u32 %r6, 1;
      mov.u32 %r7, 8;
      mov.u32 %r8, 4;
      mov.u32 %r9, 16;
      mov.u64 %rd4, 64;
      )" + edits + R"(
      setp.lt.u32 %p2, %r1, 32;
      @%p2 tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd3], [made], 128;
      @%p2 fence.proxy.tensormap::generic.acquire.gpu [%rd3], 128;
      @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
      @%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [data], [%rd3, {%r7, %r8}], [bar];
      )" + wait_for("bar", "0", "0") + R"(
      mov.u32 %r10, data;
      add.u32 %r10, %r10, %r2;
      ld.shared.b32 %r11, [%r10];
      mul.wide.u32 %rd5, %r2, 1;
      add.u64 %rd2, %rd2, %rd5;
      st.global.b32 [%rd2], %r11;
      ret;)");
    text.replace(text.find("sm_80"), 5, "sm_90");
    return run(text, {1, 1, 1}, {32, 1, 1}, {x, y, memory.allocate(128)});
  }

  static std::vector<std::uint32_t> numbers() {
    std::vector<std::uint32_t> all(128);
    std::iota(all.begin(), all.end(), 0u);
    return all;
  }
};

const std::string edits = R"(
      @%p1 tensormap.replace.tile.global_address.shared::cta.b1024.b64 [made], %rd1;
      @%p1 tensormap.replace.tile.rank.shared::cta.b1024.b32 [made], 1;
      @%p1 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [made], 0, %r7;
      @%p1 tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [made], 1, %r8;
      @%p1 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [made], 0, %r9;
      @%p1 tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [made], 1, %r7;
      @%p1 tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [made], 0, %rd4;
      @%p1 tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [made], 0, %r6;
      @%p1 tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [made], 1, %r6;
      @%p1 tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [made], 2;
      @%p1 tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [made], 0;
      @%p1 tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [made], 0;
      @%p1 tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [made], 0;
)";

TEST_F(ExpandedInstructionsTest, AMapThatTheKernelMakes) {
  const std::uint64_t x = array(numbers()), y = memory.allocate(128);
  const LaunchReport report = run_with(edits, x, y);
  for (const Hazard& hazard : report.hazards) ADD_FAILURE() << hazard.message;
  std::vector<std::uint32_t> box;
  for (std::uint32_t row = 4; row < 8; ++row) {
    for (std::uint32_t column = 8; column < 16; ++column) box.push_back(row * 16 + column);
  }
  EXPECT_EQ(values<std::uint32_t>(y, 32), box);
}

TEST_F(ExpandedInstructionsTest, WithoutAnElementTypeItIsNoMap) {
  std::string less = edits;
  const std::size_t at = less.find("@%p1 tensormap.replace.tile.elemtype");
  less.erase(at, less.find('\n', at) - at);
  const LaunchReport report = run_with(less, array(numbers()), memory.allocate(128));
  ASSERT_EQ(report.hazards.size(), 1u);
  EXPECT_NE(report.hazards[0].message.find("is no tensor map"), std::string::npos);
}

TEST_F(ExpandedInstructionsTest, WhatItRefuses) {
  const auto message = [&](const std::string& edit) -> std::string {
    try {
      run_with(edit, 0, 0);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message("tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [made], 1;")
                .find("at most 0"),
            std::string::npos);
  EXPECT_NE(message("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [made], 5, %r7;")
                .find("from 0 to 4"),
            std::string::npos);
  EXPECT_NE(message("tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [made], %r1;")
                .find("a constant"),
            std::string::npos);
}

TEST_F(ExpandedInstructionsTest, AtomicVectors) {
  const std::uint64_t x = array(std::vector<float>{1, 2, 3, 4}), y = memory.allocate(16);
  std::string text = entry(".param .u64 x, .param .u64 y", registers() + R"(
      ld.param.u64 %rd1, [x];
      ld.param.u64 %rd2, [y];
      mov.f32 %f1, 0f3F800000;
      mov.f32 %f2, 0f40000000;
      mov.f32 %f3, 0f40400000;
      mov.f32 %f4, 0f40800000;
      atom.global.gpu.acq_rel.add.v4.f32 {%f2, %f3, %f4, %f5}, [%rd1], {%f1, %f2, %f3, %f4};
      red.relaxed.gpu.global.add.v2.f32 [%rd1+8], {%f1, %f1};
      st.global.f32 [%rd2], %f2;
      st.global.f32 [%rd2+4], %f3;
      st.global.f32 [%rd2+8], %f4;
      st.global.f32 [%rd2+12], %f5;
      ret;)");
  text.replace(text.find("sm_80"), 5, "sm_90");
  const LaunchReport report = run(text, {1, 1, 1}, {1, 1, 1}, {x, y});
  for (const Hazard& hazard : report.hazards) ADD_FAILURE() << hazard.message;
  EXPECT_EQ(values<float>(y, 4), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(values<float>(x, 4), (std::vector<float>{2, 4, 7, 9}));
}

}  // namespace
}  // namespace rung::vgpu
