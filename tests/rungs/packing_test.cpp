// Copies of operands for rungs without tensor maps: which operands are copied, when copies are
// faster, and correct products.

#include "select/cuda/operands.hpp"

#include <gtest/gtest.h>

#include "backends/cuda/gemm_call.hpp"
#include "backends/cuda/virtual_gpu.hpp"
#include "core/case.hpp"
#include "core/verify.hpp"
#include "select/cuda/tuned.hpp"
#include "vgpu/model/device.hpp"

namespace rung::cuda {
namespace {

using enum Pack;

constexpr std::string_view split_k = "gemm/cuda/fma_tiles";

VirtualGpu& gpu() {
  static const vgpu::DeviceDescription h200 = vgpu::parse_device("h200");
  static VirtualGpu gpu(open_virtual_driver(h200), std::nullopt, true,
                        [](const vgpu::LaunchReport&, const vgpu::Kernel&) {});
  gpu.make_current();
  return gpu;
}

GemmSpec transposed(bool a, bool b, std::int64_t padding = 0) {
  return {.m = 72,
          .n = 76,
          .k = 36,
          .a_transposed = a,
          .b_transposed = b,
          .a_padding = padding,
          .b_padding = padding};
}

std::optional<Packing> packing(const GemmSpec& spec) {
  return packing_for_fast_copies(*find_gemm_rung(split_k), GemmCase(spec).call());
}

void expect(const GemmSpec& spec, Pack a, Pack b) {
  const auto found = packing(spec);
  ASSERT_TRUE(found) << describe(spec);
  EXPECT_EQ(found->a, a) << describe(spec);
  EXPECT_EQ(found->b, b) << describe(spec);
}

TEST(Packing, IsOfWhatHasNoFastCopies) {
  EXPECT_FALSE(packing(transposed(false, false)));
  EXPECT_FALSE(packing(transposed(true, false)));
  expect(transposed(false, true), no, mn_major);
  expect(transposed(true, true), no, mn_major);
  expect(transposed(false, false, 1), no, in_order);  // A is copied K-major, element by element
  expect(transposed(true, false, 1), in_order, in_order);
  expect(transposed(true, true, 1), in_order, mn_major);
}

TEST(Packing, IsOfElementsOfFourBytes) {
  GemmSpec spec = transposed(true, true, 1);
  spec.dtype = Dtype::f64;
  EXPECT_FALSE(packing(spec));
}

TEST(Packing, IsReadAndWrittenOnce) {
  const GemmCall call = GemmCase(transposed(true, true, 1)).call();
  EXPECT_EQ(packing_bytes({no, mn_major}, call), 2 * 4 * 76 * 36);
  EXPECT_EQ(packing_bytes({in_order, mn_major}, call), 2 * 4 * (72 + 76) * 36);
}

TEST(Packing, PaysForLargeProducts) {
  const TunedConfigs data = TunedConfigs::of_device("a device without a cache");
  const GemmRung& rung = *find_gemm_rung(split_k);
  const auto chosen = [&](std::int64_t size, bool may_pack) {
    // Only the strides and the alignment matter.
    GemmCall call = GemmCase(transposed(false, true)).call();
    call.m = call.n = call.k = size;
    call.a.row_stride = call.b.col_stride = size;
    return data.best(rung, split_k, call,
                     {.shared_bytes = 232448, .multiprocessors = 132, .may_pack = may_pack});
  };
  EXPECT_FALSE(chosen(64, true).packs());
  EXPECT_EQ(chosen(8192, true).pack_a, no);
  EXPECT_EQ(chosen(8192, true).pack_b, mn_major);
  EXPECT_FALSE(chosen(8192, false).packs());
}

TEST(Packing, LeavesProductsRight) {
  for (const GemmSpec& spec : {transposed(false, true), transposed(true, true, 1),
                               transposed(true, false, 3), transposed(false, false, 1)}) {
    GemmCase problem(spec);
    const auto found = packing(spec);
    ASSERT_TRUE(found);
    const ConfiguredGemm gemm =
        configured_gemm(split_k, {.tile = 2, .splits = 2, .pack_a = found->a, .pack_b = found->b});
    const Verdict verdict = verify(problem, [&](const GemmCall& call) {
      GemmCallOnGpu on_gpu(gpu(), gemm, call, 1);
      on_gpu.enqueue(2);
      on_gpu.wait();
      on_gpu.download();
    });
    EXPECT_TRUE(verdict.right) << verdict.message;
  }
}

}  // namespace
}  // namespace rung::cuda
