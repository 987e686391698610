// wmma.mma against a plain triple loop, and the layout of its fragments.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "vgpu/tests/matrix_fixture.hpp"

namespace rung::vgpu::matrix_tests {
namespace {

class Wmma : public testing::TestWithParam<const char*> {};

/// The layout in which an operand of a multiplication is loaded or stored.
WmmaLayout layout_of(const MatrixForm& form, const char* which, Element type) {
  constexpr const char* names[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8",
                                   "u8",  "s4",   "u4",   "f32",  "s32",  "f64"};
  const auto number = [](int value) { return std::to_string(value); };
  const std::string shape = "m" + number(form.m) + "n" + number(form.n) + "k" + number(form.k);
  const auto layout = wmma_layout(instruction(std::string("wmma.") + which + ".sync.aligned.row." +
                                              shape + ".shared." + names[static_cast<int>(type)]));
  EXPECT_TRUE(layout) << which << " " << shape;
  return layout.value_or(WmmaLayout{});
}

template <class Visit>
void for_each_element(const WmmaLayout& layout, Visit visit) {
  for (int lane = 0; lane < warp_size; ++lane) {
    for (int reg = 0; reg < layout.registers; ++reg) {
      for (int i = 0; i < layout.per_register; ++i) visit(lane, reg, i, layout.place(lane, reg, i));
    }
  }
}

void put_layout(TestWarp& warp, int row, const WmmaLayout& layout, Matrix& matrix) {
  for_each_element(layout, [&](int lane, int reg, int i, const MatrixPlace& place) {
    put(warp, layout.element, row + reg, lane, i, matrix.at(place));
  });
}

TEST_P(Wmma, IsTheProduct) {
  const auto found = matrix_form(instruction(GetParam()));
  ASSERT_TRUE(found);
  const MatrixForm form = *found;
  const RowsOf rows(form);
  std::mt19937 random(10);
  TestWarp warp(rows.count);
  Matrix a = random_matrix(form.m, form.k, form.a, random);
  Matrix b = random_matrix(form.k, form.n, form.b, random);
  Matrix c = random_matrix(form.m, form.n, form.c, random);
  put_layout(warp, rows.a, layout_of(form, "load.a", form.a), a);
  put_layout(warp, rows.b, layout_of(form, "load.b", form.b), b);
  put_layout(warp, rows.c, layout_of(form, "load.c", form.c), c);
  warp.run(*matrix(instruction(GetParam())), count_up(rows.count));
  Matrix d = multiply_add(a, b, c);
  for_each_element(layout_of(form, "store.d", form.d),
                   [&](int lane, int reg, int i, const MatrixPlace& place) {
                     EXPECT_EQ(take(warp, form.d, rows.d + reg, lane, i), d.at(place));
                   });
}

TEST_P(Wmma, FragmentsHoldEveryElementEquallyOften) {
  const MatrixForm form = *matrix_form(instruction(GetParam()));
  for (const WmmaLayout& layout :
       {layout_of(form, "load.a", form.a), layout_of(form, "load.b", form.b),
        layout_of(form, "load.c", form.c), layout_of(form, "store.d", form.d)}) {
    std::map<std::pair<int, int>, int> held;
    for_each_element(layout, [&](int, int, int, const MatrixPlace& place) {
      ++held[{place.row, place.column}];
    });
    ASSERT_EQ(held.size(), static_cast<std::size_t>(layout.rows * layout.columns));
    EXPECT_EQ(held.begin()->first, std::pair(0, 0));
    EXPECT_EQ(held.rbegin()->first, std::pair(layout.rows - 1, layout.columns - 1));
    for (const auto& [place, count] : held) EXPECT_EQ(count, held.begin()->second);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, Wmma,
    testing::Values("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32",
                    "wmma.mma.sync.aligned.row.row.m16n16k16.f16.f16",
                    "wmma.mma.sync.aligned.col.row.m16n16k16.f32.f16",
                    "wmma.mma.sync.aligned.col.col.m32n8k16.f16.f32",
                    "wmma.mma.sync.aligned.row.col.m8n32k16.f32.f32",
                    "wmma.mma.sync.aligned.row.col.m8n32k16.f16.f16",
                    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32",
                    "wmma.mma.sync.aligned.row.col.m32n8k16.f32.bf16.bf16.f32",
                    "wmma.mma.sync.aligned.row.col.m8n32k16.f32.bf16.bf16.f32",
                    "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32",
                    "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32",
                    "wmma.mma.sync.aligned.row.col.m32n8k16.s32.u8.u8.s32.satfinite",
                    "wmma.mma.sync.aligned.row.col.m8n32k16.s32.s8.s8.s32",
                    "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32",
                    "wmma.mma.sync.aligned.row.col.m8n8k4.rn.f64.f64.f64.f64"),
    [](const auto& parameter) {
      std::string name = parameter.param;
      std::replace(name.begin(), name.end(), '.', '_');
      return name;
    });

TEST(WmmaRegisters, AreAsManyAsTheManualSays) {
  const struct {
    const char* mnemonic;
    int registers;
  } cases[] = {{"wmma.load.a.sync.aligned.row.m16n16k16.f16", 8},
               {"wmma.load.b.sync.aligned.col.m8n32k16.global.f16", 8},
               {"wmma.load.a.sync.aligned.row.m32n8k16.f16", 8},
               {"wmma.load.c.sync.aligned.row.m16n16k16.f16", 4},
               {"wmma.load.c.sync.aligned.row.m16n16k16.f32", 8},
               {"wmma.store.d.sync.aligned.row.m8n32k16.shared.f32", 8},
               {"wmma.load.a.sync.aligned.row.m16n16k16.bf16", 4},
               {"wmma.load.a.sync.aligned.row.m8n32k16.bf16", 2},
               {"wmma.load.b.sync.aligned.row.m8n32k16.bf16", 8},
               {"wmma.load.a.sync.aligned.row.m16n16k8.tf32", 4},
               {"wmma.load.b.sync.aligned.row.m16n16k8.tf32", 4},
               {"wmma.load.a.sync.aligned.row.m16n16k16.s8", 2},
               {"wmma.load.a.sync.aligned.row.m8n32k16.u8", 1},
               {"wmma.load.b.sync.aligned.row.m8n32k16.u8", 4},
               {"wmma.load.c.sync.aligned.row.m32n8k16.s32", 8},
               {"wmma.load.a.sync.aligned.row.m8n8k4.f64", 1},
               {"wmma.load.c.sync.aligned.row.m8n8k4.f64", 2},
               {"wmma.load.a.sync.aligned.row.m8n8k32.s4", 1},
               {"wmma.load.c.sync.aligned.row.m8n8k32.s32", 2}};
  for (const auto& expected : cases) {
    const auto layout = wmma_layout(instruction(expected.mnemonic));
    ASSERT_TRUE(layout) << expected.mnemonic;
    EXPECT_EQ(layout->registers, expected.registers) << expected.mnemonic;
  }
}

}  // namespace
}  // namespace rung::vgpu::matrix_tests
