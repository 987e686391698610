// Tracks undefined values from registers that may be read before they are written; correct kernels
// have almost none. A value is reported only where it matters: in an address, a branch, a guard, or
// a store to global memory. A store of an undefined value to shared memory counts as no store:
// correct kernels pad their last tile with arbitrary register contents. A load that only copies
// such a value is tracked, too.

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "vgpu/engine/control/guard.hpp"
#include "vgpu/engine/memory/undefined.hpp"
#include "vgpu/lowering/lowering.hpp"
#include "vgpu/lowering/operand_rules.hpp"
#include "vgpu/program/operands.hpp"
#include "vgpu/ptx/opcodes.hpp"

namespace rung::vgpu {
namespace {

using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

std::uint8_t bits_of(Type type) {
  return static_cast<std::uint8_t>(type == Type::pred ? 1 : 8 * ptx::size_of(type));
}

bool is_integer(std::string_view modifier) {
  const Type type = ptx::type_named(modifier);
  return type != Type::none && (modifier.starts_with("s") || modifier.starts_with("u"));
}

bool is_constant(const Operand& operand) { return operand.kind == Operand::Kind::immediate; }

/// True if it inserts or permutes bits at constant positions, and no source is the destination.
bool moves_constant_bits(const ptx::Instruction& instruction) {
  const auto& operands = instruction.operands;
  const auto overwrites = [&](const Operand& from) {
    return from.kind == Operand::Kind::reg && from.reg == operands[0].reg;
  };
  if (operands.size() < 4 || overwrites(operands[1]) || overwrites(operands[2])) return false;
  if (instruction.opcode == Opcode::bfi)
    return is_constant(operands[3]) && is_constant(operands[4]);
  constexpr std::uint64_t copies_signs = 0x8888;
  return instruction.opcode == Opcode::prmt && instruction.modifiers.size() == 1 &&
         is_constant(operands[3]) && (operands[3].bits & copies_signs) == 0;
}

/// True if each half of the result depends on the same halves of the operands alone.
bool is_packed(const ptx::Instruction& instruction) {
  return instruction.is(Opcode::add, Opcode::sub, Opcode::mul, Opcode::min, Opcode::max,
                        Opcode::neg, Opcode::abs, Opcode::fma) &&
         instruction.modifiers.back().ends_with("x2");
}

/// True if it shifts by a constant and fills with zeros.
bool shifts_by_constant(const ptx::Instruction& instruction) {
  const Operand& by = instruction.operands[2];
  if (by.kind != Operand::Kind::immediate || by.bits >= 64) return false;
  if (instruction.opcode == Opcode::shl) return true;
  return instruction.opcode == Opcode::shr &&
         !ptx::is_signed(ptx::type_named(instruction.modifiers.back()));
}

}  // namespace

/// True if undefined operands other than addresses are an error in this instruction. Contents of local memory are not
/// tracked, nor are values that pass from lane to lane except by shuffles: a tracking version reports them there.
bool Lowering::values_matter(const Instruction& instruction) const {
  const bool tracks = kernel_->tracks_loads;
  if (instruction.is_store()) {
    return !instruction.has("param") && !instruction.has("shared") &&
           (tracks || !instruction.has("local"));
  }
  if (instruction.has(ptx::Fact::exposes_values)) return true;
  return tracks && instruction.has(ptx::Fact::defines_result) && !instruction.is_load() &&
         instruction.opcode != Opcode::shfl;
}

void Lowering::find_undefined() {
  undefined_ = undefined_reads(function_, cfg_);
  kernel_->tracked_loads = trackable_loads(function_);
  if (undefined_.empty() && !kernel_->tracks_loads) return;
  undefined_source_ =
      undefined_sources(function_, undefined_, copied_,
                        kernel_->tracks_loads ? kernel_->tracked_loads : std::vector<bool>());
  stores_locally_ = std::any_of(
      function_.body.begin(), function_.body.end(),
      [](const Instruction& each) { return each.opcode == Opcode::st && each.has("local"); });
  shadow_rows_.resize(function_.registers.size());
  for (std::size_t reg = 0; reg < shadow_rows_.size(); ++reg) {
    if (undefined_source_[reg] >= 0) shadow_rows_[reg] = rows_->scratch();
  }
  for (const UndefinedRead& read : undefined_) {
    kernel_->undefined_rows.push_back(shadow_rows_[static_cast<std::size_t>(read.reg)]);
  }
}

/// The text about a value from a register that is read before it is written.
std::string Lowering::source_text(int source) const {
  const auto read = std::find_if(undefined_.begin(), undefined_.end(),
                                 [&](const UndefinedRead& at) { return at.reg == source; });
  const Site& site = kernel_->sites[read->instruction];
  return fmt::format(
      "the value comes from register {}, which is read{}{} (PTX line {}) before "
      "anything is written to it",
      function_.registers[static_cast<std::size_t>(source)].name, site.where.empty() ? "" : " at ",
      site.where, site.ptx_line);
}

/// Emits a report if the register's lowest `bytes` bytes are undefined.
void Lowering::report_undefined_use(int reg, bool under_guard, int bytes) {
  const int source = undefined_source_[static_cast<std::size_t>(reg)];
  if (source < 0) return;
  const int first_load = static_cast<int>(function_.registers.size());
  UndefinedUse use;
  if (source >= first_load) {
    use.load = static_cast<std::uint32_t>(source - first_load);
  } else {
    use.text = source_text(source);
  }
  kernel_->undefined_uses.push_back(std::move(use));
  const auto imm = imm_to(kernel_->undefined_uses.back());
  std::vector<std::uint32_t> rows = {shadow_rows_[static_cast<std::size_t>(reg)]};
  if (bytes < register_bytes(reg)) {
    const std::uint32_t low = rows_->scratch();
    emit(undefined_part, imm_of(UndefinedPart{0, static_cast<std::uint8_t>(8 * bytes), 0, false}),
         {low, rows[0]});
    rows[0] = low;
  }
  if (under_guard) {
    emit(report_undefined, imm, rows);
  } else {
    emit_unguarded(report_undefined, imm, rows);
  }
}

/// Emits shadow code before the instruction.
void Lowering::follow_undefined(const Instruction& instruction) {
  if (shadow_rows_.empty()) return;
  constexpr int all = 8;
  if (instruction.guard >= 0) report_undefined_use(instruction.guard, false, all);
  const bool all_matter = values_matter(instruction);
  const std::size_t first = has_destination(instruction) ? 1 : 0;
  for (std::size_t i = first; i < instruction.operands.size(); ++i) {
    const Operand& operand = instruction.operands[i];
    const bool is_address = operand.kind == Operand::Kind::address;
    const bool selects_lanes = kernel_->tracks_loads && instruction.opcode == Opcode::shfl && i > 1;
    if (!all_matter && !is_address && !selects_lanes) continue;
    const int bytes = is_address || instruction.opcode != Opcode::st
                          ? all
                          : ptx::size_of(ptx::type_named(instruction.modifiers.back()));
    operands::for_each_register(operand, [&](int reg) { report_undefined_use(reg, true, bytes); });
  }
  bool has_shadow = false;
  for_each_definition(instruction, [&](int reg) {
    has_shadow = has_shadow || undefined_source_[static_cast<std::size_t>(reg)] >= 0;
  });
  if (has_shadow) shadow_results(instruction);
}

/// Emitted after a store to shared memory.
void Lowering::take_back_undefined_stores(const Instruction& instruction) {
  if (shadow_rows_.empty() || instruction.opcode != Opcode::st || !instruction.has("shared")) {
    return;
  }
  follow_in_shared(take_back_undefined, instruction, instruction.operands[1],
                   instruction.operands[0]);
}

/// True for a load that passes on undefined values from shared memory. For other loads these are
/// reported immediately, as they are if the kernel stores to local memory, whose contents are not
/// tracked.
bool Lowering::copies_from_shared(const Instruction& instruction) const {
  return instruction.opcode == Opcode::ld && instruction.has("shared") && !stores_locally_ &&
         copied_.contains(site_);
}

/// Emits the handler for each tracked element of `values`, which are stored at `address`.
void Lowering::follow_in_shared(Handler handler, const Instruction& instruction,
                                const Operand& values, const Operand& address) {
  const int bytes = ptx::size_of(ptx::type_named(instruction.modifiers.back()));
  const bool has_register = address.reg >= 0;
  std::int64_t offset = address.offset;
  if (!has_register && !address.name.empty()) {
    offset += static_cast<std::int64_t>(address_of(instruction, address.name));
  }
  std::uint16_t within = 0;  // the access
  const auto follow = [&](const Operand& element) {
    if (element.kind == Operand::Kind::reg &&
        undefined_source_[static_cast<std::size_t>(element.reg)] >= 0) {
      const int address_bytes = has_register ? register_bytes(address.reg) : 0;
      const SharedValue value{static_cast<std::int32_t>(offset), static_cast<std::uint8_t>(bytes),
                              static_cast<std::uint8_t>(address_bytes), within};
      emit(handler, imm_of(value),
           {shadow_row(element), has_register ? register_row(address.reg) : shadow_row(element)});
    }
    offset += bytes;
    within = static_cast<std::uint16_t>(within + bytes);
  };
  if (values.kind == Operand::Kind::vector) {
    for (const Operand& element : values.elements) follow(element);
  } else {
    follow(values);
  }
}

/// The row of an operand's shadow; a row of zeros if the operand is defined.
std::uint32_t Lowering::shadow_row(const Operand& operand) {
  const bool follows = operand.kind == Operand::Kind::reg &&
                       undefined_source_[static_cast<std::size_t>(operand.reg)] >= 0;
  return follows ? shadow_rows_[static_cast<std::size_t>(operand.reg)] : rows_->constant(8, 0);
}

void Lowering::shadow_results(const Instruction& instruction) {
  const Opcode opcode = instruction.opcode;
  const auto& operands = instruction.operands;
  const bool to_register = operands[0].kind == Operand::Kind::reg;
  const std::uint32_t result = to_register ? shadow_row(operands[0]) : 0;
  if (opcode == Opcode::mov && operands.size() == 2) return shadow_move(instruction);
  if (kernel_->tracks_loads && kernel_->tracks(site_)) {
    return follow_in_shared(undefined_by_load, instruction, operands[0], operands[1]);
  }
  if (kernel_->tracks_loads && opcode == Opcode::shfl) return shadow_shuffle(instruction);
  if (copies_from_shared(instruction)) {
    return follow_in_shared(undefined_in_shared, instruction, operands[0], operands[1]);
  }
  if (to_register && operands.size() == 3) {
    if (instruction.is(Opcode::and_, Opcode::or_)) return shadow_logic(instruction);
    if (opcode == Opcode::xor_) {
      return emit(undefined_if_either, 0,
                  {result, shadow_row(operands[1]), shadow_row(operands[2])});
    }
    if (shifts_by_constant(instruction)) return shadow_shift(instruction);
  }
  if (to_register && moves_constant_bits(instruction)) {
    return opcode == Opcode::bfi ? shadow_insertion(instruction) : shadow_bytes(instruction);
  }
  if (opcode == Opcode::selp && operands.size() == 4 && operands[3].kind == Operand::Kind::reg) {
    return emit(undefined_by_choice, 0,
                {result, shadow_row(operands[1]), shadow_row(operands[2]),
                 register_row(operands[3].reg), shadow_row(operands[3])});
  }
  const auto& words = instruction.modifiers;
  if (opcode == Opcode::cvt && words.size() == 2 && is_integer(words[0]) && is_integer(words[1])) {
    const auto width =
        std::min(bits_of(ptx::type_named(words[0])), bits_of(ptx::type_named(words[1])));
    return shadow_part(operands[0].reg, operands[1], {0, width, 0, false});
  }
  if (to_register && is_packed(instruction)) return shadow_halves(instruction);
  shadow_all(instruction);
}

void Lowering::shadow_halves(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  std::vector<std::uint32_t> rows;
  for (const Operand& operand : operands) rows.push_back(shadow_row(operand));
  const auto width = static_cast<std::uint64_t>(4 * register_bytes(operands[0].reg));
  emit(undefined_by_halves, width | (operands.size() - 1) << 32, std::move(rows));
}

void Lowering::shadow_shift(const Instruction& instruction) {
  const Operand& to = instruction.operands[0];
  const Operand& from = instruction.operands[1];
  const auto by = static_cast<std::uint8_t>(instruction.operands[2].bits);
  const int left = 8 * register_bytes(to.reg) - by;
  const auto width = static_cast<std::uint8_t>(std::max(left, 0));
  const bool up = instruction.opcode == Opcode::shl;
  shadow_part(to.reg, from,
              up ? UndefinedPart{0, width, by, false} : UndefinedPart{by, width, 0, false});
}

/// bfi: bits of operand 1 at a constant position, between bits of operand 2.
void Lowering::shadow_insertion(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  const int to = operands[0].reg, bits = 8 * register_bytes(to);
  const auto place = [&](std::uint64_t low_byte) {
    return static_cast<std::uint8_t>(std::min<std::uint64_t>(low_byte, bits));
  };
  const std::uint8_t begin = place(operands[3].bits & 0xFF);
  const std::uint8_t end = place(begin + (operands[4].bits & 0xFF));
  const auto width = [](int from, int behind) { return static_cast<std::uint8_t>(behind - from); };
  shadow_part(to, operands[2], {0, begin, 0, false});
  // Bits beyond the register are not inserted.
  if (begin < bits) shadow_part(to, operands[1], {0, width(begin, end), begin, true});
  if (end < bits) shadow_part(to, operands[2], {end, width(end, bits), end, true});
}

/// prmt: each byte is one of the eight bytes of operands 1 and 2.
void Lowering::shadow_bytes(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  for (int i = 0; i < 4; ++i) {
    const auto selected = operands[3].bits >> 4 * i & 7;
    const auto from = static_cast<std::uint8_t>(8 * (selected & 3));
    shadow_part(operands[0].reg, operands[selected < 4 ? 1 : 2],
                {from, 8, static_cast<std::uint8_t>(8 * i), i > 0});
  }
}

/// For instructions without a more precise rule: the results are undefined if any operand is.
void Lowering::shadow_all(const Instruction& instruction) {
  std::vector<std::uint32_t> rows;
  for_each_definition(instruction, [&](int reg) {
    if (undefined_source_[static_cast<std::size_t>(reg)] >= 0) {
      rows.push_back(shadow_rows_[static_cast<std::size_t>(reg)]);
    }
  });
  const std::size_t written = rows.size();
  if (passes_undefined(instruction)) {
    for (std::size_t i = reads_destination(instruction) ? 0 : 1; i < instruction.operands.size();
         ++i) {
      operands::for_each_register(instruction.operands[i], [&](int reg) {
        if (undefined_source_[static_cast<std::size_t>(reg)] >= 0) {
          rows.push_back(shadow_rows_[static_cast<std::size_t>(reg)]);
        }
      });
    }
  }
  const std::uint64_t counts = written | (rows.size() - written) << 32;
  emit(undefined_if_any, counts, std::move(rows));
}

/// mov of whole registers, or of parts.
void Lowering::shadow_move(const Instruction& instruction) {
  const Operand& to = instruction.operands[0];
  const Operand& from = instruction.operands[1];
  const auto part_width = [&](const Operand& whole, const Operand& parts) {
    return static_cast<std::uint8_t>(8u * static_cast<unsigned>(register_bytes(whole.reg)) /
                                     parts.elements.size());
  };
  if (from.kind == Operand::Kind::vector && to.kind == Operand::Kind::reg) {
    const std::uint8_t width = part_width(to, from);
    for (std::size_t i = 0; i < from.elements.size(); ++i) {
      shadow_part(to.reg, from.elements[i],
                  {0, width, static_cast<std::uint8_t>(i * width), i > 0});
    }
  } else if (to.kind == Operand::Kind::vector && from.kind == Operand::Kind::reg) {
    const std::uint8_t width = part_width(from, to);
    for (std::size_t i = 0; i < to.elements.size(); ++i) {
      if (to.elements[i].kind != Operand::Kind::reg) continue;
      shadow_part(to.elements[i].reg, from,
                  {static_cast<std::uint8_t>(i * width), width, 0, false});
    }
  } else if (to.kind == Operand::Kind::reg) {
    shadow_part(to.reg, from, {0, 64, 0, false});
  } else {
    shadow_all(instruction);
  }
}

void Lowering::shadow_part(int to, const Operand& from, UndefinedPart part) {
  if (undefined_source_[static_cast<std::size_t>(to)] < 0) return;
  emit(undefined_part, imm_of(part),
       {shadow_rows_[static_cast<std::size_t>(to)], shadow_row(from)});
}

void Lowering::shadow_logic(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  const Type type = function_.registers[static_cast<std::size_t>(operands[0].reg)].type;
  const UndefinedLogic op{instruction.opcode == Opcode::or_,
                          static_cast<std::uint8_t>(row_bytes(type))};
  emit(undefined_by_logic, imm_of(op),
       {shadow_row(operands[0]), shadow_row(operands[1]), shadow_row(operands[2]),
        source_row(instruction, operands[1], type), source_row(instruction, operands[2], type)});
}

/// shfl: shuffles the low half of the shadow as the instruction does its operand.
void Lowering::shadow_shuffle(const Instruction& instruction) {
  const auto spec = register_operation(instruction);
  const std::vector<const Operand*> operands = flattened(instruction);
  const auto value = static_cast<std::size_t>(spec->destinations);
  const auto resize = [&](int to, int from, std::uint32_t to_row, std::uint32_t from_row) {
    emit(resize_handler(to, from, false), 0, {to_row, from_row});
  };
  const std::uint32_t before = rows_->scratch(), after = rows_->scratch();
  resize(4, 8, before, shadow_row(*operands[value]));
  std::vector<std::uint32_t> rows = {after};
  if (value == 2) rows.push_back(scratch_row(0));
  rows.push_back(before);
  for (std::size_t i = value + 1; i < operands.size(); ++i) {
    rows.push_back(source_row(instruction, *operands[i], spec->operands[i]));
  }
  wait_for_members(instruction, rows);
  Instr shuffle{};
  shuffle.full = spec->full;
  shuffle.masked = spec->masked;
  shuffle.imm = spec->imm;
  set_rows(shuffle, std::move(rows));
  emit(shuffle);
  const auto shadows = [&](std::size_t i) {
    return operands[i]->kind == Operand::Kind::reg &&
           undefined_source_[static_cast<std::size_t>(operands[i]->reg)] >= 0;
  };
  if (shadows(0)) resize(8, 4, shadow_row(*operands[0]), after);
  if (value == 2 && shadows(1)) emit(undefined_if_any, 1, {shadow_row(*operands[1])});
}

}  // namespace rung::vgpu
