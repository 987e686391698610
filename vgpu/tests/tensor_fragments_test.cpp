// tcgen05.ld and tcgen05.st: the layouts of their fragments, and loads that reduce their registers.

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "vgpu/tests/tensor_fixture.hpp"

namespace rung::vgpu::tensor_tests {
namespace {

TEST_F(TensorMemoryTest, LoadsReduceTheirRegisters) {
  // Column c of lane l has 16 l - 100 c as f32, u32 and s32; tcgen05.ld.red gives the least or greatest (9.7.16.8.3).
  struct Case {
    const char* suffix;
    float (*of)(float);  // of the four values; their least or greatest is compared
    bool is_max;
  };
  const Case cases[] = {{"min.f32", [](float x) { return x; }, false},
                        {"max.f32", [](float x) { return x; }, true},
                        {"max.abs.f32", [](float x) { return std::fabs(x); }, true},
                        {"min.abs.NaN.f32", [](float x) { return std::fabs(x); }, false}};
  for (const Case& each : cases) {
    const std::string text = entry(".param .u64 out", ".shared .b32 slot;\n" + registers() +
                                                          fmt::format(R"(.reg .b32 %t, %x<5>, %m;
        ld.param.u64 %rd1, [out];
        mov.u32 %r1, %tid.x;
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 32;
        bar.warp.sync 0xffffffff;
        ld.shared.b32 %t, [slot];
        cvt.rn.f32.u32 %f1, %r1;
        mul.f32 %f1, %f1, 0f41800000;
        mov.b32 %x0, %f1;
        add.f32 %f1, %f1, 0fC2C80000;
        mov.b32 %x1, %f1;
        add.f32 %f1, %f1, 0fC2C80000;
        mov.b32 %x2, %f1;
        add.f32 %f1, %f1, 0fC2C80000;
        mov.b32 %x3, %f1;
        tcgen05.st.sync.aligned.32x32b.x4.b32 [%t], {{%x0, %x1, %x2, %x3}};
        tcgen05.wait::st.sync.aligned;
        tcgen05.ld.red.sync.aligned.32x32b.x4.{} {{%x3, %x2, %x1, %x0}}, %m, [%t];
        tcgen05.wait::ld.sync.aligned;
        mul.wide.u32 %rd2, %r1, 4;
        add.u64 %rd2, %rd1, %rd2;
        st.global.u32 [%rd2], %m;
        st.global.u32 [%rd2+128], %x0;
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t, 32;
        ret;)",
                                                                      each.suffix));
    const std::uint64_t out = array(std::vector<float>(64, 1));
    expect_none(run(text, {1, 1, 1}, {32, 1, 1}, {out}));
    const auto is = values<float>(out, 64);
    for (int lane = 0; lane < 32; ++lane) {
      float wanted = each.of(16.0f * lane);
      for (int column = 1; column < 4; ++column) {
        const float next = each.of(16.0f * lane - 100.0f * column);
        wanted = each.is_max ? std::max(wanted, next) : std::min(wanted, next);
      }
      EXPECT_EQ(is[lane], wanted) << each.suffix << lane;
      EXPECT_EQ(is[32 + lane], 16.0f * lane - 300) << lane;
    }
  }
}

/// The cells of fragments as layouts of bits: strides of the thread's and the value's coordinates, in a matrix of 16
/// or 32 rows of `row` bits. CuTe states them so in its copy traits for these instructions.
struct BitLayout {
  TensorShape shape;
  std::array<std::array<int, 2>, 3> thread, value;  // {extent, stride}
  int row;
};

TEST_F(TensorMemoryTest, FragmentsHaveTheLayoutsOfTheInstructions) {
  const BitLayout layouts[] = {
      {TensorShape::l32_b32, {{{32, 64}, {1, 0}, {1, 0}}}, {{{2, 32}, {1, 0}, {1, 0}}}, 64},
      {TensorShape::l16_b64, {{{2, 1024}, {2, 32}, {8, 128}}}, {{{2, 64}, {1, 0}, {1, 0}}}, 128},
      {TensorShape::l16_b128, {{{4, 32}, {8, 256}, {1, 0}}}, {{{2, 2048}, {2, 128}, {1, 0}}}, 256},
      {TensorShape::l16_b256, {{{4, 64}, {8, 512}, {1, 0}}}, {{{2, 32}, {2, 4096}, {2, 256}}}, 512},
      {TensorShape::l16_b32_twice,
       {{{16, 128}, {2, 64}, {1, 0}}},
       {{{2, 32}, {1, 0}, {1, 0}}},
       128},
  };
  const auto sum = [](const std::array<std::array<int, 2>, 3>& layout, int index) {
    int bit = 0;
    for (const auto& [extent, stride] : layout) {
      bit += index % extent * stride;
      index /= extent;
    }
    return bit;
  };
  for (const BitLayout& layout : layouts) {
    TensorFragment fragment{.shape = layout.shape, .repeats = 2, .split = 2};
    for (int thread = 0; thread < 32; ++thread) {
      for (int i = 0; i < fragment.registers(); ++i) {
        const int bit = sum(layout.thread, thread) + sum(layout.value, i);
        const TensorAddress cell = cell_of(fragment, thread, i);
        EXPECT_EQ(cell.lane, bit / layout.row) << thread << " " << i;
        EXPECT_EQ(cell.column, bit % layout.row / 32) << thread << " " << i;
      }
    }
  }
}

TEST_F(TensorMemoryTest, LoadsUndoStoresInEveryShape) {
  struct Shape {
    const char* name;
    const char* split;
    int per_repeat, lanes;
  };
  for (const Shape& shape :
       {Shape{"32x32b", "", 1, 32}, Shape{"16x64b", "", 1, 16}, Shape{"16x128b", "", 2, 16},
        Shape{"16x256b", "", 4, 16}, Shape{"16x32bx2", ", 64", 1, 16}}) {
    for (const int repeats : {1, 4, 16}) {
      for (const bool packed : {false, true}) {
        const int count = shape.per_repeat * repeats;
        std::string list, fill, compare;
        for (int i = 0; i < count; ++i) {
          list += fmt::format("{}%x{}", i == 0 ? "" : ", ", i);
          fill += fmt::format("mad.lo.u32 %x{0}, %r1, 977, {1};\n", i, i * 7919 + 1);
          compare += fmt::format(
              "mad.lo.u32 %r5, %r1, 977, {1};\nsetp.ne.u32 %p1, %x{0}, %r5;\n@%p1 add.u32 %r6, "
              "%r6, 1;\nmov.u32 %x{0}, 0;\n",
              i, i * 7919 + 1);
        }
        const std::string text = entry(
            ".param .u64 out",
            ".shared .b32 slot;\n" + registers() + fmt::format(".reg .b32 %t, %x<{}>;\n", count) +
                fmt::format(R"(
        ld.param.u64 %rd1, [out];
        mov.u32 %r1, %tid.x;
        tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 512;
        bar.warp.sync 0xffffffff;
        ld.shared.b32 %t, [slot];
        {0}
        tcgen05.st.sync.aligned.{1}.x{2}{3}.b32 [%t]{4}, {{{5}}};
        tcgen05.wait::st.sync.aligned;
        mov.u32 %r6, 0;
        tcgen05.ld.sync.aligned.{1}.x{2}{6}.b32 {{{5}}}, [%t]{4};
        tcgen05.wait::ld.sync.aligned;
        {7}
        mul.wide.u32 %rd2, %r1, 4;
        add.u64 %rd2, %rd1, %rd2;
        st.global.u32 [%rd2], %r6;
        tcgen05.dealloc.cta_group::1.sync.aligned.b32 %t, 512;
        ret;)",
                            fill, shape.name, repeats, packed ? ".unpack::16b" : "", shape.split,
                            list, packed ? ".pack::16b" : "", compare));
        const std::uint64_t out = array(std::vector<std::uint32_t>(32, 1));
        const LaunchReport report = run(text, {1, 1, 1}, {32, 1, 1}, {out});
        expect_none(report);
        EXPECT_EQ(values<std::uint32_t>(out, 32), std::vector<std::uint32_t>(32, 0))
            << shape.name << repeats << packed;
      }
    }
  }
}

}  // namespace
}  // namespace rung::vgpu::tensor_tests
