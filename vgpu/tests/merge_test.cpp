// The model of merging on small PTX fragments. merge_machine_code_test.cpp compares these with
// ptxas.

#include "vgpu/program/merge.hpp"

#include <gtest/gtest.h>

#include "vgpu/ptx/parser.hpp"
#include "vgpu/tests/merge_cases.hpp"
#include "vgpu/tests/merge_counts.hpp"

namespace rung::vgpu::merge_tests {
namespace {

Issued modelled(const MergeCase& merge_case) {
  const ptx::Module module = ptx::parse(ptx_header + kernel_of(merge_case, "kernel"));
  return issued_by_model(module, module.functions.at(0));
}

TEST(Merge, FollowsTheRulesThatWereFound) {
  for (const MergeCase& merge_case : merge_cases()) {
    EXPECT_EQ(modelled(merge_case), merge_case.issued) << merge_case.name;
  }
  for (const MergeCase& merge_case : mistaken_cases()) {
    EXPECT_EQ(modelled(merge_case), merge_case.issued) << merge_case.name;
  }
}

std::vector<IssuedAccess> accesses(const std::string& body, const ptx::Module& module) {
  const ptx::Function& function = module.functions.at(0);
  const auto offsets = shared_layout(module, function);
  const MergeModel model(function, [&](std::string_view symbol) -> std::optional<std::uint64_t> {
    const auto found = offsets.find(std::string(symbol));
    return found == offsets.end() ? std::nullopt : std::optional(found->second);
  });
  EXPECT_FALSE(body.empty());
  return model.issued(0, function.body.size());
}

TEST(Merge, TellsWhereAnAccessBeginsAndWhomItServes) {
  const MergeCase merge_case = {"",
                                "ld.shared.f32 %f1, [%r3+12];\nld.shared.f32 %f2, [%r3+4];\n"
                                "ld.shared.f32 %f3, [%r3+8];\nfma.rn.f32 %f0, %f1, %f2, %f3;\n",
                                {}};
  const ptx::Module module = ptx::parse(ptx_header + kernel_of(merge_case, "kernel"));
  const std::vector<IssuedAccess> found = accesses(merge_case.body, module);
  ASSERT_EQ(found.size(), 1u);
  const std::size_t first = found[0].leader;
  EXPECT_EQ(module.functions[0].body[first].mnemonic(), "ld.shared.f32");
  EXPECT_EQ(found[0].bytes, 16);
  EXPECT_EQ(found[0].shift, -12);  // from the first load's address to the first byte of the window
  EXPECT_EQ(found[0].members, (std::vector<std::size_t>{first, first + 1, first + 2}));
}

TEST(Merge, AVectorMayBeIssuedInParts) {
  const MergeCase merge_case = {"",
                                "ld.shared.v4.f32 {%f1, %f2, %f3, %f4}, [%r3];\n"
                                "fma.rn.f32 %f0, %f1, %f4, %f4;\n",
                                {}};
  const ptx::Module module = ptx::parse(ptx_header + kernel_of(merge_case, "kernel"));
  const std::vector<IssuedAccess> found = accesses(merge_case.body, module);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].leader, found[1].leader);
  EXPECT_EQ(found[0].shift, 0);
  EXPECT_EQ(found[1].shift, 12);
}

TEST(SharedLayout, PutsTheKernelsArraysBeforeTheModules) {
  const ptx::Module module = ptx::parse(ptx_header + R"(
.extern .shared .align 4 .b8 dynamic[];
.shared .align 4 .b8 outside[8];
.shared .align 4 .b8 unused[4];
.visible .entry kernel()
{
.reg .b32 %r<4>;
.shared .align 4 .b8 inside[20];
.shared .align 16 .b8 aligned[4];
mov.u32 %r0, outside;
mov.u32 %r1, dynamic;
st.shared.u32 [aligned], %r0;
st.shared.u32 [inside+4], %r0;
ret;
}
)");
  const std::map<std::string, std::uint64_t> expected = {
      {"inside", 0}, {"aligned", 32}, {"outside", 36}, {"dynamic", 48}};
  EXPECT_EQ(shared_layout(module, module.functions.at(0)), expected);
}

}  // namespace
}  // namespace rung::vgpu::merge_tests
