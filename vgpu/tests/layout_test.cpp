// The layouts that vgpu/layout.hpp describes against what running the instructions does: a TMA
// load, mma.sync and wmma of every shape and type, ldmatrix and stmatrix. wgmma_test.cpp compares
// its descriptors and fragments.

#include "vgpu/layout.hpp"

#include <fmt/format.h>

#include <numeric>
#include <random>
#include <stdexcept>

#include "vgpu/tests/async_fixture.hpp"
#include "vgpu/tests/matrix_fixture.hpp"

namespace rung::vgpu {
namespace {

using matrix_tests::Matrix;
using matrix_tests::TestWarp;

class LayoutTest : public AsyncTest {
 protected:
  static constexpr std::uint32_t shared_bytes = 16384;

  /// Loads a matrix of numbered words with TMA to `start`, and returns the shared memory.
  std::vector<std::uint32_t> loaded(const TensorMap& box, std::uint32_t start) {
    const std::uint32_t pitch = bytes_of(box.element, box.box[0]);
    std::vector<std::uint32_t> matrix(pitch * box.box[1] / 4);
    std::iota(matrix.begin(), matrix.end(), 1u);
    const std::uint64_t at = map(array(matrix), box.element, box.box[0], box.box[1], pitch,
                                 box.box[0], box.box[1], box.swizzle);
    const std::uint64_t out = memory.allocate(shared_bytes);
    const std::string text =
        entry(".param .u64 map, .param .u64 out",
              fmt::format(".shared .align 1024 .b8 data[{}];\n.shared .align 8 .b8 bar[16];\n",
                          shared_bytes) +
                  registers() +
                  fmt::format(R"(
      ld.param.u64 %rd1, [map];
      ld.param.u64 %rd2, [out];
      mov.u32 %r1, %tid.x;
      setp.eq.u32 %p1, %r1, 0;
      mov.u32 %r2, data;
      shl.b32 %r5, %r1, 2;
      FILL: add.u32 %r6, %r2, %r5;
      st.shared.u32 [%r6], 0;
      add.u32 %r5, %r5, 128;
      setp.lt.u32 %p2, %r5, {0};
      @%p2 bra FILL;
      fence.proxy.async;
      @!%p1 bra STARTED;
      mbarrier.init.shared.b64 [bar], 1;
      fence.mbarrier_init.release.cluster;
      STARTED: bar.sync 0;
      add.u32 %r3, %r2, {1};
      mov.u32 %r20, 0;
      @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], {2};
      @%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r3], [%rd1, {{%r20, %r20}}], [bar];
      )",
                              shared_bytes, start, box.box_bytes()) +
                  wait_for("bar", "0", "0") +
                  fmt::format(R"(
      shl.b32 %r5, %r1, 2;
      COPY: add.u32 %r6, %r2, %r5;
      cvt.u64.u32 %rd3, %r5;
      add.u64 %rd4, %rd2, %rd3;
      ld.shared.u32 %r7, [%r6];
      st.global.u32 [%rd4], %r7;
      add.u32 %r5, %r5, 128;
      setp.lt.u32 %p2, %r5, {};
      @%p2 bra COPY;
      ret;)",
                              shared_bytes));
    expect_none(run(text, {1, 1, 1}, {32, 1, 1}, {at, out}));
    return values<std::uint32_t>(out, shared_bytes / 4);
  }

  void check_box(TensorElement element, std::uint16_t columns, std::uint16_t rows,
                 TensorSwizzle swizzle, std::uint32_t start) {
    SCOPED_TRACE(fmt::format("{} bytes, {} x {}, swizzle {}, at {}", bytes_of(element, 1), columns,
                             rows, span_of(swizzle), start));
    TensorMap box;
    box.element = element;
    box.dimensions = 2;
    box.swizzle = swizzle;
    box.box = {columns, rows};
    box.steps = {1, 1};
    const std::uint32_t pitch = bytes_of(element, columns);
    std::vector<std::uint32_t> expected(shared_bytes / 4, 0);
    for (const auto& chunk : layout::box_chunks(box, start)) {
      const auto column = static_cast<std::uint32_t>(chunk.at[0]);
      const auto row = static_cast<std::uint32_t>(chunk.at[1]);
      for (std::uint32_t byte = 0; byte < chunk.bytes; byte += 4) {
        expected.at((chunk.address + byte) / 4) =
            1 + (row * pitch + bytes_of(element, column) + byte) / 4;
      }
    }
    EXPECT_EQ(loaded(box, start), expected);
  }
};

TEST_F(LayoutTest, ABoxIsWhereTmaLoadsIt) {
  using enum TensorElement;
  using enum TensorSwizzle;
  check_box(bf16, 64, 64, bytes_128, 0);
  check_box(bf16, 64, 9, bytes_128, 384);  // the pattern follows the address, not the box
  check_box(f16, 32, 40, bytes_64, 128);
  check_box(u8, 32, 24, bytes_32, 0);
  check_box(f32, 4, 11, bytes_128, 0);  // rows narrower than the span
  check_box(f64, 24, 12, none, 256);
  check_box(u8, 16, 33, none, 0);
}

/// Fills the fragment of an operand from a matrix.
void fill(TestWarp& warp, int row, MatrixElement type, const layout::Fragment& fragment,
          Matrix& matrix) {
  for (const auto& slot : fragment.slots) {
    matrix_tests::put(warp, type, row + slot.reg, slot.thread, slot.index,
                      matrix.at({slot.row, slot.column}));
  }
}

/// Runs a product with the fragments as the explorer describes them.
void check_product(const std::string& mnemonic) {
  SCOPED_TRACE(mnemonic);
  const auto form = matrix_form(matrix_tests::instruction(mnemonic));
  const auto spec = matrix(matrix_tests::instruction(mnemonic));
  ASSERT_TRUE(form && spec);
  const std::string kind = mnemonic.starts_with("wmma") ? "wmma" : "mma";
  const std::string shape = fmt::format("m{}n{}k{}", form->m, form->n, form->k);
  const auto fragment = [&](char operand) {
    return layout::fragment(kind, shape, form->a, form->d, operand);
  };
  std::mt19937 random(11);
  const matrix_tests::RowsOf rows(*form);
  TestWarp warp(rows.count);
  Matrix a = matrix_tests::random_matrix(form->m, form->k, form->a, random);
  Matrix b = matrix_tests::random_matrix(form->k, form->n, form->b, random);
  Matrix c = matrix_tests::random_matrix(form->m, form->n, form->c, random);
  fill(warp, rows.a, form->a, fragment('A'), a);
  fill(warp, rows.b, form->b, fragment('B'), b);
  fill(warp, rows.c, form->c, fragment('C'), c);
  warp.run(*spec, matrix_tests::count_up(rows.count));
  Matrix d = matrix_tests::multiply_add(a, b, c);
  int wrong = 0;
  const layout::Fragment in_d = fragment('D');
  ASSERT_GE(in_d.slots.size(), static_cast<std::size_t>(form->m * form->n));
  for (const auto& slot : in_d.slots) {
    wrong += matrix_tests::take(warp, form->d, rows.d + slot.reg, slot.thread, slot.index) ==
                     d.at({slot.row, slot.column})
                 ? 0
                 : 1;
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(LayoutTest, FragmentsOfEveryShapeAndType) {
  using enum MatrixElement;
  int products = 0;
  for (const MatrixElement type : {f16, bf16, tf32, e4m3, e5m2, s8, u8, s4, u4, f64}) {
    for (const MatrixElement sum : {f16, f32, s32, f64}) {
      for (const char* shape :
           {"m8n8k4", "m8n8k16", "m8n8k32", "m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32",
            "m16n8k64", "m16n16k8", "m16n16k16", "m32n8k16", "m8n32k16"}) {
        const auto t = layout::name(type), s = layout::name(sum);
        for (const std::string& mnemonic :
             {fmt::format("mma.sync.aligned.{0}.row.col.{1}.{2}.{2}.{1}", shape, s, t),
              type == f16 ? fmt::format("wmma.mma.sync.aligned.row.col.{0}.{1}.{1}", shape, s)
                          : fmt::format("wmma.mma.sync.aligned.row.col.{0}.{1}.{2}.{2}.{1}", shape,
                                        s, t)}) {
          if (!matrix_form(matrix_tests::instruction(mnemonic))) continue;
          check_product(mnemonic);
          ++products;
        }
      }
    }
  }
  EXPECT_GT(products, 40);
}

TEST_F(LayoutTest, ApplesMatrices) {
  for (const MatrixElement type : {MatrixElement::f32, MatrixElement::f16, MatrixElement::bf16}) {
    const auto spec = matrix(matrix_tests::instruction(
        fmt::format("mma.simdgroup.f32.{0}.{0}.f32", layout::name(type))));
    ASSERT_TRUE(spec);
    const auto factors = layout::fragment("simdgroup", "", type, MatrixElement::f32, 'A');
    const auto sums =
        layout::fragment("simdgroup", "", MatrixElement::f32, MatrixElement::f32, 'D');
    std::mt19937 random(3);
    TestWarp warp(4 + 2 * factors.registers);
    Matrix a = matrix_tests::random_matrix(8, 8, type, random);
    Matrix b = matrix_tests::random_matrix(8, 8, type, random);
    Matrix c = matrix_tests::random_matrix(8, 8, MatrixElement::f32, random);
    fill(warp, 2, type, factors, a);
    fill(warp, 2 + factors.registers, type, factors, b);
    fill(warp, 2 + 2 * factors.registers, MatrixElement::f32, sums, c);
    warp.run(*spec, matrix_tests::count_up(4 + 2 * factors.registers));
    Matrix d = matrix_tests::multiply_add(a, b, c);
    for (const auto& slot : sums.slots) {
      ASSERT_EQ(matrix_tests::take(warp, MatrixElement::f32, slot.reg, slot.thread, 0),
                d.at({slot.row, slot.column}));
    }
  }
}

/// Rows of 16 bytes `pitch` apart: lanes 0 to 15, then the next 16 bytes.
std::array<std::uint32_t, 32> rows_apart(std::uint32_t pitch, TensorSwizzle swizzle) {
  std::array<std::uint32_t, 32> address{};
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    address[lane] = swizzled(lane % 16 * pitch + lane / 16 * 16, swizzle);
  }
  return address;
}

// PTX ISA, 9.7.14.5.15: thread l has elements 2 (l % 4) and the next of row l / 4, or of column
// l / 4 with .trans.
TEST_F(LayoutTest, LoadsAndStoresOf8x8Matrices) {
  for (const bool stores : {false, true}) {
    for (const int count : {1, 2, 4}) {
      for (const bool transposed : {false, true}) {
        const auto address = rows_apart(80, TensorSwizzle::none);
        const auto copy = layout::matrix_copy(stores, count, transposed, address);
        ASSERT_EQ(copy.address.size(), static_cast<std::size_t>(64 * count));
        for (std::uint32_t i = 0; i < copy.address.size(); ++i) {
          const std::uint32_t lane = i / (2 * static_cast<std::uint32_t>(count));
          const std::uint32_t matrix = i / 2 % static_cast<std::uint32_t>(count);
          const std::uint32_t along = lane % 4 * 2 + i % 2, across = lane / 4;
          const std::uint32_t row = transposed ? along : across;
          const std::uint32_t column = transposed ? across : along;
          ASSERT_EQ(copy.address[i], address[8 * matrix + row] + 2 * column)
              << "lane " << lane << ", x" << count << (stores ? ", stores" : "");
        }
      }
    }
  }
}

TEST_F(LayoutTest, ASwizzleAvoidsBankConflicts) {
  const auto plain = rows_apart(128, TensorSwizzle::none);
  const auto swizzled = rows_apart(128, TensorSwizzle::bytes_128);
  EXPECT_EQ(layout::matrix_copy(false, 4, false, plain).wavefronts, 32);
  EXPECT_EQ(layout::matrix_copy(false, 4, true, swizzled).wavefronts, 4);
  EXPECT_EQ(layout::matrix_copy(true, 4, false, swizzled).wavefronts, 4);
  std::array<std::uint64_t, 32> column{};
  for (std::uint64_t lane = 0; lane < 32; ++lane) column[lane] = 128 * lane;
  EXPECT_EQ(layout::wavefronts(column, 4, true), 32);
}

TEST_F(LayoutTest, UnknownFormsNameTheKnownOnes) {
  try {
    (void)layout::fragment("mma", "m16n8k32", MatrixElement::bf16, MatrixElement::f32, 'A');
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "'m16n8k32' is no shape of mma.sync with bf16 and sums of f32; it has m16n8k8, "
                 "m16n8k16");
  }
}

}  // namespace
}  // namespace rung::vgpu
