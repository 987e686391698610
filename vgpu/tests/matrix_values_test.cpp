// mma.sync on single values: formats, infinities, rounding, saturation.

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>

#include "vgpu/tests/matrix_fixture.hpp"
#include "vgpu/tests/mma_fragments.hpp"

namespace rung::vgpu::matrix_tests {
namespace {

/// D as bits, for a 16 x 8 x k product with every element of A `a`, of B `b` and of C `c`: all
/// elements of D are equal.
std::uint64_t uniform(const std::string& mnemonic, std::uint64_t a, std::uint64_t b,
                      std::uint64_t c) {
  const MatrixForm form = *matrix_form(instruction(mnemonic));
  const RowsOf rows(form);
  TestWarp warp(rows.count);
  for (int row = 0; row < rows.count; ++row) {
    const std::uint64_t bits = row < rows.b ? a : row < rows.c ? b : c;
    for (int lane = 0; lane < warp_size; ++lane) {
      if (form.a == Element::f64) {
        warp.lane<std::uint64_t>(row, lane) = bits;
      } else {
        warp.lane<std::uint32_t>(row, lane) = static_cast<std::uint32_t>(bits);
      }
    }
  }
  warp.run(*matrix(instruction(mnemonic)), count_up(rows.count));
  std::set<std::uint64_t> results;
  for (int row = 0; row < form.sum_registers(form.d); ++row) {
    for (int lane = 0; lane < warp_size; ++lane) results.insert(warp.bits(form.d, row, lane));
  }
  EXPECT_EQ(results.size(), 1u);
  return *results.begin();
}

std::uint32_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }

TEST(MatrixValues, OneByOneAsTheirFormatsDefine) {
  // m16n8k8 sums eight equal products, exactly. B is one.
  const std::string f16 = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32";
  const std::string fp8 = "mma.sync.aligned.m16n8k16.row.col.f32.";
  const auto value = [](std::uint64_t result) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(result));
  };
  for (std::uint32_t code = 0; code < 0x10000; code += 37) {
    if ((code & 0x7C00) == 0x7C00) continue;
    EXPECT_EQ(value(uniform(f16, code * 0x10001u, 0x3C003C00u, 0)), 8 * decode(Element::f16, code));
  }
  for (std::uint32_t code = 0; code < 0x100; ++code) {
    if ((code & 0x7F) != 0x7F) {
      EXPECT_EQ(value(uniform(fp8 + "e4m3.e4m3.f32", code * 0x01010101u, 0x38383838u, 0)),
                16 * decode(Element::e4m3, code));
    }
    if ((code & 0x7C) != 0x7C) {
      EXPECT_EQ(value(uniform(fp8 + "e5m2.e5m2.f32", code * 0x01010101u, 0x3C3C3C3Cu, 0)),
                16 * decode(Element::e5m2, code));
    }
  }
}

TEST(MatrixValues, InfinityAndNaN) {
  const std::string f16 = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32";
  const std::string small = "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16";
  const std::string fp8 = "mma.sync.aligned.m16n8k32.row.col.f32.";
  const std::uint64_t infinity = bits(std::numeric_limits<float>::infinity());
  constexpr std::uint64_t nan = 0x7FFFFFFF;
  EXPECT_EQ(uniform(f16, 0x7C007C00, 0x3C003C00, 0), infinity);
  EXPECT_EQ(uniform(f16, 0x7C007C00, 0, 0), nan);
  EXPECT_EQ(uniform(f16, 0xFE01FE01, 0x3C003C00, 0), nan);
  EXPECT_EQ(uniform(f16, 0, 0, 0xFFC01234), nan);
  EXPECT_EQ(uniform(small, 0xFE01FE01, 0x3C003C00, 0), 0x7FFF7FFFu);
  EXPECT_EQ(uniform(small, 0x7BFF7BFF, 0x3C003C00, 0), 0x7C007C00u);  // 8 * 65504 is too large
  EXPECT_EQ(uniform(fp8 + "e4m3.e4m3.f32", 0xFFFFFFFF, 0, 0), nan);
  EXPECT_EQ(uniform(fp8 + "e5m2.e5m2.f32", 0x7C7C7C7C, 0x3C3C3C3C, 0), infinity);
}

TEST(MatrixValues, Tf32IgnoresTheLowBits) {
  const std::string tf32 = "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32";
  EXPECT_EQ(uniform(tf32, bits(1.5f) | 0x1FFF, bits(2.0f) | 0x1FFF, 0), bits(12.0f));
  EXPECT_EQ(uniform(tf32, bits(1.5f) | 0x2000, bits(2.0f), 0), bits(4 * (3.0f + 0x1p-9f)));
}

TEST(MatrixValues, HalfSumsAreRoundedOnce) {
  // 2048 + 8 * 0.25: each single addition would be lost in f16.
  const std::string f16 = "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16";
  EXPECT_EQ(uniform(f16, 0x34003400, 0x3C003C00, 0x68006800), 0x68016801u);
}

TEST(MatrixValues, IntegersWrapAroundOrStop) {
  const std::string plain = "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32";
  const std::string stopping = "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32";
  EXPECT_EQ(uniform(plain, 0x7F7F7F7F, 0x7F7F7F7F, 0x7FFFFFFF), 0x7FFFFFFFu + 16 * 127 * 127);
  EXPECT_EQ(uniform(stopping, 0x7F7F7F7F, 0x7F7F7F7F, 0x7FFFFFFF), 0x7FFFFFFFu);
  EXPECT_EQ(uniform(stopping, 0x80808080, 0x7F7F7F7F, 0x80000000), 0x80000000u);
  EXPECT_EQ(uniform(stopping, 0x80808080, 0x80808080, 0x80000000), 0x80000000u + 16 * 16384);
}

TEST(MatrixValues, DoublesAreFusedAndRoundedAsWritten) {
  const double a = 1.1, b = 0.3, c = 7.7;
  const struct {
    const char* name;
    int mode;
  } modes[] = {{"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}};
  for (const auto& mode : modes) {
    volatile double expected = c;
    std::fesetround(mode.mode);
    for (int k = 0; k < 8; ++k) expected = std::fma(a, b, expected);
    std::fesetround(FE_TONEAREST);
    const std::string mnemonic =
        std::string("mma.sync.aligned.m16n8k8.row.col.") + mode.name + ".f64.f64.f64.f64";
    EXPECT_EQ(uniform(mnemonic, std::bit_cast<std::uint64_t>(a), std::bit_cast<std::uint64_t>(b),
                      std::bit_cast<std::uint64_t>(c)),
              std::bit_cast<std::uint64_t>(static_cast<double>(expected)))
        << mode.name;
  }
}

TEST(MatrixValues, SumsInSinglePrecisionStayWithinTheBound) {
  // Inputs with many magnitudes: each of 16 steps may round by half a unit of the sum so far.
  const std::string mnemonic = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
  const MatrixForm form = *matrix_form(instruction(mnemonic));
  const RowsOf rows(form);
  std::mt19937 random(9);
  TestWarp warp(rows.count);
  Matrix a(form.m, form.k), b(form.k, form.n), c(form.m, form.n);
  const auto wide = [&](std::uint32_t low_bits) {
    const std::uint32_t word = static_cast<std::uint32_t>(random()) & 0x87FFFFFFu & ~low_bits;
    return static_cast<double>(std::bit_cast<float>(word | 0x38000000u));
  };
  for (double& value : a.values) value = wide(0xFFFF);
  for (double& value : b.values) value = wide(0xFFFF);
  for (double& value : c.values) value = wide(0);
  put_fragment(warp, form, form.a, rows.a, form.a_registers(), place_in_a, a);
  put_fragment(warp, form, form.b, rows.b, form.b_registers(), place_in_b, b);
  put_fragment(warp, form, form.c, rows.c, form.sum_registers(form.c), place_in_c, c);
  warp.run(*matrix(instruction(mnemonic)), count_up(rows.count));
  const auto magnitudes = [](Matrix matrix_of) {
    for (double& value : matrix_of.values) value = std::abs(value);
    return matrix_of;
  };
  Matrix d = multiply_add(a, b, c);
  Matrix bound = multiply_add(magnitudes(a), magnitudes(b), magnitudes(c));
  for (int lane = 0; lane < warp_size; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const MatrixPlace place = place_in_c(form, lane, i);
      const double error = std::abs(warp.lane<float>(rows.d + i, lane) - d.at(place));
      EXPECT_LE(error, 17 * 0x1p-24 * bound.at(place));
    }
  }
}

}  // namespace
}  // namespace rung::vgpu::matrix_tests
