// gemm/cpu/amx on a model of the AMX instructions: tests its packing, loops and edges on
// CPUs without AMX.

#include <gtest/gtest.h>

#include "core/dtype.hpp"
#include "core/standard_cases.hpp"
#include "core/verify.hpp"
#include "device/cpu/amx.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/rung.hpp"
#include "device/cpu/tile_model.hpp"

namespace rung {

extern const cpu::GemmRung gemm_cpu_amx_on_model;

namespace {

class OnTileModel : public testing::TestWithParam<Dtype> {
 protected:
  static void expect_right(const GemmSpec& spec, int threads) {
    GemmCase problem(spec);
    const Verdict verdict = verify(problem, [&](const GemmCall& call) {
      visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
        if constexpr (cpu::has_gemm<In, Out>) {
          gemm_cpu_amx_on_model.function<In, Out>()(call.typed<In, Out>(), threads);
        }
      });
    });
    EXPECT_TRUE(verdict.right) << verdict.message << " on " << threads << " threads";
  }
};

TEST_P(OnTileModel, IsRight) {
  for (const GemmSpec& spec : standard_gemm_cases(GetParam(), Effort::full)) {
    for (const int threads : {1, 3}) expect_right(spec, threads);
  }
}

// Several blocks of k, of packed A and B, and of C, whole and partial.
TEST_P(OnTileModel, IsRightBeyondOneBlock) {
  for (const bool transposed : {false, true}) {
    expect_right({.dtype = GetParam(),
                  .m = 37,
                  .n = 70,
                  .k = 2101,
                  .a_transposed = transposed,
                  .b_transposed = transposed,
                  .beta = 1},
                 2);
  }
  expect_right({.dtype = GetParam(), .m = 64, .n = 64, .k = 600, .beta = 1}, 1);
}

INSTANTIATE_TEST_SUITE_P(Rungs, OnTileModel, testing::Values(Dtype::bf16, Dtype::i8),
                         [](const auto& param) { return std::string(identifier(param.param)); });

TEST(TileModel, NeedsAConfiguration) {
  _tile_release();
  EXPECT_THROW(_tile_zero(0), std::logic_error);
}

TEST(TileModel, MultipliesGroups) {
  const auto* const kernels = cpu::tile_kernels<std::int8_t, std::uint32_t>();
  ASSERT_NE(kernels, nullptr);
  alignas(64) cpu::KGroup a[cpu::pair_size] = {}, b[cpu::pair_size] = {};
  a[17 * cpu::tile_groups + 3] = 0x04FD0201;                // row 17, k = 12 … 15: 1, 2, -3, 4
  b[cpu::tile_size + 3 * cpu::tile_rows + 5] = 0x80030201;  // column 21: 1, 2, 3, -128
  std::uint32_t c[32 * 32] = {};
  c[17 * 32 + 21] = 1000;
  cpu::TileProduct<std::int8_t, std::uint32_t> product = {};
  product.k = 64;
  product.rows = product.cols = 32;
  product.a = a;
  product.a_row = 64;
  product.a_tile = 2048;
  product.a_below = 1024;
  product.panel = b;
  product.c = c;
  product.ldc = 32;
  product.keep_sums_in_c();
  kernels->begin(32);
  kernels->product(cpu::Panel::ready, 32, 32)(product);
  kernels->end();
  EXPECT_EQ(c[17 * 32 + 21], 1000u + 1 + 4 - 9 - 512);
  c[17 * 32 + 21] = 0;
  for (const std::uint32_t element : c) EXPECT_EQ(element, 0u);
}

}  // namespace
}  // namespace rung
