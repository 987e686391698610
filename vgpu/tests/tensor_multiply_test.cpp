// tcgen05.mma: products of every kind against plain sums, with the layouts that the PTX ISA states (9.7.16).

#include <cstdint>
#include <string>

#include "vgpu/engine/tensor_memory/zero_columns.hpp"
#include "vgpu/tests/tensor_fixture.hpp"

namespace rung::vgpu::tensor_tests {
namespace {

TEST_F(TensorMemoryTest, MultipliesEveryDenseKind) {
  check({"f16", f16, f16});
  check({"f16", bf16, bf16, 128, 256});
  check({.kind = "f16", .a = f16, .b = f16, .n = 16, .d_code = 0});
  check({"tf32", tf32, tf32, 128, 64, 8});
  check({.kind = "i8", .a = s8, .b = u8, .n = 32, .k = 32, .d_code = 2});
  check({.kind = "i8", .a = u8, .b = s8, .m = 64, .n = 24, .k = 32, .d_code = 2});
  for (const Type& type : {e4m3, e5m2, e2m3, e3m2, e2m1})
    check({"f8f6f4", type, e4m3, 128, 32, 32});
  for (const Type& type : {e5m2, e2m3, e3m2, e2m1}) check({"f8f6f4", e4m3, type, 64, 40, 32});
}

TEST_F(TensorMemoryTest, MultipliesEveryLayout) {
  for (const int span : {0, 32, 64, 128}) {
    for (const int m : {64, 128}) {
      for (int transposed = 0; transposed < 4; ++transposed) {
        const bool a_t = (transposed & 1) != 0, b_t = (transposed & 2) != 0;
        check({"f16", bf16, bf16, m, 64, 16, span, a_t, b_t});
        check({"f8f6f4", e5m2, e4m3, m, 128, 32, span, a_t, b_t});
      }
    }
  }
}

TEST_F(TensorMemoryTest, TransposedTf32HasAtomsOf32Bytes) {
  // 9.7.16.10.1 and .3; four steps of k are one atom (9.7.16.10.6, Table "Layout for swizzle atoms").
  check({"tf32", tf32, tf32, 128, 64, 8, 128, true, false});
  check({"tf32", tf32, tf32, 64, 32, 8, 128, false, true});
  check({"tf32", tf32, tf32, 128, 64, 8, 128, true, true});
  Steps steps;
  steps.a_flip = std::uint64_t{3} << 61;  // swizzle mode 2
  expect_hazard(HazardKind::descriptor, steps, {"tf32", tf32, tf32, 128, 64, 8, 128, true, false});
  // Mode 1 for bf16.
  expect_hazard(HazardKind::descriptor, steps, {"f16", bf16, bf16, 128, 64, 16, 128, true, false});
}

TEST_F(TensorMemoryTest, MultipliesAFromTensorMemory) {
  check({.kind = "f16", .a = f16, .b = f16, .a_in_tensor_memory = true});
  check({.kind = "tf32", .a = tf32, .b = tf32, .k = 8, .a_in_tensor_memory = true});
  check({.kind = "f8f6f4", .a = e4m3, .b = e5m2, .k = 32, .a_in_tensor_memory = true});
}

TEST_F(TensorMemoryTest, ShiftsRowsOfAInTensorMemory) {
  // .ashift: row i is the next one of A, but the last stays (9.7.16.10.9.1). The sums are compared with those of such an A.
  const MultiplyCase each{
      .kind = "f16", .a = f16, .b = f16, .a_in_tensor_memory = true, .shifts_a = true};
  check(each);
  found(run_case({.kind = "f16",
                  .a = f16,
                  .b = f16,
                  .m = 64,
                  .a_in_tensor_memory = true,
                  .shifts_a = true}),
        HazardKind::descriptor);
}

/// A zero-column mask descriptor with spans of three zero columns and four used ones.
std::uint64_t zero_mask(std::uint64_t start_counts, std::uint64_t first_spans,
                        std::uint64_t shift) {
  return start_counts | first_spans << 32 | std::uint64_t{1} << 39 | std::uint64_t{2} << 40 |
         std::uint64_t{3} << 48 | shift << 56;
}

// The examples of the PTX ISA, 9.7.16.4.3.
TEST(ZeroColumnsTest, FollowTheExamples) {
  const auto mask = [](std::uint64_t bits, int m, int first) {
    std::string text;
    for (int i = 0; i < 14; ++i)
      text += zero_columns(bits, m, 128).is_zero[static_cast<std::size_t>(first + i)] ? '1' : '0';
    return text;
  };
  EXPECT_EQ(mask(std::uint64_t{4} << 40 | std::uint64_t{3} << 48, 128, 0), "00000000000000");
  EXPECT_EQ(mask(zero_mask(0, 0, 0), 128, 0), "00001110000111");
  EXPECT_EQ(mask(zero_mask(0, 1, 0), 64, 0), "11100001110000");
  EXPECT_EQ(mask(zero_mask(0, 1, 0), 64, 64), "00001110000111");
  const std::uint64_t fourth = zero_mask(0x01020100, 3, 2);
  EXPECT_EQ(mask(fourth, 32, 0), "11100001110000");
  EXPECT_EQ(mask(fourth, 32, 32), "11000011100001");
  EXPECT_EQ(mask(fourth, 32, 64), "00111000011100");
  EXPECT_EQ(mask(fourth, 32, 96), "00011100001110");
  EXPECT_EQ(zero_columns(fourth, 32, 128).shift, 2);
}

TEST_F(TensorMemoryTest, ColumnsOfBCountAsZeros) {
  for (const int m : {32, 64, 128}) {
    for (const bool transposed : {false, true}) {
      check({.kind = "f16",
             .a = f16,
             .b = f16,
             .m = m,
             .transpose_b = transposed,
             .weight_stationary = true,
             .zero_columns = zero_mask(0x01020100, 3, 5)});
    }
  }
}

TEST_F(TensorMemoryTest, MultipliesWithBlockScales) {
  for (const Type& type : {e4m3, e5m2, e2m3, e3m2, e2m1}) {
    check({.kind = "mxf8f6f4", .a = type, .b = e4m3, .n = 64, .k = 32, .scales = 1});
  }
  check({.kind = "mxf4", .a = packed_e2m1, .b = packed_e2m1, .n = 64, .k = 64, .scales = 2});
  check({.kind = "mxf4nvf4", .a = packed_e2m1, .b = packed_e2m1, .n = 128, .k = 64, .scales = 2});
  check({.kind = "mxf4nvf4", .a = packed_e2m1, .b = packed_e2m1, .n = 192, .k = 64, .scales = 4});
}

TEST_F(TensorMemoryTest, MultipliesK96) {
  // sm_103a (9.7.16.2.1), with 6 scales of 16 elements or 3 of 32, from every byte that the PTX ISA shows.
  const Type& packed = packed_e2m1;
  for (const int n : {64, 192}) {
    for (const int first : {0, 2}) {
      check({.kind = "mxf4nvf4",
             .a = packed,
             .b = packed,
             .n = n,
             .k = 96,
             .scales = 6,
             .first_scale = first});
    }
    for (const int first : {0, 1, 2, 3}) {
      check({.kind = "mxf4",
             .a = packed,
             .b = packed,
             .n = n,
             .k = 96,
             .scales = 3,
             .first_scale = first});
    }
  }
  // An absolute address needs the 128-byte swizzle (9.7.16.3.1.2.1).
  Steps steps;
  steps.b_flip = std::uint64_t{6} << 61;  // swizzle mode 4
  expect_hazard(HazardKind::descriptor, steps,
                {.kind = "mxf4", .a = packed, .b = packed, .k = 96, .scales = 3});
}

TEST_F(TensorMemoryTest, MultipliesSparseMatrices) {
  for (const int span : {0, 64, 128}) {
    check({.kind = "f16", .a = f16, .b = f16, .k = 32, .span = span, .sparse = true});
    check({.kind = "f8f6f4", .a = e4m3, .b = e5m2, .k = 64, .span = span, .sparse = true});
  }
  check({.kind = "f16", .a = bf16, .b = bf16, .k = 32, .sparse = true, .selector = 1});
  check({.kind = "f16", .a = f16, .b = f16, .k = 32, .transpose_b = true, .sparse = true});
  check({.kind = "f16", .a = f16, .b = f16, .k = 32, .a_in_tensor_memory = true, .sparse = true});
  check({.kind = "tf32", .a = tf32, .b = tf32, .k = 16, .sparse = true, .selector = 1});
  check({.kind = "i8", .a = s8, .b = u8, .k = 64, .d_code = 2, .sparse = true});
  check({.kind = "f8f6f4", .a = e2m1, .b = e3m2, .k = 64, .sparse = true});
  check({.kind = "mxf8f6f4", .a = e2m3, .b = e4m3, .k = 64, .scales = 1, .sparse = true});
  const Type& packed = packed_e2m1;
  check({.kind = "mxf4", .a = packed, .b = packed, .k = 128, .scales = 2, .sparse = true});
  check({.kind = "mxf4nvf4", .a = packed, .b = packed, .k = 128, .scales = 4, .sparse = true});
}

TEST_F(TensorMemoryTest, MultipliesSparseMatricesOf64Rows) {
  // Layout F (9.7.16.10.5.6), with metadata in the lanes of D's rows (9.7.16.10.8.5).
  check({.kind = "f16", .a = f16, .b = f16, .m = 64, .k = 32, .sparse = true});
  check({.kind = "f16",
         .a = bf16,
         .b = bf16,
         .m = 64,
         .k = 32,
         .a_in_tensor_memory = true,
         .sparse = true,
         .selector = 1});
  check({.kind = "tf32", .a = tf32, .b = tf32, .m = 64, .k = 16, .sparse = true});
  check({.kind = "i8", .a = s8, .b = u8, .m = 64, .k = 64, .d_code = 2, .sparse = true});
  const Type& packed = packed_e2m1;
  check({.kind = "f8f6f4", .a = e4m3, .b = e5m2, .m = 64, .k = 64, .sparse = true});
  check({.kind = "mxf4nvf4",
         .a = packed,
         .b = packed,
         .m = 128,
         .k = 128,
         .scales = 4,
         .sparse = true});
}

TEST_F(TensorMemoryTest, MultipliesSparseMatricesWeightStationary) {
  // .ws.sp (9.7.16.10.9.4), layouts D, E and G.
  for (const int m : {32, 64, 128}) {
    check({.kind = "f16",
           .a = f16,
           .b = f16,
           .m = m,
           .k = 32,
           .weight_stationary = true,
           .sparse = true});
    check({.kind = "tf32",
           .a = tf32,
           .b = tf32,
           .m = m,
           .n = 128,
           .k = 16,
           .weight_stationary = true,
           .sparse = true,
           .selector = 1});
    check({.kind = "f8f6f4",
           .a = e5m2,
           .b = e4m3,
           .m = m,
           .k = 64,
           .weight_stationary = true,
           .sparse = true});
  }
}

TEST_F(TensorMemoryTest, MultipliesWeightStationary) {
  for (const int m : {32, 64, 128}) {
    for (const int n : {64, 128, 256}) {
      check({.kind = "f16", .a = f16, .b = f16, .m = m, .n = n, .weight_stationary = true});
    }
  }
}

}  // namespace
}  // namespace rung::vgpu::tensor_tests
