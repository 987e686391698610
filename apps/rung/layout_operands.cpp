// Operands of wgmma and tcgen05: in shared memory with their descriptors, in registers, or in tensor memory.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arguments.hpp"
#include "choices.hpp"
#include "layout_views.hpp"
#include "tools/layout/tile.hpp"

namespace rung {

using layout::View;
using vgpu::MatrixElement;
using vgpu::TensorSwizzle;

namespace {

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
  part = {type, is_mn_major(given), (operand == 'A' ? m : n) / read_blocks(given), k,
          result.step * k};
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

/// D or block scales of a tcgen05.mma in tensor memory.
View tensor_memory_view(const LayoutArguments& given, int m, int n) {
  const int blocks = read_blocks(given);
  if (const char scaled = scaled_matrix(given); scaled != '\0') {
    const int scales = read_number("--scales", given.scales, 1, 6);
    const int byte = read_number("--first-byte", given.first_byte, 0, 3);
    View view = view_of_fragment(reading("--scales", [&] {
      return vgpu::layout::tensor_scales(scaled, scaled == 'A' ? m / blocks : n, scales, byte);
    }));
    view.notes.push_back(
        "lanes 32 to 127 hold copies; an element is a byte of a cell, from the low bits");
    return view;
  }
  View view = view_of_fragment(reading("FORM", [&] {
    return vgpu::layout::tensor_sums({m, n, blocks, given.weight_stationary, given.sparse});
  }));
  if (blocks == 2)
    view.notes.push_back("lanes from 128 on are those of the second block of the pair");
  return view;
}

}  // namespace

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

/// An operand of a dense tcgen05.mma. Each block of a pair has half of it. k has 32 bytes (PTX ISA, 9.7.16.2.1).
View tcgen05_view(const LayoutArguments& given, const std::string& form, ExitCode& code) {
  const MatrixElement type = read_type(given, "bf16");
  const int blocks = read_blocks(given);
  const auto [m, n, k] = reading("FORM", [&] { return vgpu::layout::shape_named(form); });
  if (given.operand == "D" || given.operand == "C" || scaled_matrix(given) != '\0') {
    return tensor_memory_view(given, m, n);
  }
  const char operand = read_operand(given);
  const int bits = element_bits(type), step = 8 * blocks;
  if ((m != 64 * blocks && m != 128 * blocks) || n < step || n > 256 || n % step != 0 ||
      k * bits != 256 || bits < 8) {
    throw UsageError(fmt::format(
        "FORM: '{}' is no shape of tcgen05 with {} in {} block{}; it has m{} and m{}, n{} to n256 "
        "in steps of {}{}",
        form, vgpu::layout::name(type), blocks == 1 ? "one" : "two", blocks == 1 ? "" : "s",
        64 * blocks, 128 * blocks, step, step, bits < 8 ? "" : fmt::format(", k{}", 256 / bits)));
  }
  View view = descriptor_view(given, form, type, operand, code);
  if (blocks == 2) {
    view.notes.push_back(
        fmt::format("of the first block; the second has the other {} {} at the same addresses of "
                    "its own memory",
                    (operand == 'A' ? m : n) / 2, operand == 'A' ? "rows" : "columns"));
  }
  return view;
}

}  // namespace rung
