#include "layout_views.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "arguments.hpp"
#include "choices.hpp"
#include "tools/layout/expression.hpp"
#include "tools/layout/tile.hpp"
#include "vgpu/layout.hpp"

namespace rung {

using layout::View;
using vgpu::MatrixElement;
using vgpu::TensorSwizzle;

std::string box_text(const vgpu::TensorMap& box) {
  return fmt::format("{}", fmt::join(box.box.begin(), box.box.begin() + box.dimensions, " x "));
}

View view_of_fragment(vgpu::layout::Fragment fragment) {
  View view;
  view.fragment = std::move(fragment);
  view.title = view.fragment->what;
  view.axes = {"row", "column"};
  view.notes.push_back(fmt::format("source: PTX ISA, {}", view.fragment->section));
  return view;
}

namespace {

/// Coordinates of a box from the outermost dimension to the innermost.
std::vector<int> outermost_first(const vgpu::layout::Chunk& chunk, int dimensions) {
  std::vector<int> at(chunk.at.begin(), chunk.at.begin() + dimensions);
  std::reverse(at.begin(), at.end());
  return at;
}

/// The pixels that a copy with .im2col takes from images (PTX ISA, 5.5.4).
View im2col_view(const LayoutArguments& given) {
  const MatrixElement type = read_type(given, "bf16");
  const TensorSwizzle swizzle = read_swizzle(given, "128");
  std::vector<int> image;
  for (const std::string& part : split(given.image, 'x')) {
    image.push_back(static_cast<int>(read_integer("--image", part, 1, 1 << 15)));
  }
  const std::vector<int> box = read_box(given.box.empty() ? "64x64" : given.box);
  if (image.size() < 2 || image.size() > 4) {
    throw UsageError(fmt::format("--image: '{}': expected WxN, WxHxN or WxHxDxN", given.image));
  }
  if (box.size() != 2) throw UsageError("--box: with --image, channels and pixels, such as 64x64");
  const std::size_t spatial = image.size() - 1;
  const auto lower = read_list("--lower", given.lower, spatial);
  const auto upper = read_list("--upper", given.upper, spatial);
  const auto filter = read_list("--filter", given.filter, spatial);
  std::vector<std::int32_t> from(lower);
  from.push_back(0);
  if (!given.from.empty()) from = read_list("--from", given.from, image.size());
  const int step = read_number("--traversal", given.traversal, 1, 8);
  const auto map = reading("--box", [&] {
    return layout::make_pixels(type, box, image, {lower, upper, step}, swizzle);
  });
  std::array<std::int32_t, vgpu::TensorMap::max_dimensions> at{};
  std::copy(from.begin(), from.end(), at.begin() + 1);
  std::array<std::int32_t, vgpu::TensorMap::max_spatial> offsets{};
  std::copy(filter.begin(), filter.end(), offsets.begin());
  const std::uint32_t start = given.start.empty() ? 0 : read_bytes("--start", given.start, 128);
  View view;
  view.title = fmt::format("TMA im2col: {} pixels of {} channels {}, {}, from {:#x} on", box[1],
                           box[0], vgpu::layout::name(type), layout::text_of(swizzle), start);
  view.notes = {"source: PTX ISA, 5.5.4. A cell is 16 bytes; it shows its first element",
                "pixels outside of the image have no cells: their bytes become zeros"};
  view.element_bits = element_bits(type);
  constexpr const char* names[] = {"w", "h", "d"};
  view.axes = {"image"};
  for (std::size_t i = spatial; i-- > 0;) view.axes.emplace_back(names[i]);
  view.axes.emplace_back("channel");
  view.along = view.axes.size() - 1;
  for (const auto& chunk :
       reading("--from", [&] { return vgpu::layout::pixel_chunks(map, at, offsets, start); })) {
    view.cells.push_back({outermost_first(chunk, map.dimensions), chunk.address, chunk.bytes});
  }
  return view;
}

View tma_view(const LayoutArguments& given) {
  if (!given.image.empty()) return im2col_view(given);
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

/// A fragment of mma.sp, or the block scales of mma.sync.
std::optional<View> special_fragment_view(const LayoutArguments& given, const std::string& form) {
  if (const char scaled = scaled_matrix(given); scaled != '\0') {
    const int scales = read_number("--scales", given.scales, 1, 4);
    const int byte = read_number("--first-byte", given.first_byte, 0, 3);
    const int thread = read_number("--scale-thread", given.scale_thread, 0, 3);
    return view_of_fragment(reading(
        "--scales", [&] { return vgpu::layout::scale_fragment(scaled, scales, byte, thread); }));
  }
  if (!given.sparse) return std::nullopt;
  const MatrixElement type = read_type(given, "bf16");
  const char operand = read_operand(given);
  const int selector = read_number("--selector", given.selector, 0, 3);
  View view = view_of_fragment(reading("FORM", [&] {
    return vgpu::layout::sparse_fragment(form, type, read_sum(given, type), operand, selector);
  }));
  if (operand == 'A') view.notes.push_back("columns are stored elements, half of k");
  if (operand == 'E') view.notes.push_back("columns are chunks of k; an element is four bits");
  return view;
}

View fragment_view(const LayoutArguments& given, const std::string& form) {
  if (given.instruction == "mma") {
    if (auto view = special_fragment_view(given, form)) return *view;
  }
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
      {"--blocks", !given.blocks.empty(), "tcgen05"},
      {"--ws", given.weight_stationary, "tcgen05"},
      {"--sparse", given.sparse, "tcgen05 mma"},
      {"--selector", !given.selector.empty(), "mma"},
      {"--scales", !given.scales.empty(), "tcgen05 mma"},
      {"--first-byte", !given.first_byte.empty(), "tcgen05 mma"},
      {"--scale-thread", !given.scale_thread.empty(), "mma"},
      {"--image", !given.image.empty(), "tma"},
      {"--lower", !given.lower.empty(), "tma"},
      {"--upper", !given.upper.empty(), "tma"},
      {"--from", !given.from.empty(), "tma"},
      {"--filter", !given.filter.empty(), "tma"},
      {"--traversal", !given.traversal.empty(), "tma"},
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

}  // namespace

View layout_view(const LayoutArguments& given, ExitCode& code) {
  const std::string& what = given.instruction;
  if (std::ranges::find(layout_instructions, what) == layout_instructions.end()) {
    throw UsageError(not_one_of("INSTRUCTION", what, layout_instructions));
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

}  // namespace rung
