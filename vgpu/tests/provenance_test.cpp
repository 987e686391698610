// Provenance of pointers.

#include "vgpu/program/provenance.hpp"

#include <gtest/gtest.h>

#include "vgpu/lowering/inline.hpp"
#include "vgpu/ptx/opcodes.hpp"
#include "vgpu/tests/program_text.hpp"

namespace rung::vgpu {
namespace {

std::string text_of(const PointerOrigin& origin) {
  switch (origin.kind) {
    case PointerOrigin::Kind::none: return "none";
    case PointerOrigin::Kind::shared: return "shared " + origin.symbol;
    case PointerOrigin::Kind::local: return "local " + origin.symbol;
    case PointerOrigin::Kind::global: return "global " + origin.symbol;
    case PointerOrigin::Kind::parameter:
      return "parameter " + origin.symbol + "+" + std::to_string(origin.offset);
    case PointerOrigin::Kind::in_param:
      return "in " + origin.symbol + "+" + std::to_string(origin.offset);
    case PointerOrigin::Kind::unknown: return "unknown";
  }
  return "";
}

/// The origin of the address of the last ld or st.
std::string origin(const std::string& body, const std::string& functions = {}) {
  const ptx::Module module = program(body, functions);
  const ptx::Function function = inline_calls(module, entry_of(module), "text");
  const auto registers = trace_pointers(module, function);
  std::string found = "no access";
  for (const ptx::Instruction& instruction : function.body) {
    if (!instruction.is(ptx::Opcode::ld, ptx::Opcode::st)) continue;
    const std::size_t address = instruction.opcode == ptx::Opcode::ld ? 1 : 0;
    found = text_of(origin_of(registers, module, function, instruction.operands.at(address)));
  }
  return found;
}

const std::string load_A = "ld.param.u64 %rd1, [A]; cvta.to.global.u64 %rd2, %rd1; ";
const std::string access_rd9 = " st.global.u32 [%rd9+4], 0;";
const std::string access_r9 = " st.shared.u32 [%r9+4], 0;";

TEST(Provenance, AnArrayByName) {
  EXPECT_EQ(origin("st.shared.u32 [As+4], 0;"), "shared As");
  EXPECT_EQ(origin("st.local.u32 [spilled], 0;"), "local spilled");
  EXPECT_EQ(origin("st.global.u32 [table], 0;"), "global table");
  EXPECT_EQ(origin("ld.const.u32 %r1, [factors];"), "global factors");
  EXPECT_EQ(origin("st.shared.u32 [128], 0;"), "none");
}

TEST(Provenance, AnArrayByItsAddressAndAnIndex) {
  EXPECT_EQ(origin("mov.u32 %r1, As; shl.b32 %r2, %r3, 2; add.s32 %r9, %r1, %r2;" + access_r9),
            "shared As");
  EXPECT_EQ(origin("mov.u32 %r1, Bs; mad.lo.s32 %r9, %r3, 4, %r1;" + access_r9), "shared Bs");
  EXPECT_EQ(origin("mov.u32 %r1, As; add.s32 %r9, %r1, Bs;" + access_r9), "unknown");
  EXPECT_EQ(origin("mov.u32 %r1, As; sub.s32 %r9, %r1, %r2; mov.u32 %r2, 4;" + access_r9),
            "shared As");
}

TEST(Provenance, AParameterThatIsAPointer) {
  EXPECT_EQ(origin(load_A + "mul.wide.s32 %rd3, %r1, 4; add.s64 %rd9, %rd2, %rd3;" + access_rd9),
            "parameter A+0");
  EXPECT_EQ(origin("ld.param.v2.u64 {_, %rd9}, [A+16];" + access_rd9), "parameter A+24");
  EXPECT_EQ(origin("ld.param.v2.u64 {%rd9, %rd1}, [A];" + access_rd9), "parameter A+0");
}

TEST(Provenance, AParameterThatIsAStride) {
  // A + i * n: the factor's origin does not matter.
  EXPECT_EQ(
      origin(load_A + "ld.param.u64 %rd3, [B]; mad.lo.s64 %rd9, %rd4, %rd3, %rd2;" + access_rd9),
      "parameter A+0");
  EXPECT_EQ(origin(load_A +
                   "ld.param.u64 %rd3, [B]; shl.b64 %rd4, %rd3, 2;"
                   "add.s64 %rd9, %rd2, %rd4;" +
                   access_rd9),
            "parameter A+0");
  // A + n: either may be the pointer.
  EXPECT_EQ(origin(load_A + "ld.param.u64 %rd3, [B]; add.s64 %rd9, %rd2, %rd3;" + access_rd9),
            "unknown");
}

TEST(Provenance, AParameterByItsAddress) {
  // The way clang reads members of a structure.
  const std::string address = "mov.b64 %rd1, A; mov.u64 %rd2, %rd1; ";
  EXPECT_EQ(
      origin(address + "ld.param.u64 %rd3, [%rd2+16]; cvta.to.global.u64 %rd9, %rd3;" + access_rd9),
      "parameter A+16");
  EXPECT_EQ(origin(address + "add.s64 %rd4, %rd2, 8; ld.param.u64 %rd9, [%rd4+16];" + access_rd9),
            "parameter A+24");
  EXPECT_EQ(origin(address + "ld.param.u64 %rd3, [%rd2+8];"), "in A+0");
  // An element of an array, at an unknown index.
  EXPECT_EQ(origin(address + "add.s64 %rd4, %rd2, %rd5; ld.param.u64 %rd9, [%rd4];" + access_rd9),
            "unknown");
  EXPECT_EQ(origin(address + "LOOP: ld.param.u64 %rd9, [%rd2];" + access_rd9 +
                   " add.s64 %rd2, %rd2, 8; @%p1 bra LOOP;"),
            "unknown");
}

TEST(Provenance, HalfAParameterIsNoPointer) {
  EXPECT_EQ(origin("mov.u32 %r1, As; ld.param.u64 %rd1, [A]; cvt.u32.u64 %r2, %rd1;"
                   "add.s32 %r9, %r1, %r2;" +
                   access_r9),
            "shared As");
  EXPECT_EQ(origin("mov.u32 %r1, As; ld.param.u64 %rd1, [A]; mov.b64 {%r2, %r3}, %rd1;"
                   "add.s32 %r9, %r1, %r3;" +
                   access_r9),
            "shared As");
}

TEST(Provenance, ALoopMovesAPointerOn) {
  EXPECT_EQ(origin(load_A + "mov.u64 %rd9, %rd2; LOOP: add.s64 %rd9, %rd9, 16;" + access_rd9 +
                   " @%p1 bra LOOP;"),
            "parameter A+0");
  // The way clang writes it, with a copy at the end.
  EXPECT_EQ(
      origin(load_A + "mov.u64 %rd9, %rd2; LOOP: add.s64 %rd5, %rd9, 16; mov.u64 %rd9, %rd5;" +
             access_rd9 + " @%p1 bra LOOP;"),
      "parameter A+0");
}

TEST(Provenance, OneOfTwoIsUnknown) {
  EXPECT_EQ(origin("selp.b32 %r9, As, Bs, %p1;" + access_r9), "unknown");
  EXPECT_EQ(origin("@%p1 mov.u32 %r9, As; @!%p1 mov.u32 %r9, Bs;" + access_r9), "unknown");
  EXPECT_EQ(origin("mov.u32 %r9, As; @%p1 ld.shared.u32 %r9, [Bs];" + access_r9), "unknown");
  EXPECT_EQ(
      origin("mov.u32 %r1, As; add.s32 %r2, %r1, 32; selp.b32 %r9, %r1, %r2, %p1;" + access_r9),
      "shared As");
}

TEST(Provenance, SwizzlesStayInTheirArray) {
  EXPECT_EQ(origin("mov.u32 %r1, As; add.s32 %r2, %r1, %r5; shr.u32 %r3, %r2, 3;"
                   "and.b32 %r4, %r3, 112; xor.b32 %r9, %r2, %r4; mov.u32 %r5, 0;" +
                   access_r9),
            "shared As");
  EXPECT_EQ(origin("mov.u32 %r1, As; add.s32 %r2, %r1, 15; and.b32 %r9, %r2, -16;" + access_r9),
            "shared As");
  EXPECT_EQ(
      origin("mov.u32 %r1, As; and.b32 %r2, %r1, 15; mov.u32 %r3, Bs; add.s32 %r9, %r3, %r2;" +
             access_r9),
      "shared Bs");
}

TEST(Provenance, TheDistanceOfTwoPointersIsAnInteger) {
  EXPECT_EQ(origin(load_A +
                   "add.s64 %rd3, %rd2, 64; sub.s64 %rd4, %rd3, %rd2; ld.param.u64 %rd5, [B];"
                   "add.s64 %rd9, %rd5, %rd4;" +
                   access_rd9),
            "parameter B+0");
}

TEST(Provenance, SharedPointersThroughGenericAddresses) {
  EXPECT_EQ(origin("mov.u64 %rd1, As; cvta.shared.u64 %rd2, %rd1; add.s64 %rd9, %rd2, 8;"
                   "st.u32 [%rd9], 0;"),
            "shared As");
  EXPECT_EQ(origin("mov.u64 %rd1, As; cvta.shared.u64 %rd2, %rd1; cvta.to.shared.u64 %rd3, %rd2;"
                   "cvt.u32.u64 %r9, %rd3;" +
                   access_r9),
            "shared As");
}

TEST(Provenance, WhatComesFromMemoryIsUnknown) {
  EXPECT_EQ(origin("ld.global.u64 %rd9, [table];" + access_rd9), "unknown");
  EXPECT_EQ(origin("atom.global.exch.b64 %rd9, [table], 0;" + access_rd9), "unknown");
  // An index from memory does not make the pointer unknown.
  EXPECT_EQ(
      origin("mov.u32 %r1, As; ld.global.u32 %r2, [table]; add.s32 %r9, %r1, %r2;" + access_r9),
      "shared As");
}

TEST(Provenance, GoesIntoCalls) {
  const char* const function =
      ".func f(.param .b64 p) { .reg .b64 %q; ld.param.u64 %q, [p]; st.u32 [%q], 0; ret; }";
  EXPECT_EQ(origin("{ .param .b64 in; ld.param.u64 %rd1, [A]; add.s64 %rd2, %rd1, 4;"
                   "st.param.b64 [in], %rd2; call f, (in); } ret;",
                   function),
            "parameter A+0");
}

TEST(Provenance, NothingIsKnownOfARegisterThatNobodyWrites) {
  EXPECT_EQ(origin("st.global.u32 [%rd9], 0;"), "none");
}

}  // namespace
}  // namespace rung::vgpu
