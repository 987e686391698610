#include "vgpu/ptx/opcodes.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace rung::vgpu::ptx {
namespace {

struct Row {
  std::string_view word;
  InstructionKind kind = InstructionKind::other;
  Fact facts = Fact::none;
};

constexpr auto make_rows() {
  using enum Fact;
  return std::to_array<Row>({
      {},  // Opcode::unknown
#define RUNG_PTX_INSTRUCTION(id, opcode, kind, facts) {opcode, InstructionKind::kind, facts},
#include "vgpu/ptx/instructions.def"
  });
}

constexpr auto rows = make_rows();  // by opcode

const Row& row(Opcode opcode) { return rows[static_cast<std::size_t>(opcode)]; }

constexpr std::string_view word_of(Opcode opcode) {
  return rows[static_cast<std::size_t>(opcode)].word;
}

constexpr auto sorted_by_word() {
  std::array<Opcode, rows.size() - 1> opcodes{};
  for (std::size_t i = 0; i < opcodes.size(); ++i) opcodes[i] = static_cast<Opcode>(i + 1);
  std::ranges::sort(opcodes, {}, word_of);
  return opcodes;
}

constexpr auto by_word = sorted_by_word();
static_assert(std::ranges::adjacent_find(by_word, {}, word_of) == by_word.end(),
              "two rows of instructions.def have the same opcode");

}  // namespace

Opcode opcode_named(std::string_view word) {
  const auto found = std::ranges::lower_bound(by_word, word, {}, word_of);
  return found != by_word.end() && word_of(*found) == word ? *found : Opcode::unknown;
}

std::string_view name(Opcode opcode) { return row(opcode).word; }

InstructionKind kind_of(Opcode opcode) { return row(opcode).kind; }

bool has(Opcode opcode, Fact fact) {
  return (static_cast<unsigned>(row(opcode).facts) & static_cast<unsigned>(fact)) != 0;
}

}  // namespace rung::vgpu::ptx
