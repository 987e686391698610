#include "vgpu/program/low_bits.hpp"

#include <gtest/gtest.h>

#include <string>

#include "vgpu/ptx/parser.hpp"

namespace rung::vgpu {
namespace {

/// The known bits of %r0 after a body. The array S is at offset 48.
LowBits known(const std::string& body) {
  const ptx::Module module = ptx::parse(
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry kernel(.param .u32 p)\n{\n"
      ".reg .b32 %r<9>; .reg .pred %p<2>; .reg .b64 %rd<4>; .reg .f32 %f<2>;\n"
      ".shared .align 4 .b8 S[64];\nld.param.u32 %r8, [p];\n" +
      body + "\nret;\n}\n");
  const ptx::Function& function = module.functions.at(0);
  const auto all = low_bits(function, [](std::string_view symbol) {
    return symbol == "S" ? std::optional<std::uint64_t>(48) : std::nullopt;
  });
  for (std::size_t i = 0; i < function.registers.size(); ++i) {
    if (function.registers[i].name == "%r0") return all[i];
  }
  return {-1, 0};
}

TEST(LowBits, OfOneInstruction) {
  EXPECT_EQ(known("mov.u32 %r0, 20;"), (LowBits{32, 20}));
  EXPECT_EQ(known("mov.u32 %r0, S+4;"), (LowBits{32, 52}));
  EXPECT_EQ(known("mov.u32 %r0, %tid.x;"), (LowBits{0, 0}));
  EXPECT_EQ(known("mov.u32 %r0, %r8;"), (LowBits{0, 0}));
  EXPECT_EQ(known("shl.b32 %r0, %r8, 4;"), (LowBits{4, 0}));
  EXPECT_EQ(known("shl.b32 %r0, %r8, %r8;"), (LowBits{0, 0}));
  EXPECT_EQ(known("mul.lo.s32 %r0, %r8, 48;"), (LowBits{4, 0}));
  EXPECT_EQ(known("mul.hi.s32 %r0, %r8, 48;"), (LowBits{0, 0}));
  EXPECT_EQ(known("mad.lo.s32 %r0, %r8, 8, 3;"), (LowBits{3, 3}));
  EXPECT_EQ(known("and.b32 %r0, %r8, -16;"), (LowBits{4, 0}));
  EXPECT_EQ(known("and.b32 %r0, %r8, 6;"), (LowBits{1, 0}));
  EXPECT_EQ(known("or.b32 %r0, %r8, 7;"), (LowBits{3, 7}));
  EXPECT_EQ(known("ld.shared.u32 %r0, [S];"), (LowBits{0, 0}));
  EXPECT_EQ(known("@%p1 mov.u32 %r0, 20;\n@!%p1 mov.u32 %r0, 12;"), (LowBits{3, 4}));
  EXPECT_EQ(known("selp.b32 %r0, 1, 5, %p1;"), (LowBits{2, 1}));
}

TEST(LowBits, OfSeveral) {
  EXPECT_EQ(known("shl.b32 %r1, %r8, 4;\nadd.s32 %r0, %r1, 20;"), (LowBits{4, 4}));
  EXPECT_EQ(known("shl.b32 %r1, %r8, 4;\nsub.s32 %r0, %r1, 4;"), (LowBits{4, 12}));
  EXPECT_EQ(known("shl.b32 %r1, %r8, 4;\nneg.s32 %r0, %r1;"), (LowBits{4, 0}));
  EXPECT_EQ(known("shl.b32 %r1, %r8, 4;\nshr.u32 %r0, %r1, 1;"), (LowBits{3, 0}));
  EXPECT_EQ(known("shl.b32 %r1, %r8, 4;\nxor.b32 %r0, %r1, 5;"), (LowBits{4, 5}));
  EXPECT_EQ(known("shl.b32 %r1, %r8, 2;\nor.b32 %r2, %r1, 1;\nmul.lo.s32 %r0, %r2, %r2;"),
            (LowBits{2, 1}));
}

TEST(LowBits, OfALoop) {
  EXPECT_EQ(known("mov.u32 %r0, S;\nagain:\nadd.s32 %r0, %r0, 32;\n"
                  "setp.lt.u32 %p1, %r0, %r8;\n@%p1 bra again;"),
            (LowBits{5, 16}));
  EXPECT_EQ(known("mov.u32 %r0, 0;\nagain:\nmov.u32 %r1, %r0;\nadd.s32 %r0, %r1, 12;\n"
                  "@%p1 bra again;"),
            (LowBits{2, 0}));
}

}  // namespace
}  // namespace rung::vgpu
