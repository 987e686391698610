// mma.sync of every shape and type against a plain triple loop; movmatrix; and forms that do not
// exist.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "vgpu/tests/matrix_fixture.hpp"
#include "vgpu/tests/mma_fragments.hpp"

namespace rung::vgpu::matrix_tests {
namespace {

class Mma : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto found = matrix_form(instruction(GetParam()));
    ASSERT_TRUE(found);
    form = *found;
    spec = *matrix(instruction(GetParam()));
  }

  void fill(TestWarp& warp, const RowsOf& rows, Matrix& a, Matrix& b, Matrix& c) const {
    put_fragment(warp, form, form.a, rows.a, form.a_registers(), place_in_a, a);
    put_fragment(warp, form, form.b, rows.b, form.b_registers(), place_in_b, b);
    put_fragment(warp, form, form.c, rows.c, form.sum_registers(form.c), place_in_c, c);
  }

  void expect(TestWarp& warp, const RowsOf& rows, Matrix& d) const {
    for (int lane = 0; lane < warp_size; ++lane) {
      const int packed = per_register(form.d);
      for (int i = 0; i < form.sum_registers(form.d) * packed; ++i) {
        const MatrixPlace place = place_in_c(form, lane, i);
        ASSERT_EQ(take(warp, form.d, rows.d + i / packed, lane, i % packed), d.at(place))
            << "row " << place.row << ", column " << place.column;
      }
    }
  }

  MatrixForm form{};
  OpSpec spec;
};

TEST_P(Mma, IsTheProduct) {
  std::mt19937 random(7);
  for (int round = 0; round < 3; ++round) {
    const RowsOf rows(form);
    TestWarp warp(rows.count);
    Matrix a = random_matrix(form.m, form.k, form.a, random);
    Matrix b = random_matrix(form.k, form.n, form.b, random);
    Matrix c = random_matrix(form.m, form.n, form.c, random);
    fill(warp, rows, a, b, c);
    warp.run(spec, count_up(rows.count));
    Matrix d = multiply_add(a, b, c);
    expect(warp, rows, d);
  }
}

TEST_P(Mma, MayOverwriteItsOperands) {
  std::mt19937 random(8);
  const RowsOf rows(form);
  for (const int over : {rows.a, rows.b, rows.c}) {
    TestWarp warp(rows.count + 8);
    Matrix a = random_matrix(form.m, form.k, form.a, random);
    Matrix b = random_matrix(form.k, form.n, form.b, random);
    Matrix c = random_matrix(form.m, form.n, form.c, random);
    fill(warp, rows, a, b, c);
    std::vector<int> operands = count_up(rows.count);
    for (int i = 0; i < form.sum_registers(form.d); ++i) {
      operands[static_cast<std::size_t>(i)] = over + i;
    }
    warp.run(spec, operands);
    Matrix d = multiply_add(a, b, c);
    RowsOf moved = rows;
    moved.d = over;
    expect(warp, moved, d);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, Mma,
    testing::Values("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
                    "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16",
                    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
                    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
                    "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32",
                    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
                    "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32",
                    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
                    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
                    "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64",
                    "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64",
                    "mma.sync.aligned.m16n8k16.row.col.rn.f64.f64.f64.f64",
                    "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32",
                    "mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32",
                    "mma.sync.aligned.m16n8k16.row.col.s32.s8.u8.s32",
                    "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32",
                    "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32",
                    "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32",
                    "mma.sync.aligned.m8n8k32.row.col.s32.s4.u4.s32",
                    "mma.sync.aligned.m16n8k32.row.col.s32.u4.s4.s32",
                    "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32",
                    "mma.sync.aligned.m16n8k64.row.col.s32.u4.u4.s32",
                    "mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e5m2.f32",
                    "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32",
                    "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32",
                    "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32",
                    "mma.sync.aligned.m16n8k32.row.col.f16.e4m3.e4m3.f16"),
    [](const auto& parameter) {
      std::string name = parameter.param;
      std::replace(name.begin(), name.end(), '.', '_');
      return name;
    });

TEST(Movmatrix, TransposesInPlaceToo) {
  const auto spec = matrix(instruction("movmatrix.sync.aligned.m8n8.trans.b16"));
  ASSERT_TRUE(spec);
  for (const int destination : {0, 1}) {
    TestWarp warp(2);
    for (int lane = 0; lane < warp_size; ++lane) {
      const int row = lane / 4, column = lane % 4 * 2;
      warp.lane<std::uint32_t>(1, lane) =
          static_cast<std::uint32_t>((row * 100 + column) | (row * 100 + column + 1) << 16);
    }
    warp.run(*spec, {destination, 1});
    for (int lane = 0; lane < warp_size; ++lane) {
      const int row = lane / 4, column = lane % 4 * 2;
      EXPECT_EQ(
          warp.lane<std::uint32_t>(destination, lane),
          static_cast<std::uint32_t>((column * 100 + row) | ((column + 1) * 100 + row) << 16));
    }
  }
}

TEST(Matrix, RefusesFormsThatThereAreNot) {
  for (const char* mnemonic :
       {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32",      // Volta only
        "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32",    // B must be column-major
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16",    // C and D differ
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32",   // A and B differ
        "mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16",  // not a type of sum
        "mma.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32",  // not a shape of tf32
        "mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k16.row.col.rz.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32",
        "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
        "mma.aligned.m16n8k16.row.col.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc",
        "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32",
        "wmma.mma.sync.aligned.row.col.m16n8k16.f32.f32",
        "wmma.load.a.sync.aligned.row.m16n16k16.f16", "movmatrix.sync.aligned.m8n8.b16", "wmma",
        "mma", "add.f32"}) {
    EXPECT_FALSE(matrix(instruction(mnemonic))) << mnemonic;
  }
  for (const char* mnemonic :
       {"wmma.load.a.sync.aligned.row.m16n16k16.tf32", "wmma.load.c.sync.aligned.row.m16n16k8.s32",
        "wmma.store.a.sync.aligned.row.m16n16k16.f16", "wmma.load", "wmma.load.a.sync.aligned.row",
        "ld.global.f32"}) {
    EXPECT_FALSE(wmma_layout(instruction(mnemonic))) << mnemonic;
  }
}

TEST(Matrix, TellsTheTypesOfItsOperands) {
  const auto spec = matrix(instruction("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"));
  ASSERT_TRUE(spec);
  using enum ptx::Type;
  const std::vector<ptx::Type> expected = {f32, f32, f32, f32, b32, b32, b32,
                                           b32, b32, b32, f32, f32, f32, f32};
  EXPECT_EQ(spec->operands, expected);
  EXPECT_EQ(spec->destinations, 4);
}

}  // namespace
}  // namespace rung::vgpu::matrix_tests
