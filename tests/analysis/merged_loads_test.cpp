// Tests which loads from shared memory ptxas merges into one.

#include "tools/analysis/merged_loads.hpp"

#include <gtest/gtest.h>

#include "vgpu/ptx/parser.hpp"

namespace rung::analysis {
namespace {

/// The merged loads of a kernel with an array in shared memory, by line of `body` (from 1). Each
/// thread starts at `scale` bytes times its thread index.
std::map<int, int> merged_in(const std::string& scale, const std::string& body) {
  const std::string head =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k() {\n"
      ".reg .b32 %r<9>;\n.reg .f32 %f<9>;\n"
      ".shared .align 4 .b8 tile[4096];\n"
      "mov.u32 %r1, %tid.x;\nmov.u32 %r2, tile;\n"
      "mad.lo.s32 %r3, %r1, " +
      scale + ", %r2;\n";
  constexpr int lines_before = 10;
  const vgpu::ptx::Module text = vgpu::ptx::parse(head + body + "ret;\n}\n", "test");
  std::map<int, int> merged;
  for (const auto& [line, count] : merged_shared_loads(text, *text.find("k"))) {
    merged[line - lines_before] = count;
  }
  return merged;
}

constexpr const char* four_words =
    "ld.shared.f32 %f1, [%r3];\nld.shared.f32 %f2, [%r3+4];\n"
    "ld.shared.f32 %f3, [%r3+8];\nld.shared.f32 %f4, [%r3+12];\n";

TEST(MergedLoads, AreOfNeighbouringWordsAtAnAlignedAddress) {
  EXPECT_EQ(merged_in("128", four_words), (std::map<int, int>{{1, 4}, {2, 4}, {3, 4}, {4, 4}}));
  EXPECT_EQ(merged_in("8", four_words), (std::map<int, int>{{1, 2}, {2, 2}, {3, 2}, {4, 2}}));
}

TEST(MergedLoads, AreNoneWhereThreadsBeginAtAnyWord) {
  EXPECT_TRUE(merged_in("4", four_words).empty());
}

TEST(MergedLoads, DoNotPassAStore) {
  EXPECT_TRUE(merged_in("128",
                        "ld.shared.f32 %f1, [%r3];\nst.shared.f32 [%r3+64], %f1;\n"
                        "ld.shared.f32 %f2, [%r3+4];\n")
                  .empty());
}

TEST(MergedLoads, AreNoneOfDistantWords) {
  EXPECT_TRUE(
      merged_in("128", "ld.shared.f32 %f1, [%r3];\nld.shared.f32 %f2, [%r3+64];\n").empty());
}

}  // namespace
}  // namespace rung::analysis
