#include "vgpu/program/call_parameters.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using ptx::Instruction;
using ptx::Operand;
using ptx::Type;

/// An access to consecutive elements of a `.param` variable.
struct ParameterAccess {
  std::size_t address, value;  // indices of operands
  Type type = Type::none;
};

std::optional<ParameterAccess> parameter_access_of(const Instruction& instruction) {
  const bool load = instruction.opcode == ptx::Opcode::ld;
  if ((!load && instruction.opcode != ptx::Opcode::st) || instruction.operands.size() != 2)
    return std::nullopt;
  if (!instruction.has("param") && !instruction.has("param::func")) return std::nullopt;
  ParameterAccess access{load ? 1u : 0u, load ? 0u : 1u};
  for (const std::string& modifier : instruction.modifiers) {
    const Type type = ptx::type_named(modifier);
    if (type != Type::none) access.type = type;
  }
  const Operand& address = instruction.operands[access.address];
  if (address.kind != Operand::Kind::address || address.reg >= 0) return std::nullopt;
  return access;
}

/// The registers and constants that the access copies.
std::vector<Operand> values_of(const Instruction& instruction, const ParameterAccess& access) {
  const Operand& value = instruction.operands[access.value];
  return value.kind == Operand::Kind::vector ? value.elements : std::vector<Operand>{value};
}

struct Candidate {
  std::map<std::int64_t, Type> places;  // by offset
  std::map<std::int64_t, int> registers;
  bool stays = false;
};

using Candidates = std::map<std::string, Candidate, std::less<>>;

class Promotion {
 public:
  explicit Promotion(ptx::Function& function) : function_(function) {
    for (const ptx::Variable& variable : function.variables) {
      if (variable.space == ptx::Space::param) candidates_[variable.name];
    }
  }

  void run() {
    if (candidates_.empty()) return;
    for (const Instruction& instruction : function_.body) look_at(instruction);
    for (auto& [name, candidate] : candidates_) settle(name, candidate);
    rewrite();
    std::erase_if(function_.variables, [&](const ptx::Variable& variable) {
      return promoted(variable.name) != nullptr;
    });
  }

 private:
  Candidate* candidate(std::string_view name) {
    const auto found = candidates_.find(name);
    return found == candidates_.end() ? nullptr : &found->second;
  }

  Candidate* promoted(std::string_view name) {
    Candidate* found = candidate(name);
    return found != nullptr && !found->stays ? found : nullptr;
  }

  void look_at(const Instruction& instruction) {
    const std::optional<ParameterAccess> access = parameter_access_of(instruction);
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
      if (!access || i != access->address) keep_all_in(instruction.operands[i]);
    }
    if (!access) return;
    const Operand& address = instruction.operands[access->address];
    Candidate* found = candidate(address.name);
    if (found == nullptr) return;
    std::int64_t offset = address.offset;
    for (const Operand& value : values_of(instruction, *access)) {
      note(*found, offset, access->type, value);
      offset += ptx::size_of(access->type);
    }
  }

  void keep_all_in(const Operand& operand) {
    if (Candidate* found = candidate(operand.name)) found->stays = true;
    for (const Operand& element : operand.elements) keep_all_in(element);
  }

  void note(Candidate& found, std::int64_t offset, Type type, const Operand& value) const {
    const int bytes = ptx::size_of(type);
    const bool is_register = value.kind == Operand::Kind::reg;
    const bool fits = !is_register || register_bytes(value.reg) == bytes;
    const bool is_value = !value.negated && value.kind != Operand::Kind::vector;
    const auto [place, is_new] = found.places.try_emplace(offset, type);
    const bool agrees = is_new || ptx::size_of(place->second) == bytes;
    if (!fits || !is_value || !agrees || bytes < 2 || bytes > 8) found.stays = true;
  }

  int register_bytes(int reg) const {
    return ptx::size_of(function_.registers[static_cast<std::size_t>(reg)].type);
  }

  /// Decides if a variable can be replaced, and allocates its registers.
  void settle(const std::string& name, Candidate& found) {
    std::int64_t end = 0;
    for (const auto& [offset, type] : found.places) {
      if (offset < end) found.stays = true;
      end = offset + ptx::size_of(type);
    }
    if (found.stays) return;
    for (const auto& [offset, type] : found.places) {
      found.registers[offset] = static_cast<int>(function_.registers.size());
      function_.registers.push_back({name + "+" + std::to_string(offset), type});
    }
  }

  void rewrite() {
    std::vector<Instruction> body;
    std::vector<std::size_t> moved_to;  // by old index
    for (const Instruction& instruction : function_.body) {
      moved_to.push_back(body.size());
      const std::optional<ParameterAccess> access = parameter_access_of(instruction);
      const Candidate* found =
          access ? promoted(instruction.operands[access->address].name) : nullptr;
      if (found == nullptr) {
        body.push_back(instruction);
      } else {
        append_moves(body, instruction, *access, *found);
      }
    }
    moved_to.push_back(body.size());
    for (ptx::Label& label : function_.labels) label.at = moved_to[label.at];
    function_.body = std::move(body);
  }

  static void append_moves(std::vector<Instruction>& body, const Instruction& instruction,
                           const ParameterAccess& access, const Candidate& found) {
    std::int64_t offset = instruction.operands[access.address].offset;
    for (const Operand& value : values_of(instruction, access)) {
      Operand place;
      place.kind = Operand::Kind::reg;
      place.reg = found.registers.at(offset);
      offset += ptx::size_of(access.type);
      if (value.kind == Operand::Kind::sink) continue;
      Instruction move = instruction;
      move.opcode = ptx::Opcode::mov;
      move.modifiers = {ptx::name(access.type)};
      move.operands = access.value == 0 ? std::vector{value, place} : std::vector{place, value};
      body.push_back(std::move(move));
    }
  }

  ptx::Function& function_;
  Candidates candidates_;
};

}  // namespace

void parameters_to_registers(ptx::Function& function) { Promotion(function).run(); }

}  // namespace rung::vgpu
