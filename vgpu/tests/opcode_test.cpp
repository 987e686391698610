#include "vgpu/ptx/opcodes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vgpu/ptx/module.hpp"
#include "vgpu/ptx/parser.hpp"

namespace rung::vgpu::ptx {
namespace {

std::vector<Opcode> all_opcodes() {
  return {
#define RUNG_PTX_INSTRUCTION(id, opcode, kind, facts) Opcode::id,
#include "vgpu/ptx/instructions.def"
  };
}

TEST(Opcode, IsFoundByTheWordOfItsRow) {
  for (const Opcode opcode : all_opcodes()) {
    EXPECT_FALSE(name(opcode).empty());
    EXPECT_EQ(opcode_named(name(opcode)), opcode) << name(opcode);
  }
}

TEST(Opcode, IsUnknownForAnyOtherWord) {
  for (const char* word : {"", "a", "abz", "addcc", "and_", "ld.global", "zzz"}) {
    EXPECT_EQ(opcode_named(word), Opcode::unknown) << word;
  }
  EXPECT_FALSE(has(Opcode::unknown, Fact::lane_wise | Fact::loads | Fact::no_result));
}

TEST(Opcode, FactsDoNotContradictEachOther) {
  constexpr Fact effects = Fact::stores | Fact::orders_memory | Fact::warp_wide | Fact::suspends |
                           Fact::ends_block | Fact::exposes_values | Fact::no_result;
  for (const Opcode opcode : all_opcodes()) {
    const auto is = [&](Fact fact) { return has(opcode, fact); };
    EXPECT_FALSE(is(Fact::lane_wise) && is(effects)) << name(opcode);
    EXPECT_FALSE(is(Fact::in_place) && !is(Fact::lane_wise)) << name(opcode);
    EXPECT_FALSE(is(Fact::defines_result) && is(Fact::no_result)) << name(opcode);
    EXPECT_FALSE(is(Fact::ends_block) && !is(Fact::no_result)) << name(opcode);
    EXPECT_FALSE(is(Fact::loads) && is(Fact::stores)) << name(opcode);
    EXPECT_FALSE(is(Fact::member_mask) && !is(Fact::warp_wide)) << name(opcode);
  }
}

TEST(Opcode, UnknownWordsKeepTheirText) {
  const Module module = parse(
      ".version 8.7\n.target sm_90\n.address_size 64\n"
      ".visible .entry kernel() { frobnicate.b32 1; ret; }",
      "text");
  const Instruction& instruction = module.functions.at(0).body.at(0);
  EXPECT_EQ(instruction.opcode, Opcode::unknown);
  EXPECT_EQ(instruction.mnemonic(), "frobnicate.b32");
}

TEST(Opcode, FormsOfWmmaLoadOrStore) {
  Instruction instruction;
  instruction.set_opcode("wmma");
  instruction.modifiers = {"load", "a"};
  EXPECT_TRUE(instruction.is_load());
  EXPECT_FALSE(instruction.is_store());
  instruction.modifiers = {"mma"};
  EXPECT_FALSE(instruction.is_load() || instruction.is_store());
}

}  // namespace
}  // namespace rung::vgpu::ptx
