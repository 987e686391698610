// SIMD video instructions: operations on the two 16-bit or four 8-bit parts of a word (PTX ISA,
// 9.7.19). Part selectors and masks are not supported.

#include <array>
#include <bit>
#include <cstdlib>

#include "vgpu/engine/arithmetic/operations.hpp"
#include "vgpu/engine/lanes/per_lane.hpp"

namespace rung::vgpu {

namespace {

enum class Operation : std::uint8_t { add, sub, avrg, absdiff, min, max, eq, ne, lt, le, gt, ge };

struct NamedOperation {
  std::string_view name;
  Operation operation;
};
constexpr std::array arithmetic_operations = {
    NamedOperation{"vadd", Operation::add},   NamedOperation{"vsub", Operation::sub},
    NamedOperation{"vavrg", Operation::avrg}, NamedOperation{"vabsdiff", Operation::absdiff},
    NamedOperation{"vmin", Operation::min},   NamedOperation{"vmax", Operation::max}};
constexpr std::array comparison_operations = {
    NamedOperation{"eq", Operation::eq}, NamedOperation{"ne", Operation::ne},
    NamedOperation{"lt", Operation::lt}, NamedOperation{"le", Operation::le},
    NamedOperation{"gt", Operation::gt}, NamedOperation{"ge", Operation::ge}};

/// The form of an instruction, stored in Instr::imm.
struct VideoForm {
  Operation operation = Operation::add;
  std::uint8_t part_bits = 16;
  std::uint8_t signed_types = 0;  // one bit each, from the lowest: d, a, b
  bool saturates = false;
  bool sums = false;  // .add: the result is the sum of all parts, plus c
  std::array<std::uint8_t, 3> unused{};
};

std::int32_t part_of(std::uint32_t word, int shift, int bits, bool is_signed) {
  const std::uint32_t top = word << (32 - shift - bits);
  return is_signed ? static_cast<std::int32_t>(top) >> (32 - bits)
                   : static_cast<std::int32_t>(top >> (32 - bits));
}

std::int32_t apply(Operation operation, std::int32_t a, std::int32_t b) {
  switch (operation) {
    case Operation::add: return a + b;
    case Operation::sub: return a - b;
    case Operation::avrg: return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case Operation::absdiff: return std::abs(a - b);
    case Operation::min: return std::min(a, b);
    case Operation::max: return std::max(a, b);
    case Operation::eq: return a == b ? 1 : 0;
    case Operation::ne: return a != b ? 1 : 0;
    case Operation::lt: return a < b ? 1 : 0;
    case Operation::le: return a <= b ? 1 : 0;
    case Operation::gt: return a > b ? 1 : 0;
    case Operation::ge: return a >= b ? 1 : 0;
  }
  return 0;
}

std::int32_t saturated(std::int32_t value, int bits, bool is_signed) {
  const std::int32_t most = (1 << (bits - (is_signed ? 1 : 0))) - 1;
  return std::clamp(value, is_signed ? -most - 1 : 0, most);
}

std::uint32_t run_parts(const VideoForm& form, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const int bits = form.part_bits;
  std::uint32_t parts = 0, sum = c;
  for (int shift = 0; shift < 32; shift += bits) {
    std::int32_t value =
        apply(form.operation, part_of(a, shift, bits, (form.signed_types & 2) != 0),
              part_of(b, shift, bits, (form.signed_types & 4) != 0));
    if (form.saturates) value = saturated(value, bits, (form.signed_types & 1) != 0);
    sum += static_cast<std::uint32_t>(value);
    parts |= (static_cast<std::uint32_t>(value) & ((1u << bits) - 1)) << shift;
  }
  return form.sums ? sum : parts;
}

/// Declares the operand types shared by all these instructions.
struct VideoOperands {
  static std::uint32_t run(std::uint32_t a, std::uint32_t, std::uint32_t) { return a; }
};

void video_lanes(Warp& warp, const Instr& instr) {
  const auto form = instr.value<VideoForm>();
  std::uint32_t* const row = warp.row<std::uint32_t>(instr.row[0]);
  const std::uint32_t* const a = warp.row<std::uint32_t>(instr.row[1]);
  const std::uint32_t* const b = warp.row<std::uint32_t>(instr.row[2]);
  const std::uint32_t* const c = warp.row<std::uint32_t>(instr.row[3]);
  for (Mask rest = warp.mask; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    row[lane] = run_parts(form, a[lane], b[lane], c[lane]);
  }
}

void add_form(OpTable& table, const std::string& mnemonic, const VideoForm& form) {
  OpSpec spec = make_spec(video_lanes, video_lanes, SignatureOf<VideoOperands>::operands);
  spec.imm = std::bit_cast<std::uint64_t>(form);
  table.add({mnemonic}, std::move(spec));
}

const char* type_name(int types, int bit) { return (types >> bit & 1) != 0 ? ".s32" : ".u32"; }

void add_arithmetic(OpTable& table, VideoForm form, const std::string& name) {
  for (int types = 0; types < 8; ++types) {
    form.signed_types = static_cast<std::uint8_t>(types);
    const std::string mnemonic =
        name + type_name(types, 0) + type_name(types, 1) + type_name(types, 2);
    form.saturates = form.sums = false;
    add_form(table, mnemonic, form);
    form.saturates = true;
    add_form(table, mnemonic + ".sat", form);
    form.saturates = false;
    form.sums = true;
    add_form(table, mnemonic + ".add", form);
  }
}

void add_comparison(OpTable& table, VideoForm form, const std::string& name,
                    std::string_view comparison) {
  for (int types = 0; types < 8; types += 2) {
    form.signed_types = static_cast<std::uint8_t>(types);
    const std::string mnemonic =
        name + type_name(types, 1) + type_name(types, 2) + "." + std::string(comparison);
    form.sums = false;
    add_form(table, mnemonic, form);
    form.sums = true;
    add_form(table, mnemonic + ".add", form);
  }
}

}  // namespace

void add_video(OpTable& table) {
  for (const int parts : {2, 4}) {
    VideoForm form;
    form.part_bits = static_cast<std::uint8_t>(32 / parts);
    const std::string count = std::to_string(parts);
    for (const auto& [name, operation] : arithmetic_operations) {
      form.operation = operation;
      add_arithmetic(table, form, std::string(name) + count);
    }
    for (const auto& [name, operation] : comparison_operations) {
      form.operation = operation;
      add_comparison(table, form, "vset" + count, name);
    }
  }
}

}  // namespace rung::vgpu
