// Invalid operand lists are rejected before any later code uses them.

#include "vgpu/lowering/operand_check.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "vgpu/tests/program_text.hpp"

namespace rung::vgpu {
namespace {

/// The error of an instruction; empty if it is valid.
std::string wrong_with(const std::string& instruction) {
  const ptx::Module module = program(instruction + " ret;");
  try {
    check_operands(module, entry_of(module), "text");
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

TEST(OperandCheck, TakesWhatIsRight) {
  for (const std::string right :
       {"add.s32 %r1, %r2, %r3;", "setp.lt.or.s32 %p1, %r1, %r2, !%p2;",
        "lop3.b32 %r1, %r2, %r3, %r4, 255;", "selp.b32 %r1, %r2, %r3, %p1;"}) {
    EXPECT_EQ(wrong_with(right), "") << right;
  }
}

TEST(OperandCheck, TakesVectorsOfOneElementWherePtxasDoes) {
  for (const std::string right :
       {"ld.global.b32 { %r1 }, [%rd1];", "st.global.b32 [%rd1], { %r1 };",
        "st.global.b32 [%rd1], { 7 };", "mov.b32 { %r1 }, %r2;", "mov.b32 %r1, { %r2 };",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 { %r1 }, [%r2];"}) {
    EXPECT_EQ(wrong_with(right), "") << right;
  }
  for (const std::string wrong :
       {"mov.u32 { %r1 }, %r2;", "mov.b32 { %r1 }, { %r2 };", "add.u32 %r1, { %r2 }, 1;",
        "ld.global.v2.b32 { %r1 }, [%rd1];", "atom.global.add.u32 %r1, [%rd1], { %r2 };",
        "red.global.add.u32 [%rd1], { %r2 };"}) {
    EXPECT_NE(wrong_with(wrong), "") << wrong;
  }
}

TEST(OperandCheck, RefusesCountsKindsAndConstants) {
  for (const std::string wrong :
       {"add.s32 %r1, %r2, %r3, %r4;", "add.s32 %r1, %r2;", "add.s32 %r1, !%p1, %r3;",
        "setp.lt.or.s32 %p1, %r1, %r2;", "lop3.b32 %r1, %r2, %r3, %r4, %r5;",
        "lop3.b32 %r1, %r2, %r3, %r4, 256;", "selp.b32 %r1, %r2, %r3, !%p1;"}) {
    EXPECT_NE(wrong_with(wrong).find("text:1: "), std::string::npos)
        << wrong << " gives '" << wrong_with(wrong) << "'";
  }
}

}  // namespace
}  // namespace rung::vgpu
