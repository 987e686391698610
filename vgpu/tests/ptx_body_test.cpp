// Instructions, operands and scopes of a function's body.

#include "vgpu/ptx/opcodes.hpp"
#include "vgpu/tests/ptx_text.hpp"

namespace rung::vgpu::ptx {
namespace {

using Kind = Operand::Kind;

TEST(PtxInstruction, MnemonicSplitsIntoOpcodeAndModifiers) {
  const Instruction load =
      instruction("ld.global.L1::no_allocate.v4.f32 {%f0, %f1, %f2, %f3}, [%rd1];").instruction;
  EXPECT_EQ(load.opcode, Opcode::ld);
  EXPECT_EQ(load.modifiers, (std::vector<std::string>{"global", "L1::no_allocate", "v4", "f32"}));
  EXPECT_EQ(load.mnemonic(), "ld.global.L1::no_allocate.v4.f32");
  EXPECT_TRUE(load.has("v4"));
  EXPECT_FALSE(load.has("v"));
}

TEST(PtxInstruction, ModifiersMayBeginWithADigit) {
  const Instruction copy =
      instruction(
          "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
          "[%r1], [%rd1, {%r2, %r3}], [%r4];")
          .instruction;
  EXPECT_EQ(copy.modifiers.at(3), "2d");
  EXPECT_EQ(copy.modifiers.at(6), "mbarrier::complete_tx::bytes");
}

TEST(PtxInstruction, GuardsAndLines) {
  const Function f = kernel("\n@%p1 exit;\n@!%p2 bra L;\nL:\n mov.b32\n %r1, 7;");
  EXPECT_EQ(f.body[0].line, 9);
  EXPECT_EQ(f.registers.at(static_cast<std::size_t>(f.body[0].guard)).name, "%p1");
  EXPECT_FALSE(f.body[0].guard_negated);
  EXPECT_EQ(f.registers.at(static_cast<std::size_t>(f.body[1].guard)).name, "%p2");
  EXPECT_TRUE(f.body[1].guard_negated);
  EXPECT_EQ(f.body[2].line, 12);
  EXPECT_EQ(f.body[2].guard, -1);
}

TEST(PtxInstruction, SourceIsTheLastLocEvenOfInlinedCode) {
  const Function f = kernel(
      "exit;\n.loc 1 20 3\nexit;\n"
      ".loc 2 5 1, function_name $L__info_string0+8, inlined_at 1 21 7\nexit; exit;");
  EXPECT_EQ(f.body[0].source.line, 0);
  EXPECT_EQ(f.body[1].source.file, 1);
  EXPECT_EQ(f.body[1].source.line, 20);
  EXPECT_EQ(f.body[3].source.file, 2);
  EXPECT_EQ(f.body[3].source.line, 5);
}

// nvcc names the call whose .loc came before; `rung emu` numbers calls.
TEST(PtxInstruction, CallsThatWereInlined) {
  const Module by_place = parse(
      kernel_text(".loc 1 21 7, function_name $L__a, inlined_at 1 40 2\n"
                  ".loc 2 5 1, function_name $L__b, inlined_at 1 21 7\nexit;\n.loc 1 50 1\nexit;"));
  const std::vector<Instruction>& body = by_place.functions.at(0).body;
  const InlinedCall& inner = by_place.calls.at(body[0].inlined_by);
  EXPECT_EQ(inner.line, 21);
  EXPECT_EQ(by_place.calls.at(inner.inlined_by).line, 40);
  EXPECT_EQ(body[1].inlined_by, 0U);

  std::string text = kernel_text(".loc 2 5 2\nexit;");
  const std::string before = ".global .align";
  text.insert(text.find(before),
              "// rung.inlined 2 21 1 /a b.cu\n"
              "// rung.inlined 1 40 0 /a b.cu\n");
  const Module numbered = parse(text);
  EXPECT_EQ(numbered.calls.at(2).inlined_by, 1U);
  EXPECT_EQ(numbered.calls.at(1).file, "/a b.cu");
  EXPECT_EQ(numbered.functions.at(0).body[0].inlined_by, 2U);
}

TEST(PtxInstruction, Comments) {
  const Function f = kernel("exit; // one; exit;\n/* two\nexit; */ exit; /**/ // at the end");
  ASSERT_EQ(f.body.size(), 3U);  // and kernel()'s ret
  EXPECT_EQ(f.body[1].line, 10);
}

TEST(PtxOperand, RegistersAndNegation) {
  const Parsed p = instruction("setp.lt.and.s32 %p1, %r2, -%r3, !%p0;");
  EXPECT_EQ(p.name_of(0), "%p1");
  EXPECT_EQ(p.name_of(2), "%r3");
  EXPECT_FALSE(p.operand(1).negated);
  EXPECT_TRUE(p.operand(2).negated);
  EXPECT_TRUE(p.operand(3).negated);
}

TEST(PtxOperand, OnlyRegistersInUseAreListed) {
  const Function f = kernel("mov.b32 %r19, %r0; mov.b32 %r19, 1;");
  ASSERT_EQ(f.registers.size(), 2U);
  EXPECT_EQ(f.registers[0].name, "%r19");
  EXPECT_EQ(f.registers[0].type, Type::b32);
  EXPECT_EQ(f.body[1].operands[0].reg, 0);
}

TEST(PtxOperand, IntegerImmediates) {
  const auto bits = [](const std::string& text) {
    const Operand operand = instruction("mov.b64 %rd1, " + text + ";").operand(1);
    EXPECT_EQ(operand.kind, Kind::immediate);
    EXPECT_FALSE(operand.is_float);
    return operand.bits;
  };
  EXPECT_EQ(bits("7"), 7U);
  EXPECT_EQ(bits("-1"), ~std::uint64_t{0});
  EXPECT_EQ(bits("0xFFFFffffFFFFffff"), ~std::uint64_t{0});
  EXPECT_EQ(bits("0x1FU"), 31U);
  EXPECT_EQ(bits("0XFF"), 255U);
  EXPECT_EQ(bits("017"), 15U);
  EXPECT_EQ(bits("0b101"), 5U);
  EXPECT_EQ(bits("0"), 0U);
  EXPECT_EQ(bits("0U"), 0U);
  EXPECT_EQ(bits("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_EQ(bits("WARP_SZ"), 32U);
  EXPECT_EQ(bits("-WARP_SZ + 1"), static_cast<std::uint64_t>(-31));
}

TEST(PtxOperand, FloatImmediatesKeepTheirBits) {
  const auto operand = [](const std::string& text) {
    return instruction("mov.f32 %f1, " + text + ";").operand(1);
  };
  EXPECT_TRUE(operand("0f3F800000").is_single);
  EXPECT_TRUE(operand("0f3F800000").is_float);
  EXPECT_EQ(operand("0f3F800000").bits, 0x3F800000U);
  EXPECT_EQ(operand("0F7FA00001").bits, 0x7FA00001U);  // a signalling NaN is not quieted
  EXPECT_EQ(operand("-0f3F800000").bits, 0xBF800000U);
  EXPECT_TRUE(operand("0d3FF0000000000000").is_float);
  EXPECT_FALSE(operand("0d3FF0000000000000").is_single);
  EXPECT_EQ(operand("0d3FF0000000000000").bits, 0x3FF0000000000000U);
  EXPECT_EQ(operand("1.5").bits, 0x3FF8000000000000U);
  EXPECT_EQ(operand("-1.5").bits, 0xBFF8000000000000U);
  EXPECT_EQ(operand("15e-1").bits, 0x3FF8000000000000U);
  EXPECT_EQ(operand("1.").bits, 0x3FF0000000000000U);
  EXPECT_EQ(operand("0f40000000 + 1").bits, 0x4008000000000000U);
}

TEST(PtxOperand, SpecialRegisters) {
  EXPECT_EQ(instruction("mov.u32 %r1, %tid.x;").operand(1).name, "tid.x");
  EXPECT_EQ(instruction("mov.u32 %r1, %ctaid.b;").operand(1).name, "ctaid.z");
  EXPECT_EQ(instruction("mov.v4.u32 {%r1, %r2, %r3, _}, %ntid;").operand(1).name, "ntid");
  for (const char* name : {"laneid", "clock64", "envreg31", "pm7", "pm0_64", "lanemask_lt",
                           "dynamic_smem_size", "cluster_ctarank", "globaltimer"}) {
    const Operand operand = instruction(std::string("mov.u32 %r1, %") + name + ";").operand(1);
    EXPECT_EQ(operand.kind, Kind::special) << name;
    EXPECT_EQ(operand.name, name);
  }
}

TEST(PtxOperand, SymbolsWithOffset) {
  const Parsed p = instruction("mov.u64 %rd1, memory+12;");
  EXPECT_EQ(p.operand(1).kind, Kind::symbol);
  EXPECT_EQ(p.operand(1).name, "memory");
  EXPECT_EQ(p.operand(1).offset, 12);
}

TEST(PtxOperand, Addresses) {
  const auto address = [](const std::string& text) {
    const Operand operand = instruction("ld.b32 %r1, [" + text + "];").operand(1);
    EXPECT_EQ(operand.kind, Kind::address) << text;
    EXPECT_TRUE(operand.elements.empty()) << text;
    return operand;
  };
  EXPECT_EQ(address("%rd1").reg, 1);
  EXPECT_EQ(address("%rd1+8").offset, 8);
  EXPECT_EQ(address("%rd1+-8").offset, -8);
  EXPECT_EQ(address("%rd1-8").offset, -8);
  EXPECT_EQ(address("%rd1+4+4").offset, 8);
  EXPECT_EQ(address("memory+8").name, "memory");
  EXPECT_EQ(address("memory+8").offset, 8);
  EXPECT_EQ(address("memory").reg, -1);
  EXPECT_EQ(address("x+0").name, "x");
  EXPECT_EQ(address("0x10").offset, 16);
  EXPECT_EQ(address("0x10").reg, -1);
  EXPECT_TRUE(address("0x10").name.empty());
}

TEST(PtxOperand, TensorAddressesListAllParts) {
  const Parsed p = instruction("ld.b32 %r1, [%rd1+64, {%r2, 7}];");
  const Operand& address = p.operand(1);
  EXPECT_EQ(p.name_of(address), "%rd1");
  EXPECT_EQ(address.offset, 64);
  ASSERT_EQ(address.elements.size(), 2U);
  EXPECT_EQ(address.elements[0].kind, Kind::reg);
  EXPECT_EQ(address.elements[0].reg, address.reg);
  ASSERT_EQ(address.elements[1].kind, Kind::vector);
  EXPECT_EQ(p.name_of(address.elements[1].elements.at(0)), "%r2");
  EXPECT_EQ(address.elements[1].elements.at(1).bits, 7U);
}

TEST(PtxOperand, VectorsPairsAndSinks) {
  const Parsed unpack = instruction("mov.b64 {%r1, _}, %rd1;");
  ASSERT_EQ(unpack.operand(0).kind, Kind::vector);
  EXPECT_EQ(unpack.operand(0).elements.at(1).kind, Kind::sink);

  const Parsed shuffle = instruction("shfl.sync.bfly.b32 %r1|%p2, %r2, 1, 31, -1;");
  ASSERT_EQ(shuffle.operand(0).kind, Kind::pair);
  EXPECT_EQ(shuffle.name_of(shuffle.operand(0).elements.at(1)), "%p2");
  EXPECT_EQ(shuffle.instruction.operands.size(), 5U);

  EXPECT_EQ(instruction("elect.sync _|%p1, -1;").operand(0).elements.at(0).kind, Kind::sink);
}

TEST(PtxOperand, VectorRegisters) {
  const Parsed p = instruction(".reg .v2 .f32 v, w<3>; add.f32 v.y, w2.x, v.r;");
  EXPECT_EQ(p.name_of(0), "v.y");
  EXPECT_EQ(p.name_of(1), "w2.x");
  EXPECT_EQ(p.name_of(2), "v.x");
  const Parsed whole = instruction(".reg .v2 .f32 v; ld.global.v2.f32 v, [%rd1];");
  ASSERT_EQ(whole.operand(0).kind, Kind::vector);
  EXPECT_EQ(whole.name_of(whole.operand(0).elements.at(1)), "v.y");
}

TEST(PtxOperand, Calls) {
  const std::string function = ".func (.param .b32 r) f(.param .b32 a);\n";
  const Function k =
      parse(module_text(function + ".entry k() { .reg .b64 %d; .param .b32 a, r;\n"
                                   "call.uni (r), f, (a); call f; call (r), %d, (a), proto;\n"
                                   "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                                   "call (r), %d, (a), list; list: .calltargets f; }"))
          .functions.at(1);
  const std::vector<Operand>& direct = k.body[0].operands;
  ASSERT_EQ(direct.size(), 3U);
  EXPECT_EQ(direct[0].kind, Kind::tuple);
  EXPECT_EQ(direct[1].kind, Kind::symbol);
  EXPECT_EQ(direct[1].name, "f");
  EXPECT_EQ(direct[2].elements.at(0).name, "a");
  EXPECT_EQ(k.body[1].operands.size(), 1U);
  EXPECT_EQ(k.body[2].operands[1].kind, Kind::reg);
  EXPECT_EQ(k.body[2].operands[3].kind, Kind::label);
  EXPECT_EQ(k.body[2].operands[3].name, "proto");
  EXPECT_EQ(k.body[3].operands[3].name, "list");
  EXPECT_TRUE(k.labels.empty());
}

TEST(PtxScope, LabelsLieBeforeTheInstructionThatFollows) {
  const Function f = kernel("bra end;\nmiddle: exit;\nbra middle;\nend:");
  ASSERT_EQ(f.labels.size(), 2U);
  EXPECT_EQ(f.labels[0].name, "middle");
  EXPECT_EQ(f.labels[0].at, 1U);
  EXPECT_EQ(f.labels[1].at, 3U);
  EXPECT_EQ(f.body[0].operands[0].name, "end");
}

TEST(PtxScope, LabelsOfOneNameInTwoScopesAreToldApart) {
  const Function f = kernel("L: bra L;\n{ bra L; L: bra out; }\n{ L: bra L; }\nout: bra L;");
  ASSERT_EQ(f.labels.size(), 4U);
  const std::string outer = f.labels[0].name, first = f.labels[1].name, second = f.labels[2].name;
  EXPECT_EQ(outer, "L");
  EXPECT_EQ(first, "L@2");
  EXPECT_EQ(second, "L@3");
  EXPECT_EQ(f.body[0].operands[0].name, outer);
  EXPECT_EQ(f.body[1].operands[0].name, first);
  EXPECT_EQ(f.body[2].operands[0].name, "out");
  EXPECT_EQ(f.body[3].operands[0].name, second);
  EXPECT_EQ(f.body[4].operands[0].name, outer);
}

TEST(PtxScope, InnerRegistersHideOuterOnes) {
  const Function f = kernel(
      "mov.b32 %r1, 1;\n{ .reg .u16 %r<2>, a; mov.b32 %r1, a; mov.b32 %r2, 1; }\n"
      "{ .reg .u16 %r1; mov.b32 %r1, 1; }\nmov.b32 %r1, 1;");
  const int outer = f.body[0].operands[0].reg;
  EXPECT_EQ(f.body[4].operands[0].reg, outer);
  EXPECT_NE(f.body[1].operands[0].reg, outer);
  EXPECT_NE(f.body[3].operands[0].reg, outer);
  EXPECT_NE(f.body[3].operands[0].reg, f.body[1].operands[0].reg);
  const auto type_of = [&](std::size_t at) {
    return f.registers.at(static_cast<std::size_t>(f.body[at].operands[0].reg)).type;
  };
  EXPECT_EQ(type_of(1), Type::u16);
  EXPECT_EQ(type_of(2), Type::b32);  // the inner range ends at %r1
}

TEST(PtxScope, ANumberMayBelongToEitherOfTwoRanges) {
  const Function f = kernel(".reg .u16 %q<3>; { .reg .u64 %q1<3>; mov.b32 %q2, %q12; }");
  EXPECT_EQ(f.registers.at(0).type, Type::u16);
  EXPECT_EQ(f.registers.at(1).type, Type::u64);
}

TEST(PtxScope, VariablesOfOneNameAreToldApart) {
  const Function f = kernel(
      "{ .param .b32 a; st.param.b32 [a], 1; }\n{ .param .b32 a; st.param.b32 [a], 2; }\n"
      "{ .shared .b32 memory; st.shared.b32 [memory], 3; }\nst.global.b32 [memory], 4;");
  ASSERT_EQ(f.variables.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(f.body[i].operands[0].name, f.variables[i].name);
  }
  EXPECT_EQ(f.variables[0].name, "a");
  EXPECT_EQ(f.variables[1].name, "a@2");
  EXPECT_EQ(f.variables[2].name, "memory@2");
  EXPECT_EQ(f.body[3].operands[0].name, "memory");
}

TEST(PtxScope, BranchTargets) {
  const Function f = kernel("{ a: exit; t: .branchtargets a, out; brx.idx %r1, t; }\nout:");
  ASSERT_EQ(f.branch_targets.size(), 1U);
  EXPECT_EQ(f.branch_targets[0].labels, (std::vector<std::string>{"a", "out"}));
  EXPECT_EQ(f.body[1].operands[1].kind, Kind::label);
  EXPECT_EQ(f.body[1].operands[1].name, f.branch_targets[0].name);
}

TEST(PtxBodyError, NamesLineAndWhatWasFound) {
  EXPECT_EQ(kernel_error("mov.b32 %r1, %r20;"), "text:8: register '%r20' is not declared");
  EXPECT_EQ(kernel_error("\nmov.b32 %r01, 1;"), "text:9: register '%r01' is not declared");
  EXPECT_EQ(kernel_error("mov.b32 %r1, nothing;"), "text:8: 'nothing' is not declared");
  EXPECT_EQ(kernel_error("mov.b32 %r1, %tid.w.x;"),
            "text:8: expected ',' or ';' after an operand, found '.x'");
  EXPECT_EQ(kernel_error("mov.b32 %r1 %r2;"),
            "text:8: expected ',' or ';' after an operand, found '%r2'");
  EXPECT_EQ(kernel_error("mov.b32 %r1,;"), "text:8: expected an operand, found ';'");
  EXPECT_EQ(kernel_error("7;"), "text:8: expected an instruction, found '7'");
  EXPECT_EQ(kernel_error("@7 exit;"), "text:8: expected a predicate, found '7'");
  EXPECT_EQ(kernel_error("@%tid.x exit;"), "text:8: guard '%tid' is not a register");
  EXPECT_EQ(kernel_error("mov.b32 %r1.x, 1;"), "text:8: '%r1' has no component '.x'");
  EXPECT_EQ(kernel_error("mov.b32 %r1, %laneid.x;"), "text:8: '%laneid' has no component '.x'");
  EXPECT_EQ(kernel_error(".reg .v2 .f32 v; mov.b32 v.z, 1;"), "text:8: 'v' has no component '.z'");
  EXPECT_EQ(kernel_error("mov.b32 %r1, !memory;"),
            "text:8: 'memory' is negated, but is not a register");
  EXPECT_EQ(kernel_error("mov.b32 %r1|3, 1;"), "text:8: a pair p|q takes registers and '_' only");
  EXPECT_EQ(kernel_error(".foo;"),
            "text:8: expected an instruction or a declaration, found '.foo'");
}

TEST(PtxBodyError, Addresses) {
  EXPECT_EQ(kernel_error("ld.b32 %r1, [%rd1;"),
            "text:8: expected '+', ',' or ']' in an address, found ';'");
  EXPECT_EQ(kernel_error("ld.b32 %r1, [%rd1+%r1];"),
            "text:8: expected an offset in bytes, found '%r1'");
  EXPECT_EQ(kernel_error("ld.b32 %r1, [%tid.x];"),
            "text:8: an address starts with a register, a variable or a number");
  EXPECT_EQ(kernel_error("ld.b32 %r1, [1.5];"),
            "text:8: expected an address, an integer, found 1.5");
  EXPECT_EQ(kernel_error("mov.b64 {}, 1;"), "text:8: expected an operand, found '}'");
}

TEST(PtxBodyError, Labels) {
  EXPECT_EQ(kernel_error("bra nowhere;"),
            "text:8: 'nowhere' is not a label in this scope or one around it");
  EXPECT_EQ(kernel_error("bra L; { L: exit; }"),
            "text:8: 'L' is not a label in this scope or one around it");
  EXPECT_EQ(kernel_error("L: exit; L: exit;"), "text:8: label 'L' is defined twice");
  EXPECT_EQ(kernel_error("L: brx.idx %r1, L;"), "text:8: 'L' is not a list of .branchtargets");
  EXPECT_EQ(kernel_error("t: .branchtargets a;"),
            "text:8: 'a' is not a label in this scope or one around it");
  EXPECT_EQ(kernel_error("call f, (%r1);"),
            "text:8: 'f' is not a declared function, .callprototype or list of .calltargets");
}

TEST(PtxBodyError, Scopes) {
  EXPECT_EQ(kernel_error("{ .reg .b32 a; } mov.b32 a, 1;"), "text:8: 'a' is not declared");
  EXPECT_EQ(kernel_error(".reg .b32 a; .reg .u32 a;"), "text:8: 'a' is declared twice");
  EXPECT_EQ(kernel_error(".reg .b32 %r<3>;"), "text:8: '%r' is declared twice");
  EXPECT_EQ(kernel_error(".reg .b32 x;"), "text:8: 'x' is declared twice");
  EXPECT_EQ(kernel_error(".reg .b32 %q<16777217>;"),
            "text:8: the number of registers is 16777217, allowed are 1 to 16777216");
  EXPECT_EQ(kernel_error(".reg .f99 %q;"),
            "text:8: expected the type of a register, such as '.b32', found '.f99'");
  EXPECT_EQ(kernel_error(".global .b32 q;"),
            "text:8: a .global variable belongs outside of functions");
  EXPECT_EQ(kernel_error(std::string(100, '{')), "text:8: scopes nested more than 64 deep");
  EXPECT_EQ(error_of(module_text(".entry k()\n{ exit;\n")),
            "text:6: expected an instruction, found the end of the text");
}

}  // namespace
}  // namespace rung::vgpu::ptx
