#include "vgpu/program/provenance.hpp"

#include <algorithm>
#include <optional>

#include "vgpu/program/operands.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using PointerKind = PointerOrigin::Kind;

/// The origin of a register; nullopt until an instruction that writes it has been processed.
using Known = std::optional<PointerOrigin>;

const PointerOrigin no_pointer = {};
const PointerOrigin unknown_origin = {PointerKind::unknown, {}, 0};

const ptx::Variable* find(const std::vector<ptx::Variable>& variables, const std::string& name) {
  const auto found = std::find_if(variables.begin(), variables.end(),
                                  [&](const ptx::Variable& known) { return known.name == name; });
  return found == variables.end() ? nullptr : &*found;
}

PointerOrigin of_symbol(const ptx::Module& module, const ptx::Function& function,
                        const std::string& name) {
  const ptx::Variable* variable = find(function.variables, name);
  if (variable == nullptr) variable = find(module.variables, name);
  if (variable == nullptr) return unknown_origin;
  switch (variable->space) {
    case ptx::Space::shared: return {PointerKind::shared, name, 0};
    case ptx::Space::local: return {PointerKind::local, name, 0};
    case ptx::Space::global:
    case ptx::Space::constant: return {PointerKind::global, name, 0};
    default: return unknown_origin;
  }
}

/// The origin of a value that is either a or b.
Known either(const Known& a, const Known& b) {
  if (!a || !b) return a ? a : b;
  return *a == *b ? a : unknown_origin;
}

/// The origin of a + b.
Known sum(const Known& a, const Known& b) {
  if (!a || !b) return std::nullopt;
  if (a->kind == PointerKind::in_param || b->kind == PointerKind::in_param) return unknown_origin;
  if (a->kind == PointerKind::none) return b;
  return b->kind == PointerKind::none ? a : unknown_origin;
}

/// The origin of a - b. The difference of two addresses in the same array is an integer.
Known difference(const Known& a, const Known& b) {
  if (!a || !b) return std::nullopt;
  if (a->kind == PointerKind::in_param) return unknown_origin;
  if (b->kind == PointerKind::none) return a;
  return *a == *b && a->kind != PointerKind::unknown ? no_pointer : unknown_origin;
}

/// True if a value of that width can hold the address: a pointer parameter needs 64 bits.
bool fits(const PointerOrigin& origin, int bytes) {
  return origin.kind == PointerKind::parameter ? bytes == 8 : bytes >= 4;
}

class Trace {
 public:
  Trace(const ptx::Module& module, const ptx::Function& function)
      : module_(module), function_(function), known_(function.registers.size()) {}

  std::vector<PointerOrigin> run() {
    // A register only changes from nullopt to an origin or `none`, and from there to `unknown`, so
    // the loop terminates.
    for (bool changed = true; changed;) {
      changed = false;
      for (const Instruction& instruction : function_.body) changed = visit(instruction) || changed;
    }
    std::vector<PointerOrigin> origins;
    for (Known& known : known_) origins.push_back(known.value_or(no_pointer));
    return origins;
  }

 private:
  bool visit(const Instruction& instruction) {
    bool changed = false;
    for_each_definition(instruction, [&](int reg) {
      Known& known = known_[static_cast<std::size_t>(reg)];
      const Known now = either(known, cut_to(reg, of_result(instruction, reg)));
      changed = changed || now != known;
      known = now;
    });
    return changed;
  }

  int bytes_of(int reg) const {
    return ptx::size_of(function_.registers[static_cast<std::size_t>(reg)].type);
  }

  Known cut_to(int reg, const Known& origin) const {
    return origin && !fits(*origin, bytes_of(reg)) ? no_pointer : origin;
  }

  Known of(const Operand& operand) const {
    if (operand.kind == Operand::Kind::reg) return known_[static_cast<std::size_t>(operand.reg)];
    if (operand.kind == Operand::Kind::symbol) {
      if (find(function_.parameters, operand.name) == nullptr) {
        return of_symbol(module_, function_, operand.name);
      }
      return PointerOrigin{PointerKind::in_param, operand.name, operand.offset};
    }
    Known origin = no_pointer;
    for (const Operand& part : operand.elements) origin = sum(origin, of(part));
    return origin;
  }

  /// The origin of the sum of the first two sources. In .param, the offset matters.
  Known of_sum(const Instruction& instruction) const {
    const Known a = of(instruction.operands.at(1));
    const Operand& b = instruction.operands.at(2);
    if (!a || a->kind != PointerKind::in_param) return sum(a, of(b));
    if (b.kind != Operand::Kind::immediate) return unknown_origin;
    return PointerOrigin{a->kind, a->symbol, a->offset + static_cast<std::int64_t>(b.bits)};
  }

  /// The origin of `reg`, one of the registers that the instruction writes.
  Known of_result(const Instruction& instruction, int reg) const {
    const auto operand = [&](std::size_t i) { return of(instruction.operands.at(i)); };
    switch (instruction.opcode) {
      case Opcode::mov:
      case Opcode::cvta:
      case Opcode::cvt:
      case Opcode::shfl: return operand(1);
      case Opcode::add: return of_sum(instruction);
      // An address with some bits set or flipped, as in swizzles, stays in its array.
      case Opcode::or_:
      case Opcode::xor_: return sum(operand(1), operand(2));
      case Opcode::selp:
      case Opcode::min:
      case Opcode::max: return either(operand(1), operand(2));
      case Opcode::sub: return difference(operand(1), operand(2));
      case Opcode::and_: return of_mask(instruction);
      case Opcode::mad: return operand(3);       // the factors are integers
      case Opcode::mapa: return unknown_origin;  // in another block
      case Opcode::ld: return bytes_of(reg) < 8 ? no_pointer : of_load(instruction, reg);
      case Opcode::ldu:
      case Opcode::atom:
      case Opcode::call: return bytes_of(reg) < 8 ? no_pointer : unknown_origin;
      default: return no_pointer;
    }
  }

  /// `and` rounds an address down if the mask's high bits are set; otherwise it extracts low bits.
  Known of_mask(const Instruction& instruction) const {
    const Operand& mask = instruction.operands.at(2);
    const int sign = instruction.has("b64") ? 63 : 31;
    const bool takes_low_bits =
        mask.kind == Operand::Kind::immediate && (mask.bits >> sign & 1) == 0;
    if (takes_low_bits) return no_pointer;
    return sum(of(instruction.operands.at(1)), of(mask));
  }

  Known of_load(const Instruction& instruction, int reg) const {
    const bool whole = instruction.has("u64") || instruction.has("b64") || instruction.has("s64");
    const Operand& address = instruction.operands.at(1);
    if (!whole || !instruction.has("param")) return unknown_origin;
    Known place = address.reg >= 0 ? known_[static_cast<std::size_t>(address.reg)] : unknown_origin;
    if (address.reg < 0 && find(function_.parameters, address.name) != nullptr) {
      place = PointerOrigin{PointerKind::in_param, address.name, 0};
    }
    if (!place || place->kind != PointerKind::in_param) return place ? unknown_origin : place;
    const std::vector<Operand>& elements = instruction.operands[0].elements;
    const auto element = std::find_if(elements.begin(), elements.end(),
                                      [&](const Operand& operand) { return operand.reg == reg; });
    const std::int64_t before = elements.empty() ? 0 : element - elements.begin();
    return PointerOrigin{PointerKind::parameter, place->symbol,
                         place->offset + address.offset + 8 * before};
  }

  const ptx::Module& module_;
  const ptx::Function& function_;
  std::vector<Known> known_;
};

}  // namespace

std::vector<PointerOrigin> trace_pointers(const ptx::Module& module,
                                          const ptx::Function& function) {
  return Trace(module, function).run();
}

PointerOrigin origin_of(const std::vector<PointerOrigin>& registers, const ptx::Module& module,
                        const ptx::Function& function, const ptx::Operand& address) {
  if (address.reg >= 0) return registers[static_cast<std::size_t>(address.reg)];
  if (address.name.empty()) return {};
  return of_symbol(module, function, address.name);
}

}  // namespace rung::vgpu
