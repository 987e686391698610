// Accesses to registers of wgmma that are too early, found by static analysis.

#include "vgpu/program/wgmma_registers.hpp"

#include <gtest/gtest.h>

#include "vgpu/tests/program_text.hpp"

namespace rung::vgpu {
namespace {

/// The lines of the body, from 1, that use a register too early; negative if a fence is missing.
std::vector<int> lines_of(const std::string& body) {
  const ptx::Function function = entry(body);
  std::vector<int> lines;
  for (const WgmmaRegisterUse& use : wgmma_register_uses(function, control_flow(function))) {
    const int line = function.body[use.instruction].line;
    lines.push_back(use.in_flight ? line : -line);
  }
  return lines;
}

const std::string multiply =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %rd0, %rd1, %p0, 1, "
    "1, 0, 0;\n";
const std::string from_registers =
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, "
    "%r3}, %rd1, %p0, 1, 1, 0;\n";
const std::string fence = "wgmma.fence.sync.aligned;\n";
const std::string commit = "wgmma.commit_group.sync.aligned;\n";
std::string wait(int groups) {
  return "wgmma.wait_group.sync.aligned " + std::to_string(groups) + ";\n";
}
const std::string use = "add.f32 %f4, %f0, %f1;\n";

using Lines = std::vector<int>;

TEST(WgmmaRegisters, WaitedFor) {
  EXPECT_EQ(lines_of(fence + multiply + multiply + commit + wait(0) + use + "ret;"), Lines());
  EXPECT_EQ(lines_of(fence + multiply + commit + use + wait(0) + "ret;"), Lines({4}));
  EXPECT_EQ(lines_of(fence + multiply + wait(0) + use + "ret;"), Lines({4})) << "not committed";
  EXPECT_EQ(lines_of(fence + multiply + commit + wait(1) + use + "ret;"), Lines({5}));
  // The first of two groups has completed.
  EXPECT_EQ(lines_of(fence + multiply + commit + commit + wait(1) + use + "ret;"), Lines());
  EXPECT_EQ(lines_of(fence + multiply + commit + "mov.f32 %f0, 0f00000000;\n" + wait(0) + "ret;"),
            Lines({4}));
}

TEST(WgmmaRegisters, Fenced) {
  EXPECT_EQ(lines_of(multiply + commit + wait(0) + "ret;"), Lines({-1}));
  const std::string set = "mov.f32 %f2, 0f00000000;\n";
  EXPECT_EQ(lines_of(fence + set + multiply + commit + wait(0) + "ret;"), Lines({-3}));
  EXPECT_EQ(lines_of(fence + multiply + commit + wait(0) + multiply + "ret;"), Lines());
  EXPECT_EQ(lines_of(fence + multiply + commit + wait(0) + set + multiply + "ret;"), Lines({-6}));
}

TEST(WgmmaRegisters, CopiesAreNames) {
  const std::string copy = "mov.f32 %f5, %f0;\n";
  EXPECT_EQ(lines_of(fence + multiply + copy + commit + wait(0) + "ret;"), Lines());
  EXPECT_EQ(
      lines_of(fence + multiply + copy + commit + "add.f32 %f4, %f5, %f5;\n" + wait(0) + "ret;"),
      Lines({5}));
}

TEST(WgmmaRegisters, AInRegisters) {
  const std::string set = "mov.b32 %r1, 0;\n", read = "add.u32 %r5, %r1, %r1;\n";
  EXPECT_EQ(lines_of(fence + from_registers + commit + read + wait(0) + set + "ret;"), Lines());
  EXPECT_EQ(lines_of(fence + from_registers + commit + set + wait(0) + "ret;"), Lines({4}));
}

TEST(WgmmaRegisters, OnSomePath) {
  // Around the loop, the wait leaves one group in flight; one path skips the wait.
  EXPECT_EQ(lines_of(fence + "L:\n" + multiply + commit + wait(1) + "@%p1 bra L;\n" + use + "ret;"),
            Lines({7}));
  EXPECT_EQ(lines_of(fence + multiply + commit + "@%p1 bra L;\n" + wait(0) + "L:\n" + use + "ret;"),
            Lines({7}));
}

}  // namespace
}  // namespace rung::vgpu
