// Calls are replaced by the bodies of the functions that they call.

#include "vgpu/lowering/inline.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "vgpu/program/cfg.hpp"
#include "vgpu/tests/program_text.hpp"

namespace rung::vgpu {
namespace {

using ptx::Operand;

std::string text_of(const ptx::Function& function, const Operand& operand) {
  const auto list = [&] {
    std::string text;
    for (const Operand& element : operand.elements) {
      text += (text.empty() ? "" : ", ") + text_of(function, element);
    }
    return text;
  };
  switch (operand.kind) {
    case Operand::Kind::reg:
      return function.registers.at(static_cast<std::size_t>(operand.reg)).name;
    case Operand::Kind::immediate: return std::to_string(operand.bits);
    case Operand::Kind::address: return "[" + operand.name + "]";
    case Operand::Kind::vector: return "{" + list() + "}";
    case Operand::Kind::tuple: return "(" + list() + ")";
    case Operand::Kind::sink: return "_";
    default: return operand.name;
  }
}

/// Instructions as text, such as "@%p1 add.u32 %r1, %r2, 3", preceded by their labels, "x: ".
std::vector<std::string> lines_of(const ptx::Function& function) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < function.body.size(); ++i) {
    const ptx::Instruction& instruction = function.body[i];
    std::string line;
    for (const ptx::Label& label : function.labels) {
      if (label.at == i) line += label.name + ": ";
    }
    if (instruction.guard >= 0) {
      line += instruction.guard_negated ? "@!" : "@";
      line += function.registers.at(static_cast<std::size_t>(instruction.guard)).name + " ";
    }
    line += instruction.mnemonic();
    for (std::size_t k = 0; k < instruction.operands.size(); ++k) {
      line += (k == 0 ? " " : ", ") + text_of(function, instruction.operands[k]);
    }
    lines.push_back(line);
  }
  return lines;
}

using Lines = std::vector<std::string>;

ptx::Function inlined(const std::string& body, const std::string& functions = {},
                      std::size_t limit = max_inlined_instructions) {
  const ptx::Module module = program(body, functions);
  return inline_calls(module, entry_of(module), "text", limit);
}

std::string error_of(const std::string& body, const std::string& functions,
                     std::size_t limit = max_inlined_instructions) {
  try {
    inlined(body, functions, limit);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

std::size_t param_variables(const ptx::Function& function) {
  return static_cast<std::size_t>(std::count_if(
      function.variables.begin(), function.variables.end(),
      [](const ptx::Variable& variable) { return variable.space == ptx::Space::param; }));
}

const char* const add_one =
    ".func (.param .b32 sum) add_one(.param .b32 x) { .reg .b32 %a<3>;"
    " ld.param.u32 %a1, [x]; add.u32 %a2, %a1, 1; st.param.u32 [sum], %a2; ret; }";

TEST(Inline, TextWithoutCallsStaysAsItIs) {
  EXPECT_EQ(lines_of(inlined("L: add.u32 %r1, %r2, 3; @%p1 bra L; ret;")),
            (Lines{"L: add.u32 %r1, %r2, 3", "@%p1 bra L", "ret"}));
}

TEST(Inline, ScalarParametersBecomeRegisters) {
  const ptx::Function function = inlined(R"({
    .param .b32 in; .param .b32 out;
    st.param.b32 [in], %r1;
    call.uni (out), add_one, (in);
    ld.param.b32 %r2, [out]; }
    ret;)",
                                         add_one);
  EXPECT_EQ(lines_of(function),
            (Lines{"mov.b32 in+0, %r1", "mov.u32 %a1, in+0", "add.u32 %a2, %a1, 1",
                   "mov.u32 out+0, %a2", "add_one$0$end: mov.b32 %r2, out+0", "ret"}));
  EXPECT_EQ(param_variables(function), 0u);
}

TEST(Inline, EachCallHasRegistersAndLabelsOfItsOwn) {
  const ptx::Function function = inlined("call f; call f; ret;",
                                         ".func f() { .reg .b32 %a<2>; .reg .pred %q;"
                                         " LOOP: add.u32 %a1, %a1, 1; @%q bra LOOP; ret; }");
  EXPECT_EQ(lines_of(function),
            (Lines{"f$0$LOOP: add.u32 %a1, %a1, 1", "@%q bra f$0$LOOP",
                   "f$0$end: f$1$LOOP: add.u32 %a1, %a1, 1", "@%q bra f$1$LOOP", "f$1$end: ret"}));
  EXPECT_NE(function.body[0].operands[0].reg, function.body[2].operands[0].reg);
  EXPECT_NE(function.body[1].guard, function.body[3].guard);
}

TEST(Inline, ReturnsGoBehindTheCall) {
  EXPECT_EQ(lines_of(inlined("call f; ret;",
                             ".func f() { .reg .pred %q; .reg .b32 %a;"
                             " @%q ret; mov.u32 %a, 1; ret; }")),
            (Lines{"@%q bra f$0$end", "mov.u32 %a, 1", "f$0$end: ret"}));
  // exit ends the thread in any function.
  EXPECT_EQ(lines_of(inlined("call f; ret;", ".func f() { exit; }")),
            (Lines{"exit", "f$0$end: ret"}));
}

TEST(Inline, CallsAreFollowedAllTheWay) {
  EXPECT_EQ(
      lines_of(inlined("call g; ret;", ".func f() { membar.gl; ret; } .func g() { call f; ret; }")),
      (Lines{"membar.gl", "f$1$end: g$0$end: ret"}));
}

TEST(Inline, FunctionsMayBeEmptyOrHaveAnAlias) {
  EXPECT_EQ(
      lines_of(inlined("call f; call h; ret;",
                       ".func f() { } .func g() { membar.gl; ret; } .func h(); .alias h, g;")),
      (Lines{"f$0$end: membar.gl", "g$1$end: ret"}));
}

TEST(Inline, AGuardedCallIsBranchedOver) {
  const ptx::Function function = inlined("@%p1 call (%r2), f, (%r1); ret;",
                                         ".func (.reg .b32 %y) f(.reg .b32 %x)"
                                         " { add.u32 %y, %x, 1; ret; }");
  EXPECT_EQ(lines_of(function),
            (Lines{"@!%p1 bra f$0$after", "mov.b32 %x, %r1", "add.u32 %y, %x, 1",
                   "f$0$end: mov.b32 %r2, %y", "f$0$after: ret"}));
}

TEST(Inline, RegistersAndConstantsMayBePassedForVariables) {
  EXPECT_EQ(lines_of(inlined("call (%r2), add_one, (41); ret;", add_one)),
            (Lines{"mov.b32 add_one$0$x+0, 41", "mov.u32 %a1, add_one$0$x+0", "add.u32 %a2, %a1, 1",
                   "mov.u32 add_one$0$sum+0, %a2", "add_one$0$end: mov.b32 %r2, add_one$0$sum+0",
                   "ret"}));
}

TEST(Inline, VariablesMayBePassedForRegisters) {
  EXPECT_EQ(lines_of(inlined("{ .param .b32 in; .param .b32 out; st.param.b32 [in], 5;"
                             " call (out), f, (in); ld.param.b32 %r1, [out]; } ret;",
                             ".func (.reg .b32 %y) f(.reg .b32 %x) { add.u32 %y, %x, 1; ret; }")),
            (Lines{"mov.b32 in+0, 5", "mov.b32 %x, in+0", "add.u32 %y, %x, 1",
                   "f$0$end: mov.b32 out+0, %y", "mov.b32 %r1, out+0", "ret"}));
}

TEST(Inline, StructuresByPlaceBecomeRegistersToo) {
  const ptx::Function function = inlined(
      R"({ .param .align 8 .b8 in[16];
    st.param.v2.f32 [in], {%f1, %f2}; st.param.b64 [in+8], %rd1;
    call f, (in); } ret;)",
      ".func f(.param .align 8 .b8 x[16]) { .reg .f32 %a<3>; .reg .b64 %b;"
      " ld.param.f32 %a1, [x+4]; ld.param.u64 %b, [x+8]; ret; }");
  EXPECT_EQ(lines_of(function),
            (Lines{"mov.f32 in+0, %f1", "mov.f32 in+4, %f2", "mov.b64 in+8, %rd1",
                   "mov.f32 %a1, in+4", "mov.u64 %b, in+8", "f$0$end: ret"}));
}

TEST(Inline, PlacesThatOverlapStayInMemory) {
  const ptx::Function function =
      inlined("{ .param .b64 in; st.param.b64 [in], %rd1; call f, (in); } ret;",
              ".func f(.param .b64 x) { .reg .b32 %a; ld.param.u32 %a, [x+4]; ret; }");
  EXPECT_EQ(lines_of(function),
            (Lines{"st.param.b64 [in], %rd1", "ld.param.u32 %a, [in]", "f$0$end: ret"}));
}

TEST(Inline, BytesStayInMemory) {
  const ptx::Function function =
      inlined("{ .param .b8 in; st.param.b8 [in], %rs1; call f, (in); } ret;",
              ".func f(.param .b8 x) { .reg .b16 %a; ld.param.u8 %a, [x]; ret; }");
  EXPECT_EQ(function.body[0].mnemonic(), "st.param.b8");
  EXPECT_EQ(function.body[1].mnemonic(), "ld.param.u8");
  EXPECT_EQ(param_variables(function), 1u);
}

TEST(Inline, ExternalCallsKeepTheirParametersInMemory) {
  const ptx::Function function = inlined(R"({
    .param .b64 format; .param .b64 values; .param .b32 written;
    st.param.b64 [format], %rd1; st.param.b64 [values], %rd2;
    call.uni (written), vprintf, (format, values); } ret;)");
  EXPECT_EQ(lines_of(function), (Lines{"st.param.b64 [format], %rd1", "st.param.b64 [values], %rd2",
                                       "call.uni (written), vprintf, (format, values)", "ret"}));
  EXPECT_EQ(param_variables(function), 3u);
}

TEST(Inline, LocalVariablesAreOfTheCallAndSharedOnesOfTheFunction) {
  const ptx::Function function =
      inlined("call f; call f; ret;",
              ".func f() { .shared .align 4 .b32 s; .local .align 4 .b32 l; .reg .b32 %a;"
              " ld.shared.u32 %a, [s]; st.local.u32 [l], %a; ret; }");
  EXPECT_EQ(lines_of(function), (Lines{"ld.shared.u32 %a, [f$s]", "st.local.u32 [f$0$l], %a",
                                       "f$0$end: ld.shared.u32 %a, [f$s]",
                                       "st.local.u32 [f$1$l], %a", "f$1$end: ret"}));
  std::vector<std::string> names;
  for (const ptx::Variable& variable : function.variables) names.push_back(variable.name);
  EXPECT_EQ(names, (Lines{"spilled", "f$s", "f$0$l", "f$1$l"}));
}

TEST(Inline, IndirectBranchesOfACalleeKeepTheirTargets) {
  const ptx::Function function =
      inlined("call f; ret;",
              ".func f() { .reg .b32 %a; T: .branchtargets ONE, TWO; brx.idx %a, T;"
              " ONE: mov.u32 %a, 1; TWO: mov.u32 %a, 2; ret; }");
  EXPECT_EQ(lines_of(function)[0], "brx.idx %a, f$0$T");
  EXPECT_EQ(control_flow(function).blocks[0].successors, (std::vector<int>{1, 2}));
}

TEST(Inline, TextThatEndsWithoutReturnGetsOne) {
  EXPECT_EQ(lines_of(inlined("")), Lines{"ret"});
  EXPECT_EQ(lines_of(inlined("bar.sync 0;")), (Lines{"bar.sync 0", "ret"}));
  EXPECT_EQ(lines_of(inlined("@%p1 bra L; ret; L:")), (Lines{"@%p1 bra L", "ret", "L: ret"}));
  EXPECT_EQ(lines_of(inlined("L: bra L;")), Lines{"L: bra L"});
}

TEST(Inline, ParametersByARegisterAreInLocalMemory) {
  const ptx::Function function =
      inlined("{ .param .align 4 .b8 in[8]; st.param.b32 [in], %r1; call f, (in); } ret;",
              ".func f(.param .align 4 .b8 x[8]) { .reg .b32 %a; .reg .b64 %p;"
              " mov.b64 %p, x; ld.param.u32 %a, [%p+4]; ret; }");
  EXPECT_EQ(lines_of(function), (Lines{"st.param.b32 [in], %r1", "mov.b64 %p, in",
                                       "ld.local.u32 %a, []", "f$0$end: ret"}));
}

TEST(Inline, FunctionsThatCallEachOtherAreAppended) {
  const ptx::Function function =
      inlined("call f; ret;", ".func g(); .func f() { call g; ret; } .func g() { call f; ret; }");
  const Lines lines = lines_of(function);
  // The entry calls f, which follows it, by a jump.
  EXPECT_EQ(lines[0], "mov.b64 %stack_pointer, call stack");
  EXPECT_EQ(lines[1], "st.local.b32 [], 0");
  EXPECT_EQ(lines[2], "bra.call f$start, call$0$back");
  EXPECT_EQ(lines[3], "call$0$back: ret");
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [](const std::string& line) {
                            return line.find("bra.call.recursive") != std::string::npos;
                          }),
            2);
}

TEST(Inline, RegistersThatRecursionOverwritesAreSaved) {
  const ptx::Function function =
      inlined("call (%r1), f, (%r2); ret;",
              ".func (.reg .b32 %y) f(.reg .b32 %x) { .reg .b32 %a<3>; .reg .pred %q;"
              " setp.eq.u32 %q, %x, 0; mov.u32 %y, %x; @%q ret; add.u32 %a1, %x, -1;"
              " call (%a2), f, (%a1); add.u32 %y, %a2, %x; ret; }");
  const Lines lines = lines_of(function);
  const auto count = [&](const char* line) { return std::count(lines.begin(), lines.end(), line); };
  EXPECT_EQ(count("st.local.b32 [], %x"), 1);           // read after the call
  EXPECT_EQ(count("f$start: ld.local.b32 %x, []"), 1);  // the parameter
  EXPECT_EQ(count("ld.local.b32 %x, []"), 1);
  EXPECT_EQ(count("st.local.b32 [], %a1"), 1);  // only as the parameter
  EXPECT_EQ(count("ld.local.b32 %a1, []"), 0);
}

TEST(Inline, RefusesAWrongNumberOfParameters) {
  EXPECT_EQ(error_of("\ncall (%r1), add_one, (%r2, %r3); ret;", add_one),
            "text:2: passes 2 values where add_one has 1");
}

TEST(Inline, RefusesWhatGrowsBeyondMeasure) {
  std::string functions = ".func f0() { membar.gl; membar.gl; ret; }";
  for (int i = 1; i <= 24; ++i) {
    const std::string call = "call f" + std::to_string(i - 1) + "; ";
    functions += ".func f" + std::to_string(i) + "() { " + call + call + "ret; }";
  }
  EXPECT_EQ(error_of("call f24; ret;", functions, 100),
            "text:1: k has more than 100 instructions with all that it calls");
}

}  // namespace
}  // namespace rung::vgpu
