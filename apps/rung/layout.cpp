// rung layout: shows where instructions keep the elements of a matrix.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <stdexcept>

#include "arguments.hpp"
#include "choices.hpp"
#include "command_line.hpp"
#include "tools/layout/expression.hpp"
#include "tools/layout/tile.hpp"
#include "tools/layout/view.hpp"
#include "tools/report/table.hpp"
#include "vgpu/layout.hpp"

namespace rung {
namespace {

using layout::View;
using vgpu::MatrixElement;
using vgpu::TensorSwizzle;

struct LayoutArguments {
  std::string instruction, form;
  std::string type, sum, operand;
  std::string box, swizzle, major, k_step;
  std::string start, lbo, sbo, descriptor;
  bool in_registers = false, transposed = false, stores = false;
  std::string pitch, address, bytes;
  std::string at, byte, lane, reg;
  bool all = false;
  std::string json, svg;
};

constexpr std::array<std::string_view, 10> instructions = {
    "tma", "wgmma", "tcgen05", "tmem", "mma", "wmma", "simdgroup", "ldmatrix", "stmatrix", "banks"};
constexpr int table_rows = 16;
constexpr std::int64_t shared_bytes = 1 << 18;  // more than a block can have

/// Calls `call`; an std::invalid_argument becomes a UsageError that begins with the option.
template <class Call>
auto reading(const std::string& option, const Call& call) {
  try {
    return call();
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("{}: {}", option, error.what()));
  }
}

/// A number of bytes: decimal, or hexadecimal with 0x.
std::uint64_t read_bits(const std::string& option, const std::string& text) {
  const bool hex = text.starts_with("0x");
  const char* const end = text.data() + text.size();
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data() + (hex ? 2 : 0), end, value, hex ? 16 : 10);
  if (read.ec != std::errc() || read.ptr != end) {
    throw UsageError(fmt::format("{}: '{}' is not a number, such as 64 or 0x40", option, text));
  }
  return value;
}

std::uint32_t read_bytes(const std::string& option, const std::string& text, std::uint64_t unit) {
  const std::uint64_t value = read_bits(option, text);
  if (value >= shared_bytes || value % unit != 0) {
    throw UsageError(
        fmt::format("{}: '{}' is not a multiple of {} below {}", option, text, unit, shared_bytes));
  }
  return static_cast<std::uint32_t>(value);
}

MatrixElement read_type(const LayoutArguments& given, const char* otherwise) {
  return reading("--type", [&] {
    return vgpu::layout::element_named(given.type.empty() ? otherwise : given.type);
  });
}

MatrixElement read_sum(const LayoutArguments& given, MatrixElement type) {
  if (given.sum.empty()) return vgpu::layout::usual_sum(type);
  return reading("--sum", [&] { return vgpu::layout::element_named(given.sum); });
}

char read_operand(const LayoutArguments& given) {
  const std::string& text = given.operand;
  if (text.empty()) return 'A';
  if (text == "A" || text == "B" || text == "C" || text == "D") return text.front();
  throw unknown_choice("--operand", text, "A", "B", "C", "D");
}

TensorSwizzle read_swizzle(const LayoutArguments& given, const char* otherwise) {
  const std::string text = given.swizzle.empty() ? otherwise : given.swizzle;
  if (text == "none" || text == "0") return TensorSwizzle::none;
  for (const auto swizzle :
       {TensorSwizzle::bytes_32, TensorSwizzle::bytes_64, TensorSwizzle::bytes_128}) {
    if (text == std::to_string(span_of(swizzle))) return swizzle;
  }
  throw unknown_choice("--swizzle", text, "none", "32", "64", "128");
}

/// "64x128": extents of a box, innermost first.
std::vector<int> read_box(const std::string& text) {
  std::vector<int> extents;
  for (const std::string& part : split(text, 'x')) {
    extents.push_back(static_cast<int>(read_integer("--box", part, 1, 256)));
  }
  return extents;
}

std::string box_text(const vgpu::TensorMap& box) {
  return fmt::format("{}", fmt::join(box.box.begin(), box.box.begin() + box.dimensions, " x "));
}

/// Coordinates of a box from the outermost dimension to the innermost.
std::vector<int> outermost_first(const vgpu::layout::Chunk& chunk, int dimensions) {
  std::vector<int> at(chunk.at.begin(), chunk.at.begin() + dimensions);
  std::reverse(at.begin(), at.end());
  return at;
}

View tma_view(const LayoutArguments& given) {
  const MatrixElement type = read_type(given, "bf16");
  const TensorSwizzle swizzle = read_swizzle(given, "128");
  const std::vector<int> extents = read_box(given.box.empty() ? "64x64" : given.box);
  const auto box = reading("--box", [&] { return layout::make_box(type, extents, swizzle); });
  const std::uint32_t start = given.start.empty() ? 0 : read_bytes("--start", given.start, 128);
  View view;
  view.title = fmt::format("TMA box of {} {}, {}: {} bytes of shared memory from {:#x} on",
                           box_text(box), vgpu::layout::name(type), layout::text_of(swizzle),
                           vgpu::layout::box_bytes(box), start);
  view.notes.push_back("source: PTX ISA, 5.5.7. A cell is 16 bytes; it shows its first element");
  const std::uint32_t repeat = 8 * span_of(swizzle);
  if (repeat != 0) {
    view.notes.push_back(
        fmt::format("the pattern follows the address, and repeats every {} bytes", repeat));
    if (start % repeat != 0) {
      view.notes.push_back(
          fmt::format("{:#x} is no multiple of {}: descriptors need a base offset", start, repeat));
    }
  }
  view.axes = box.dimensions == 1   ? std::vector<std::string>{"column"}
              : box.dimensions == 2 ? std::vector<std::string>{"row", "column"}
                                    : std::vector<std::string>{};
  for (int i = box.dimensions - 1; i >= 0 && box.dimensions > 2; --i) {
    view.axes.push_back(fmt::format("dimension {}:", i));
  }
  view.element_bits = static_cast<int>(bits_of(box.element));
  view.along = static_cast<std::size_t>(box.dimensions) - 1;
  for (const auto& chunk : vgpu::layout::box_chunks(box, start)) {
    view.cells.push_back({outermost_first(chunk, box.dimensions), chunk.address, chunk.bytes});
  }
  return view;
}

/// An operand of wgmma in shared memory, the tile that it is part of, and its descriptor.
struct SharedOperand {
  layout::Tile tile;
  layout::Part part;
  layout::Descriptor descriptor;
  char operand;
  int step;
};

bool is_mn_major(const LayoutArguments& given) {
  if (given.major.empty() || given.major == "k") return false;
  if (given.major == "mn") return true;
  throw unknown_choice("--major", given.major, "k", "mn");
}

/// Boxes as wide as the swizzle span or, without one, as a core matrix.
std::vector<int> usual_box(const layout::Part& part, TensorSwizzle swizzle) {
  const int span = std::max(16, static_cast<int>(span_of(swizzle)));
  const int outer = part.transposed ? part.first_k + part.k : part.lines;
  return {span * 8 / element_bits(part.type), std::min(256, outer)};
}

vgpu::layout::DescriptorFormat format_of(const LayoutArguments& given) {
  using vgpu::layout::DescriptorFormat;
  return given.instruction == "tcgen05" ? DescriptorFormat::tcgen05 : DescriptorFormat::wgmma;
}

layout::Descriptor read_descriptor(const LayoutArguments& given, layout::Descriptor fits) {
  if (!given.descriptor.empty()) {
    return reading("--descriptor", [&] {
      return vgpu::layout::decode(read_bits("--descriptor", given.descriptor), format_of(given));
    });
  }
  if (!given.lbo.empty()) fits.leading = read_bytes("--lbo", given.lbo, 16);
  if (!given.sbo.empty()) fits.stride = read_bytes("--sbo", given.sbo, 16);
  return fits;
}

SharedOperand read_shared_operand(const LayoutArguments& given, const std::string& form,
                                  MatrixElement type, char operand) {
  constexpr std::int64_t max_step = 63;
  const auto [m, n, k] = vgpu::layout::shape_named(form);
  SharedOperand result;
  result.operand = operand;
  result.step = given.k_step.empty()
                    ? 0
                    : static_cast<int>(read_integer("--k-step", given.k_step, 0, max_step));
  layout::Part& part = result.part;
  part = {type, is_mn_major(given), operand == 'A' ? m : n, k, result.step * k};
  if (part.transposed && element_bits(type) != 16 && given.instruction == "wgmma") {
    throw UsageError(fmt::format("--major: 'mn' is for elements of 16 bits; {} is K-major only",
                                 vgpu::layout::name(type)));
  }
  const TensorSwizzle swizzle = read_swizzle(given, "128");
  const std::vector<int> extents =
      given.box.empty() ? usual_box(part, swizzle) : read_box(given.box);
  if (extents.size() != 2) throw UsageError("--box: wgmma takes two extents, such as 64x128");
  layout::Tile& tile = result.tile;
  tile.box = reading("--box", [&] { return layout::make_box(type, extents, swizzle); });
  tile.address = given.start.empty() ? 0 : read_bytes("--start", given.start, 128);
  tile.inner = part.transposed ? part.lines : part.first_k + part.k;
  tile.outer = part.transposed ? part.first_k + part.k : part.lines;
  result.descriptor = read_descriptor(given, fitting(tile, part));
  return result;
}

void note_fit(const SharedOperand& shared, View& view, ExitCode& code) {
  const auto& [tile, part, descriptor, operand, step] = shared;
  const layout::Fit fit = compare(tile, part, descriptor);
  if (fit.wrong == 0) {
    view.notes.push_back(
        fmt::format("fits: all {} chunks of 16 bytes hold the elements that it wants", fit.chunks));
    return;
  }
  code = exit_wrong;
  const char* const line = operand == 'A' ? "row" : "column";
  const auto& first = *fit.first;
  view.notes.push_back(fmt::format(
      "does not fit: {} of {} chunks are wrong. For {} {}, k {} it reads byte {}, which holds {}",
      fit.wrong, fit.chunks, line, first.line, first.k, first.address,
      first.found ? fmt::format("{} {}, k {}", line, first.found->first, first.found->second)
                  : "nothing of the tile"));
  for (const std::string& cause : causes(tile, part, descriptor)) {
    view.notes.push_back("to do: " + cause);
  }
}

/// The bytes that a descriptor of wgmma or tcgen05 reads.
View descriptor_view(const LayoutArguments& given, const std::string& form, MatrixElement type,
                     char operand, ExitCode& code) {
  const SharedOperand shared = read_shared_operand(given, form, type, operand);
  const layout::Part& part = shared.part;
  const bool is_a = operand == 'A';
  View view;
  view.title = fmt::format("{} of {}.{}, {}, {}-major, k-step {}", operand, given.instruction, form,
                           vgpu::layout::name(type), part.transposed ? "MN" : "K", shared.step);
  view.notes = {fmt::format("source: PTX ISA, {}. A cell is 16 bytes; it shows its first element",
                            given.instruction == "wgmma" ? "9.7.15.5.1" : "9.7.16.4.1"),
                fmt::format("descriptor {:#018x}: {}", encode(shared.descriptor, format_of(given)),
                            layout::text_of(shared.descriptor, part.transposed, part.lines, type)),
                fmt::format("tile: boxes of {}, {}, from {:#x} on", box_text(shared.tile.box),
                            layout::text_of(shared.tile.box.swizzle), shared.tile.address)};
  note_fit(shared, view, code);
  view.axes = is_a ? std::vector<std::string>{"row", "k"} : std::vector<std::string>{"k", "column"};
  view.element_bits = element_bits(type);
  view.along = is_a != part.transposed ? 1 : 0;
  for (const auto& chunk : vgpu::layout::operand_chunks(
           {shared.descriptor, type, part.lines, part.k, part.transposed})) {
    const int k = part.first_k + chunk.at[0], line = chunk.at[1];
    view.cells.push_back(
        {is_a ? std::vector{line, k} : std::vector{k, line}, chunk.address, chunk.bytes});
  }
  return view;
}

View wgmma_view(const LayoutArguments& given, const std::string& form, ExitCode& code) {
  const MatrixElement type = read_type(given, "bf16");
  const char operand = read_operand(given);
  const MatrixElement sum = read_sum(given, type);
  // Checks the shape and the types, too.
  View view;
  view.fragment = reading("FORM", [&] {
    return vgpu::layout::fragment("wgmma", form, type, sum, operand == 'B' ? 'D' : operand);
  });
  if (operand == 'B' && given.in_registers) {
    throw UsageError("--registers: B of wgmma is always in shared memory; A may be in registers");
  }
  if (operand == 'B' || (operand == 'A' && !given.in_registers)) {
    return descriptor_view(given, form, type, operand, code);
  }
  view.axes = {"row", "column"};
  view.title = view.fragment->what;
  view.notes.push_back(fmt::format("source: PTX ISA, {}", view.fragment->section));
  return view;
}

/// An operand of a dense tcgen05.mma of one block. k has 32 bytes (PTX ISA, 9.7.16.2.1).
View tcgen05_view(const LayoutArguments& given, const std::string& form, ExitCode& code) {
  const MatrixElement type = read_type(given, "bf16");
  const char operand = read_operand(given);
  if (operand != 'A' && operand != 'B') {
    throw UsageError(
        "--operand: C and D of tcgen05 are in tensor memory; rung layout tmem shows "
        "how a warp loads them");
  }
  const auto [m, n, k] = reading("FORM", [&] { return vgpu::layout::shape_named(form); });
  const int bits = element_bits(type);
  if ((m != 64 && m != 128) || n < 8 || n > 256 || n % 8 != 0 || k * bits != 256 || bits < 8) {
    throw UsageError(fmt::format(
        "FORM: '{}' is no shape of tcgen05 with {} in one block; it has m64 and m128, n8 to n256 "
        "in "
        "steps of 8{}",
        form, vgpu::layout::name(type), bits < 8 ? "" : fmt::format(", k{}", 256 / bits)));
  }
  return descriptor_view(given, form, type, operand, code);
}

View tmem_view(const std::string& form) {
  View view;
  view.fragment = reading("FORM", [&] { return vgpu::layout::tensor_load(form); });
  view.title = view.fragment->what;
  view.axes = {"row", "column"};
  view.notes = {
      fmt::format("source: PTX ISA, {}", view.fragment->section),
      "rows are lanes of tensor memory, columns its columns of 32 bits, from the address on"};
  return view;
}

View fragment_view(const LayoutArguments& given, const std::string& form) {
  const bool is_simdgroup = given.instruction == "simdgroup";
  const MatrixElement type = read_type(given, is_simdgroup ? "f32" : "bf16");
  const char operand = read_operand(given);
  const MatrixElement sum = read_sum(given, type);
  View view;
  view.fragment = reading(is_simdgroup ? "--type" : "FORM", [&] {
    return vgpu::layout::fragment(given.instruction, form, type, sum, operand);
  });
  view.title = view.fragment->what;
  view.axes = {"row", "column"};
  view.notes.push_back(
      is_simdgroup ? "the same for all operands; Apple does not specify it"
      : given.instruction == "wmma"
          ? "the PTX ISA leaves this layout open (9.7.14.4.1); this is the virtual GPU's"
          : fmt::format("source: PTX ISA, {}", view.fragment->section));
  return view;
}

/// The byte address of each lane, from --address or as `otherwise` gives it.
template <class F>
std::array<std::uint32_t, 32> read_addresses(const LayoutArguments& given, std::int64_t unit,
                                             std::int64_t limit, const F& otherwise) {
  std::array<std::uint32_t, 32> addresses{};
  for (int lane = 0; lane < 32; ++lane) {
    const std::int64_t value = given.address.empty() ? otherwise(lane) : reading("--address", [&] {
      return layout::value_of(given.address, lane);
    });
    if (value < 0 || value % unit != 0 || value + unit > limit) {
      throw UsageError(fmt::format("{}: lane {} is at byte {}; expected a multiple of {} below {}",
                                   given.address.empty() ? "--pitch" : "--address", lane, value,
                                   unit, limit));
    }
    addresses[static_cast<std::size_t>(lane)] = static_cast<std::uint32_t>(value);
  }
  return addresses;
}

View matrix_copy_view(const LayoutArguments& given) {
  constexpr int row_bytes = 16, square = 8;
  constexpr std::int64_t limit = 1 << 16;
  const std::string form = given.form.empty() ? "x4" : given.form;
  const int count = form == "x1" ? 1 : form == "x2" ? 2 : form == "x4" ? 4 : 0;
  if (count == 0) throw unknown_choice("FORM", form, "x1", "x2", "x4");
  const TensorSwizzle swizzle = read_swizzle(given, "none");
  const std::uint32_t pitch =
      given.pitch.empty() ? 128 : read_bytes("--pitch", given.pitch, row_bytes);
  if (pitch == 0) throw UsageError("--pitch: '0' is not a multiple of 16 above 0");
  // As for A of mma.m16n8k16: the lower 8 rows, the upper ones, then the next 8 columns.
  const auto addresses = read_addresses(given, row_bytes, limit, [&](int lane) {
    const int row = lane % (2 * square), column_bytes = lane / (2 * square) * row_bytes;
    return static_cast<std::int64_t>(
        swizzled(static_cast<std::uint32_t>(row) * pitch + static_cast<std::uint32_t>(column_bytes),
                 swizzle));
  });
  const bool stores = given.instruction == "stmatrix";
  const auto copy = vgpu::layout::matrix_copy(stores, count, given.transposed, addresses);
  View view;
  view.title = fmt::format("{}.{}{}.b16, rows {} bytes apart, {}", given.instruction, form,
                           given.transposed ? ".trans" : "", pitch, layout::text_of(swizzle));
  view.notes = {
      "source: run on the virtual GPU. Lane 8 i + r gives the address of row r of matrix i",
      fmt::format("{} pass{} through the banks; {} would do{}", copy.wavefronts,
                  copy.wavefronts == 1 ? "" : "es", count,
                  copy.wavefronts > count ? ": bank conflicts" : "")};
  view.axes = {"row", "column"};
  view.element_bits = 16;
  view.along = 1;
  const auto place = [&](std::uint32_t address) {  // a swizzle is its own inverse
    const std::uint32_t plain = swizzled(address, swizzle);
    return std::pair(static_cast<int>(plain / pitch), static_cast<int>(plain % pitch / 2));
  };
  for (std::size_t lane = 0; lane < static_cast<std::size_t>(count * square); ++lane) {
    const auto [row, column] = place(addresses[lane]);
    view.cells.push_back({{row, column}, addresses[lane], row_bytes});
  }
  vgpu::layout::Fragment fragment{view.title, "", 0, 0, 32, count, 2, {}};
  for (std::size_t i = 0; i < copy.address.size(); ++i) {
    const auto [row, column] = place(copy.address[i]);
    const int slot = static_cast<int>(i), slots = 2 * count;
    fragment.slots.push_back({row, column, slot / slots, slot % slots / 2, slot % 2});
    fragment.rows = std::max(fragment.rows, row + 1);
    fragment.columns = std::max(fragment.columns, column + 1);
  }
  view.fragment = std::move(fragment);
  return view;
}

View banks_view(const LayoutArguments& given) {
  constexpr std::uint32_t bank_count = 32, bank_bytes = 4;
  const auto bytes = static_cast<std::uint32_t>(
      given.bytes.empty() ? 4 : read_integer("--bytes", given.bytes, 1, 16));
  if ((bytes & (bytes - 1)) != 0) {
    throw unknown_choice("--bytes", given.bytes, "1", "2", "4", "8", "16");
  }
  const auto addresses = read_addresses(given, bytes, shared_bytes,
                                        [&](int lane) { return std::int64_t{lane} * bytes; });
  std::array<std::uint64_t, 32> wide{};
  std::copy(addresses.begin(), addresses.end(), wide.begin());
  const int passes = vgpu::layout::wavefronts(wide, bytes, !given.stores);
  View view;
  view.title = fmt::format("{} of {} bytes a lane at {}", given.stores ? "store" : "load", bytes,
                           given.address.empty() ? fmt::format("lane * {}", bytes) : given.address);
  view.notes = {
      fmt::format("{} pass{} through the 32 banks of 4 bytes", passes, passes == 1 ? "" : "es")};
  for (std::uint32_t bank = 0; bank < bank_count; ++bank) {
    std::vector<std::size_t> lanes;
    for (std::size_t lane = 0; lane < addresses.size(); ++lane) {
      const std::uint32_t first = addresses[lane] / bank_bytes;
      const std::uint32_t last = (addresses[lane] + bytes - 1) / bank_bytes;
      if ((bank + bank_count - first % bank_count) % bank_count <= last - first)
        lanes.push_back(lane);
    }
    if (!lanes.empty())
      view.notes.push_back(fmt::format("bank {}: lanes {}", bank, fmt::join(lanes, " ")));
  }
  view.axes = {"lane"};
  view.element_bits = static_cast<int>(bytes) * 8;
  for (int lane = 0; lane < 32; ++lane) {
    view.cells.push_back({{lane}, addresses[static_cast<std::size_t>(lane)], bytes});
  }
  return view;
}

/// Refuses options of other instructions.
void check_options(const LayoutArguments& given) {
  struct Rule {
    const char* option;
    bool is_given;
    std::string_view instructions;
  };
  const Rule rules[] = {
      {"FORM", !given.form.empty(), "wgmma tcgen05 tmem mma wmma ldmatrix stmatrix"},
      {"--type", !given.type.empty(), "tma wgmma tcgen05 mma wmma simdgroup"},
      {"--sum", !given.sum.empty(), "wgmma mma wmma"},
      {"--operand", !given.operand.empty(), "wgmma tcgen05 mma wmma"},
      {"--box", !given.box.empty(), "tma wgmma tcgen05"},
      {"--swizzle", !given.swizzle.empty(), "tma wgmma tcgen05 ldmatrix stmatrix"},
      {"--major", !given.major.empty(), "wgmma tcgen05"},
      {"--k-step", !given.k_step.empty(), "wgmma tcgen05"},
      {"--start", !given.start.empty(), "tma wgmma tcgen05"},
      {"--lbo", !given.lbo.empty(), "wgmma tcgen05"},
      {"--sbo", !given.sbo.empty(), "wgmma tcgen05"},
      {"--descriptor", !given.descriptor.empty(), "wgmma tcgen05"},
      {"--registers", given.in_registers, "wgmma"},
      {"--trans", given.transposed, "ldmatrix stmatrix"},
      {"--store", given.stores, "banks"},
      {"--pitch", !given.pitch.empty(), "ldmatrix stmatrix"},
      {"--address", !given.address.empty(), "ldmatrix stmatrix banks"},
      {"--bytes", !given.bytes.empty(), "banks"},
  };
  for (const Rule& rule : rules) {
    const std::vector<std::string> users = split(std::string(rule.instructions), ' ');
    if (rule.is_given && std::ranges::find(users, given.instruction) == users.end()) {
      throw UsageError(fmt::format("{}: {} has no use for it; it is for {}", rule.option,
                                   given.instruction, fmt::join(users, ", ")));
    }
  }
}

View view_of(const LayoutArguments& given, ExitCode& code) {
  const std::string& what = given.instruction;
  if (std::ranges::find(instructions, what) == instructions.end()) {
    throw UsageError(not_one_of("INSTRUCTION", what, instructions));
  }
  const auto form = [&](const char* usual) {
    return given.form.empty() ? std::string(usual) : given.form;
  };
  check_options(given);
  if (what == "tma") return tma_view(given);
  if (what == "wgmma") return wgmma_view(given, form("m64n128k16"), code);
  if (what == "tcgen05") return tcgen05_view(given, form("m128n128k16"), code);
  if (what == "tmem") return tmem_view(form("32x32b.x8"));
  if (what == "mma") return fragment_view(given, form("m16n8k16"));
  if (what == "wmma") return fragment_view(given, form("m16n16k16"));
  if (what == "simdgroup") return fragment_view(given, "");
  if (what == "ldmatrix" || what == "stmatrix") return matrix_copy_view(given);
  return banks_view(given);
}

std::vector<std::string> answers(const LayoutArguments& given, const View& view) {
  std::vector<std::string> lines;
  const auto add = [&](const std::vector<std::string>& more) {
    lines.insert(lines.end(), more.begin(), more.end());
  };
  if (!given.at.empty()) {
    std::vector<int> at;
    for (const std::string& part : split(given.at, ',')) {
      at.push_back(static_cast<int>(read_integer("--at", part, 0, 1 << 16)));
    }
    add(reading("--at", [&] { return where_is(view, at); }));
  }
  if (!given.byte.empty()) {
    if (view.cells.empty())
      throw UsageError("--byte: this matrix is in registers; ask with --lane");
    add({at_byte(view, read_bytes("--byte", given.byte, 1))});
  }
  if (given.lane.empty() && !given.reg.empty()) throw UsageError("--register: needs --lane");
  if (!given.lane.empty()) {
    if (!view.fragment)
      throw UsageError("--lane: this matrix is in shared memory; ask with --byte");
    const auto& fragment = *view.fragment;
    const auto lane = static_cast<int>(read_integer("--lane", given.lane, 0, fragment.threads - 1));
    std::optional<int> reg;
    if (!given.reg.empty()) {
      reg = static_cast<int>(read_integer("--register", given.reg, 0, fragment.registers - 1));
    }
    add(in_thread(view, lane, reg));
  }
  return lines;
}

ExitCode run(const LayoutArguments& given) {
  check_apart({{"--json", given.json}, {"--svg", given.svg}});
  ExitCode code = exit_right;
  const View view = view_of(given, code);
  const auto json = read_json(given.json);
  const auto svg = read_output("--svg", given.svg);
  const std::vector<std::string> answer = answers(given, view);
  if (json) json->write(layout::json_of(view));
  if (svg) svg->write(layout::picture(view));
  if ((json && json->is_stdout()) || (svg && svg->is_stdout())) return code;
  if (!answer.empty()) {
    fmt::print("{}\n", fmt::join(answer, "\n"));
    return code;
  }
  fmt::print("{}\n", view.title);
  for (const std::string& note : view.notes) fmt::print("{}", wrap(note, 2));
  if (given.instruction == "banks") return code;
  if (view.fragment) {
    const bool is_pair = view.fragment->per_register > 1;
    fmt::print("  a cell is {} and register{}\n", view.fragment->threads > 32 ? "thread" : "lane",
               is_pair ? "; .i: element i of it, from the low bits" : "");
  }
  fmt::print("\n{}", layout::table(view, given.all ? 0 : table_rows));
  return code;
}

}  // namespace

Action add_layout(Options& app) {
  auto given = std::make_shared<LayoutArguments>();
  const auto words = [](std::vector<std::string> list) { return [list] { return list; }; };
  app.add_option("INSTRUCTION", given->instruction,
                 "tma, wgmma, tcgen05, tmem (tcgen05.ld), mma, wmma, simdgroup, ldmatrix, "
                 "stmatrix, or banks: any access")
      ->type_name("")
      ->required()
      ->offers(words({instructions.begin(), instructions.end()}));
  app.add_option("FORM,--shape", given->form,
                 "Its shape, such as m16n8k16, x4 of ldmatrix, 32x32b.x8 of tmem")
      ->type_name("");
  app.add_option("--type", given->type, "Element type of A and B or of the box (default: bf16)")
      ->type_name("T")
      ->offers(
          words({"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "s4", "u4", "f32", "f64"}));
  app.add_option("--sum", given->sum, "Element type of C and D (default: f32, s32 or f64)")
      ->type_name("T")
      ->offers(words({"f16", "f32", "s32", "f64"}));
  app.add_option("--operand", given->operand, "A, B, C or D (default: A)")
      ->type_name("M")
      ->offers(words({"A", "B", "C", "D"}));
  app.add_option("--box", given->box,
                 "Elements of a TMA box, innermost first, as in cuTensorMapEncodeTiled (default: "
                 "64x64; for operands, as wide as the swizzle)")
      ->type_name("WxH");
  app.add_option("--swizzle", given->swizzle,
                 "none, 32, 64 or 128 bytes (default: 128; ldmatrix: none)")
      ->type_name("B")
      ->offers(words({"none", "32", "64", "128"}));
  app.add_option("--major", given->major,
                 "Major-ness of an operand in shared memory: k, or mn (default: k)")
      ->type_name("M")
      ->offers(words({"k", "mn"}));
  app.add_option("--k-step", given->k_step,
                 "Which k of the operand's tile is multiplied, in instructions (default: 0)")
      ->type_name("N");
  app.add_option("--start", given->start,
                 "Byte of shared memory where the tile begins (default: 0)")
      ->type_name("B");
  app.add_option("--lbo", given->lbo,
                 "Leading byte offset of the descriptor (default: as the tile needs)")
      ->type_name("B");
  app.add_option("--sbo", given->sbo,
                 "Stride byte offset of the descriptor (default: as the tile needs)")
      ->type_name("B");
  app.add_option("--descriptor", given->descriptor,
                 "All 64 bits of the descriptor, such as 0x4000004000010000")
      ->type_name("BITS");
  app.add_flag("--registers", given->in_registers, "For wgmma: A in registers");
  app.add_flag("--trans", given->transposed, "For ldmatrix and stmatrix: .trans");
  app.add_option("--pitch", given->pitch,
                 "For ldmatrix and stmatrix: bytes between rows (default: 128)")
      ->type_name("B");
  app.add_option("--address", given->address,
                 "For ldmatrix, stmatrix and banks: byte of each lane, such as 'lane * 128'")
      ->type_name("EXPR");
  app.add_option("--bytes", given->bytes, "For banks: 1, 2, 4, 8 or 16 bytes a lane (default: 4)")
      ->type_name("N");
  app.add_flag("--store", given->stores, "For banks: a store, not a load");
  app.add_option("--at", given->at, "Ask: where is this element? Row, column; of B: k, column")
      ->type_name("R,C");
  app.add_option("--byte", given->byte, "Ask: which element is at this byte of shared memory?")
      ->type_name("B");
  app.add_option("--lane", given->lane, "Ask: which elements does this lane, or thread, have?")
      ->type_name("L");
  app.add_option("--register", given->reg, "With --lane: only in this register")->type_name("I");
  app.add_flag("--all", given->all, "Show all rows and columns");
  app.add_option("--json", given->json, "Write every element as JSON; - for standard output")
      ->type_name("FILE");
  app.add_option("--svg", given->svg, "Draw the layout; - for standard output")->type_name("FILE");
  app.footer(
      "Computed by the functions with which the virtual GPU executes the instructions. With\n"
      "wgmma and tcgen05, a descriptor is held against the tile that TMA boxes fill: exit code 1\n"
      "if it reads other elements, with what to change. 'rung trace --tiles' does so for a\n"
      "kernel.\n\n"
      "Examples:\n"
      "  rung layout tma --type bf16 --box 64x128 --swizzle 128 --at 3,17\n"
      "  rung layout wgmma m64n128k16 --operand B --swizzle 128 --k-step 1\n"
      "  rung layout wgmma m64n128k16 --operand B --swizzle 64 --sbo 1024\n"
      "  rung layout mma m16n8k16 --type bf16 --operand A --lane 5\n"
      "  rung layout ldmatrix x4 --trans --pitch 128 --swizzle 128\n"
      "  rung layout banks --bytes 16 --address 'lane / 8 * 16 + lane % 8 * 144'");
  return [given] { return run(*given); };
}

}  // namespace rung
