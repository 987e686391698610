// Compiles and runs language.metal.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "kernel_test.hpp"
#include "rung/types.hpp"

namespace rung::metal_tests {
namespace {

class MetalLanguage : public KernelTest<MetalLanguage> {
 public:
  static constexpr const char* file = "language.metal";
};

TEST_F(MetalLanguage, ThreadsKnowWhereTheyAre) {
  const auto out = array(std::vector<std::uint32_t>(3 * 16 * 2 * 6, 0));
  run("positions", {3, 2}, {16, 6}, {out});
  EXPECT_EQ(values<std::uint32_t>(out, 3 * 16 * 2 * 6),
            std::vector<std::uint32_t>(3 * 16 * 2 * 6, 1));
}

TEST_F(MetalLanguage, ThreadgroupMemoryIsDeclaredOrGivenBytheDispatch) {
  constexpr std::size_t n = 96;
  std::vector<float> in(n);
  std::iota(in.begin(), in.end(), 1.0f);
  const auto out = array(std::vector<float>(n));
  const std::uint64_t scale = std::bit_cast<std::uint32_t>(2.0f);
  run("reversed", {1}, {n}, {scale, array(in), out}, {n * sizeof(float)});
  const std::vector<float> got = values<float>(out, n);
  for (std::size_t i = 0; i < n; ++i) {
    const float before = i > 0 ? 2 * in[n - i] : 0;
    EXPECT_EQ(got[i], 2 * in[n - 1 - i] + before) << i;
  }
}

TEST_F(MetalLanguage, EachArgumentOfThreadgroupMemoryHasItsOwn) {
  constexpr std::size_t n = 33;
  std::vector<float> in(n), expected;
  std::iota(in.begin(), in.end(), 1.0f);
  for (const float value : in) expected.insert(expected.end(), {value + 0.5f, value});
  const auto out = array(std::vector<float>(2 * n));
  run("swapped", {1}, {n}, {array(in), out}, {n * sizeof(float), 0, n * sizeof(float16)});
  EXPECT_EQ(values<float>(out, 2 * n), expected);
  for (const metal::ThreadgroupMemory& memory :
       {metal::ThreadgroupMemory{n * sizeof(float)}, {0, 0, n * sizeof(float16)}}) {
    const auto found = hazards("swapped", {1}, {n}, {array(in), out}, memory);
    ASSERT_FALSE(found.empty());
    EXPECT_NE(found.front().message.find("out of bounds"), std::string::npos);
  }
}

TEST_F(MetalLanguage, BarriersOrderWhatTheirFlagsName) {
  const auto races = [&](const std::string& entry) {
    const auto found = hazards(entry, {1}, {64}, {array(std::vector<std::uint32_t>(128))});
    for (const vgpu::Hazard& hazard : found) {
      EXPECT_NE(hazard.message.find("race"), std::string::npos) << hazard.message;
    }
    return !found.empty();
  };
  for (const std::string of : {"", "simdgroup_"}) {  // all threads, or those of a simdgroup
    EXPECT_TRUE(races(of + "threadgroup_none"));
    EXPECT_FALSE(races(of + "threadgroup_by_threadgroup"));
    EXPECT_TRUE(races(of + "threadgroup_by_device"));
    EXPECT_FALSE(races(of + "threadgroup_both"));
    EXPECT_TRUE(races(of + "device_none"));
    EXPECT_TRUE(races(of + "device_by_threadgroup"));
    EXPECT_FALSE(races(of + "device_by_device"));
    EXPECT_FALSE(races(of + "device_both"));
  }
}

TEST_F(MetalLanguage, SimdgroupsShareValues) {
  const auto out = array(std::vector<std::int32_t>(320));
  run("simd_functions", {1}, {32}, {out});
  const auto got = values<std::int32_t>(out, 320);
  for (int i = 0; i < 32; ++i) {
    const std::vector<int> expected = {
        528, 1, 32, 32 - i, (i ^ 3) + 1, i < 31 ? i + 2 : 32, i > 0 ? i : 1, 8, 1, 529};
    EXPECT_EQ(std::vector<int>(got.begin() + 10 * i, got.begin() + 10 * i + 10), expected) << i;
  }
}

TEST_F(MetalLanguage, AtomicsAddUp) {
  const auto count = array(std::vector<std::uint32_t>{7});
  const auto sum = array(std::vector<float>{1});
  const auto extremes = array(std::vector<std::int32_t>{5, 5});
  run("atomics", {4}, {64}, {count, sum, extremes});
  EXPECT_EQ(values<std::uint32_t>(count, 1)[0], 7u + 4 * 128);
  EXPECT_EQ(values<float>(sum, 1)[0], 1 + 4 * 32);
  EXPECT_EQ(values<std::int32_t>(extremes, 2), (std::vector<std::int32_t>{-63, 63}));
}

TEST_F(MetalLanguage, SimdgroupMatricesMultiply) {
  std::vector<float16> a, b;
  for (int i = 0; i < 64; ++i) a.emplace_back(static_cast<float>(i % 7 - 3));
  for (int i = 0; i < 12 * 9; ++i) b.emplace_back(static_cast<float>(i % 5 - 2));
  const auto d = array(std::vector<float>(64));
  run("matrices", {1}, {32}, {array(a), array(b), d});
  const auto got = values<float>(d, 64);
  for (std::size_t row = 0; row < 8; ++row) {
    for (std::size_t col = 0; col < 8; ++col) {
      float expected = row == col ? 2 : 0;
      for (std::size_t k = 0; k < 8; ++k) {
        expected +=
            static_cast<float>(a[k * 8 + row]) * static_cast<float>(b[(k + 1) * 12 + col + 3]);
      }
      EXPECT_EQ(got[row * 8 + col], expected) << row << ", " << col;
    }
  }
}

TEST_F(MetalLanguage, VectorsAreBuiltAndTakenApart) {
  const auto out = array(std::vector<float>(5));
  run("vectors", {1}, {1}, {out});
  EXPECT_EQ(values<float>(out, 5), (std::vector<float>{41, 10, 5, 16, 13}));
}

TEST_F(MetalLanguage, VectorsWithAlignedElementsAreAccessedAndReported) {
  constexpr std::size_t n = 5 * 32;
  std::vector<float> a, doubled;
  std::vector<float16> b;
  for (std::size_t i = 0; i < n; ++i) {
    a.push_back(static_cast<float>(i));
    doubled.push_back(static_cast<float>(2 * i));
    b.emplace_back(static_cast<float>(i));
  }
  const auto c = array(std::vector<float>(n)), d = array(std::vector<float16>(n));
  const auto found = hazards("rows_of_five", {1}, {32}, {array(a), array(b), c, d});
  std::vector<std::string> accesses;
  for (const auto& hazard : found) {
    EXPECT_EQ(hazard.kind, vgpu::HazardKind::unaligned_vector) << hazard.message;
    accesses.push_back(hazard.first.access);
  }
  EXPECT_EQ(std::ranges::count(accesses, "read"), 4);
  EXPECT_EQ(std::ranges::count(accesses, "write"), 4);
  EXPECT_EQ(values<float>(c, n), doubled);
  const auto copied = values<float16>(d, n);
  for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(float(copied[i]), float(b[i])) << i;
}

TEST_F(MetalLanguage, VectorsWithElementsThatAreNotAlignedAreFaults) {
  const auto found = hazards("between_elements", {1}, {1},
                             {array(std::vector<float>(8)), array(std::vector<float>(4))});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].kind, vgpu::HazardKind::misaligned);
}

TEST(MetalKernels, MayHaveTheNamesOfTheLibrarysFunctions) {
  for (const std::string name : {"dot", "exp", "max", "fma", "transpose", "simd_sum"}) {
    const Compiled compiled = compile(
        "#include <metal_stdlib>\nusing namespace metal;\nkernel void " + name +
        "(device float* a, uint i [[thread_position_in_grid]]) { a[i] = max(a[i], exp(a[i])); }");
    EXPECT_TRUE(compiled.succeeded) << name << compiled.messages;
  }
}

}  // namespace
}  // namespace rung::metal_tests
