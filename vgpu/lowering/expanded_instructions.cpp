#include "vgpu/lowering/expanded_instructions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "vgpu/model/tensor_map.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

// The elements of PTX's table "tensormap.replace: .elemtype", in its order.
constexpr std::array elements = {
    TensorElement::u8,           TensorElement::u16,  TensorElement::u32,
    TensorElement::s32,          TensorElement::u64,  TensorElement::s64,
    TensorElement::f16,          TensorElement::f32,  TensorElement::f32_flushed,
    TensorElement::f64,          TensorElement::bf16, TensorElement::tf32,
    TensorElement::tf32_flushed, TensorElement::u4,   TensorElement::u4_padded,
    TensorElement::u6_padded};
constexpr std::uint64_t max_swizzle = static_cast<std::uint64_t>(TensorSwizzle::bytes_128);
constexpr std::int64_t map_bytes = 128, copied_bytes = 16;

bool is_vector_width(std::string_view modifier) {
  return modifier == "v2" || modifier == "v4" || modifier == "v8";
}

Operand immediate(std::uint64_t value) {
  Operand operand;
  operand.kind = Operand::Kind::immediate;
  operand.bits = value;
  return operand;
}

/// The instructions that take the place of one.
class Expansion {
 public:
  Expansion(Function& function, const Instruction& edit, std::string_view name)
      : function_(function), edit_(edit), name_(name) {}

  std::vector<Instruction> made() {
    if (edit_.opcode == Opcode::fence) {
      add(Opcode::fence, {"acq_rel", edit_.modifiers.back()}, {});
    } else if (edit_.is(Opcode::atom, Opcode::red)) {
      split();
    } else if (edit_.opcode == Opcode::tcgen05) {
      gather_results();
    } else if (edit_.has("replace")) {
      replace();
    } else if (edit_.has("cp_fenceproxy")) {
      copy();
    } else {
      fail("is not supported");
    }
    return std::move(made_);
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw std::invalid_argument(
        fmt::format("{}:{}: {} {}", name_, edit_.line, edit_.mnemonic(), why));
  }

  Instruction& add(Opcode opcode, std::vector<std::string> modifiers,
                   std::vector<Operand> operands) {
    Instruction& instruction = made_.emplace_back();
    instruction.opcode = opcode;
    instruction.modifiers = std::move(modifiers);
    instruction.operands = std::move(operands);
    instruction.guard = edit_.guard;
    instruction.guard_negated = edit_.guard_negated;
    instruction.line = edit_.line;
    instruction.source = edit_.source;
    return instruction;
  }

  Operand temporary(Type type) {
    Operand operand;
    operand.kind = Operand::Kind::reg;
    operand.reg = static_cast<int>(function_.registers.size());
    function_.registers.push_back({fmt::format("%tensormap{}", operand.reg), type});
    return operand;
  }

  /// The state space of an access, or none for a generic address.
  std::vector<std::string> in_space(std::string_view space, std::vector<std::string> types) const {
    if (!space.empty()) types.insert(types.begin(), std::string(space));
    return types;
  }

  static Operand at(Operand address, std::int64_t offset) {
    address.offset += offset;
    return address;
  }

  /// Stores a value to a field. A register that is wider than the field is truncated.
  void store(std::size_t field, int bits, const Operand& value) {
    const bool is_shared = edit_.has("shared::cta") || edit_.has("shared");
    const std::string_view space = is_shared ? "shared" : edit_.has("global") ? "global" : "";
    Operand stored = value;
    if (value.kind == Operand::Kind::immediate) {
      stored = temporary(bits == 64 ? Type::b64 : Type::b32);
      add(Opcode::mov, {bits == 64 ? "b64" : "b32"}, {stored, value});
    }
    add(Opcode::st, in_space(space, {fmt::format("b{}", bits)}),
        {at(edit_.operands[0], static_cast<std::int64_t>(field)), stored});
  }

  static void guard(Instruction& instruction, const Operand& by) {
    instruction.guard = by.reg;
    instruction.guard_negated = false;
  }

  Operand sum(const Operand& value, std::uint64_t addend) {
    const Operand result = temporary(Type::b32);
    add(Opcode::add, {"u32"}, {result, value, immediate(addend)});
    return result;
  }

  /// An atomic operation on a vector, element by element.
  void split() {
    std::vector<std::string> modifiers = edit_.modifiers;
    std::erase_if(modifiers, is_vector_width);
    const std::string& type = modifiers.back();
    const std::int64_t bytes = type == "f16" || type == "bf16" ? 2 : 4;
    const std::size_t address = edit_.opcode == Opcode::atom ? 1 : 0;
    if (edit_.operands.size() != address + 2 ||
        edit_.operands[address].kind != Operand::Kind::address) {
      fail("is not supported with these operands");
    }
    const std::vector<Operand>& sources = edit_.operands[address + 1].elements;
    std::vector<Operand> results;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      std::vector<Operand> operands = {
          at(edit_.operands[address], static_cast<std::int64_t>(i) * bytes), sources[i]};
      if (address == 1) {
        // A result may be in a register that a later element reads.
        results.push_back(temporary(bytes == 2 ? Type::b16 : Type::b32));
        operands.insert(operands.begin(), results.back());
      }
      add(edit_.opcode, modifiers, std::move(operands));
    }
    const std::vector<Operand>& given = edit_.operands[0].elements;
    for (std::size_t i = 0; i < std::min(results.size(), given.size()); ++i) {
      if (given[i].kind != Operand::Kind::reg) continue;
      add(Opcode::mov, {bytes == 2 ? "b16" : "b32"}, {given[i], results[i]});
    }
  }

  std::uint64_t constant(std::uint64_t most) const {
    const Operand& value = edit_.operands.back();
    if (value.kind != Operand::Kind::immediate || value.bits > most) {
      fail(fmt::format("takes a constant of at most {}", most));
    }
    return value.bits;
  }

  void replace() {
    if (edit_.operands.size() < 2 || edit_.operands[0].kind != Operand::Kind::address) {
      fail("takes an address and a value");
    }
    const Operand& value = edit_.operands.back();
    const auto is = [this](std::string_view field) { return edit_.has(field); };
    if (is("global_address")) return store(offsetof(TensorMap, address), 64, value);
    if (is("rank")) return store(offsetof(TensorMap, dimensions), 8, sum(value, 1));  // from zero
    if (is("elemtype")) {
      const auto element = elements[constant(elements.size() - 1)];
      store(offsetof(TensorMap, tag), 64, immediate(TensorMap::valid_tag));
      return store(offsetof(TensorMap, element), 8, immediate(static_cast<std::uint64_t>(element)));
    }
    if (is("swizzle_mode")) {
      return store(offsetof(TensorMap, swizzle), 8, immediate(constant(max_swizzle)));
    }
    if (is("fill_mode")) return store(offsetof(TensorMap, fill_nan), 8, immediate(constant(1)));
    // Neither interleaved layouts nor other atoms of swizzles.
    if (is("interleave_layout") || is("swizzle_atomicity")) return static_cast<void>(constant(0));
    replace_of_dimension(value);
  }

  void replace_of_dimension(const Operand& value) {
    const auto is = [this](std::string_view field) { return edit_.has(field); };
    const Operand& ordinal = edit_.operands[1];
    const std::uint64_t most = TensorMap::max_dimensions - (is("global_stride") ? 2 : 1);
    if (edit_.operands.size() != 3 || ordinal.kind != Operand::Kind::immediate ||
        ordinal.bits > most) {
      fail(fmt::format("takes an address, a dimension from 0 to {} and a value", most));
    }
    const std::size_t i = ordinal.bits;
    if (is("global_stride")) return store(offsetof(TensorMap, strides) + 8 * i, 64, value);
    if (is("global_dim")) return store(offsetof(TensorMap, sizes) + 4 * i, 32, sum(value, ~0ull));
    if (is("box_dim")) return store(offsetof(TensorMap, box) + 2 * i, 16, value);
    if (is("element_stride")) return store(offsetof(TensorMap, steps) + i, 8, value);
    fail("is not supported");
  }

  /// A predicate that is true in lane 0 of a warp that the instruction's guard does not exclude.
  Operand first_lane() {
    Operand lane, result = temporary(Type::pred);
    lane.kind = Operand::Kind::special;
    lane.name = "laneid";
    const Operand own = temporary(Type::b32);
    add(Opcode::mov, {"u32"}, {own, lane}).guard = -1;
    if (edit_.guard < 0) {
      add(Opcode::setp, {"eq", "u32"}, {result, own, immediate(0)});
      return result;
    }
    Operand own_guard;
    own_guard.kind = Operand::Kind::reg;
    own_guard.reg = edit_.guard;
    own_guard.negated = edit_.guard_negated;
    add(Opcode::setp, {"eq", "and", "u32"}, {result, own, immediate(0), own_guard}).guard = -1;
    return result;
  }

  /// One lane copies the map from shared to global memory, between barriers of the warp.
  void copy() {
    if (edit_.operands.size() != 3 || edit_.operands[0].kind != Operand::Kind::address ||
        edit_.operands[1].kind != Operand::Kind::address) {
      fail("takes two addresses and 128");
    }
    const Operand all = immediate(0xffffffff);
    const Operand is_first = first_lane();
    add(Opcode::bar, {"warp", "sync"}, {all});
    for (std::int64_t byte = 0; byte < map_bytes; byte += copied_bytes) {
      Operand pair;
      pair.kind = Operand::Kind::vector;
      pair.elements = {temporary(Type::b64), temporary(Type::b64)};
      guard(add(Opcode::ld, {"shared", "v2", "b64"}, {pair, at(edit_.operands[1], byte)}),
            is_first);
      guard(add(Opcode::st, {"global", "v2", "b64"}, {at(edit_.operands[0], byte), pair}),
            is_first);
    }
    add(Opcode::fence, {"acq_rel", edit_.has("sys") ? "sys" : "gpu"}, {});
    add(Opcode::bar, {"warp", "sync"}, {all});
  }

  /// tcgen05.ld.red has a second result, which becomes the last register of its vector.
  void gather_results() {
    Instruction one = edit_;
    auto& operands = one.operands;
    if (operands.size() < 3 || operands[0].kind != Operand::Kind::vector ||
        operands[1].kind != Operand::Kind::reg) {
      fail("takes registers, one for the reduction, and an address");
    }
    operands[0].elements.push_back(operands[1]);
    operands.erase(operands.begin() + 1);
    made_.push_back(std::move(one));
  }

  Function& function_;
  const Instruction& edit_;
  std::string_view name_;
  std::vector<Instruction> made_;
};

bool is_expanded(const Instruction& instruction) {
  return instruction.unknown_word == "tensormap" ||
         (instruction.opcode == Opcode::fence && instruction.has("tensormap::generic")) ||
         (instruction.opcode == Opcode::tcgen05 && instruction.has("red")) ||
         (instruction.is(Opcode::atom, Opcode::red) &&
          std::ranges::any_of(instruction.modifiers, is_vector_width));
}

void expand(Function& function, std::string_view name) {
  if (std::ranges::none_of(function.body, is_expanded)) return;
  const std::vector<Instruction> body = std::exchange(function.body, {});
  std::vector<std::size_t> places;  // of each instruction before, and of the end
  for (const Instruction& instruction : body) {
    places.push_back(function.body.size());
    if (!is_expanded(instruction)) {
      function.body.push_back(instruction);
      continue;
    }
    for (Instruction& each : Expansion(function, instruction, name).made()) {
      function.body.push_back(std::move(each));
    }
  }
  places.push_back(function.body.size());
  for (ptx::Label& label : function.labels) label.at = places.at(label.at);
}

}  // namespace

void expand_instructions(ptx::Module& module, std::string_view name) {
  for (Function& function : module.functions) expand(function, name);
}

}  // namespace rung::vgpu
