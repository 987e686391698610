#include "tools/layout/uses.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "tools/layout/tile.hpp"
#include "vgpu/layout.hpp"

namespace rung::layout {
namespace {

using vgpu::LayoutUse;

constexpr std::size_t max_uses = 1 << 16;
constexpr std::uint32_t chunk_bytes = 16;

/// The contents of 16 bytes that a box wrote, by coordinates in the tensor. `outer` counts rows of
/// the box's dimensions from the second on.
struct Written {
  std::size_t use;  // index of the box
  std::int64_t inner, outer;
};

class Memory {
 public:
  void write(std::size_t index, const LayoutUse& use) {
    for (const Chunk& chunk : vgpu::layout::box_chunks(use.map, use.offset)) {
      std::int64_t outer = 0, rows = 1;
      for (std::size_t i = 1; i < use.map.dimensions; ++i) {
        outer += rows * (chunk.at[i] + std::int64_t{use.at[i]});
        rows *= use.map.box[i];
      }
      chunks_[chunk.address / chunk_bytes] = {index, chunk.at[0] + std::int64_t{use.at[0]}, outer};
    }
  }
  const Written* find(std::uint32_t address) const {
    const auto found = chunks_.find(address / chunk_bytes);
    return found == chunks_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::uint32_t, Written> chunks_;
};

std::string_view name_of(vgpu::TensorElement element) {
  constexpr std::array<std::string_view, 13> names = {
      "u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32", "tf32", "tf32"};
  return names[static_cast<std::size_t>(element)];
}

std::string box_text(const LayoutUse& use) {
  const auto end = use.map.box.begin() + use.map.dimensions;
  return fmt::format("box of {} {}, {}, at byte {}", fmt::join(use.map.box.begin(), end, " x "),
                     name_of(use.map.element), text_of(use.map.swizzle), use.offset);
}

std::string operand_text(const LayoutUse& use) {
  return fmt::format(
      "{}, {} {} by {} k of {}, {}-major: {}", use.operand, use.lines,
      use.operand == 'A' ? "rows" : "columns", use.k, vgpu::layout::name(use.element),
      use.transposed ? "MN" : "K",
      text_of(vgpu::layout::decode(use.descriptor), use.transposed, use.lines, use.element));
}

/// A chunk that is not where a descriptor expects it.
struct Misread {
  std::uint32_t address;
  int line, k;
  std::int64_t inner, outer;  // wanted
  const Written* found;       // null if no copy wrote there
};

/// Follows the operand's elements through the tensor, from the first one on. Returns the first that
/// is not next to it.
std::optional<Misread> misread(const LayoutUse& use, const Descriptor& descriptor,
                               const Memory& memory) {
  const Written* first = nullptr;
  for (const Chunk& read :
       vgpu::layout::operand_chunks({descriptor, use.element, use.lines, use.k, use.transposed})) {
    const Written* const found = memory.find(read.address);
    const int k = read.at[0], line = read.at[1];
    if (first == nullptr) first = found;
    if (found == nullptr) return Misread{read.address, line, k, 0, 0, nullptr};
    const std::int64_t inner = first->inner + (use.transposed ? line : k);
    const std::int64_t outer = first->outer + (use.transposed ? k : line);
    if (found->inner != inner || found->outer != outer) {
      return Misread{read.address, line, k, inner, outer, found};
    }
  }
  return std::nullopt;
}

struct Finding {
  std::string text;
  bool fits = true;
  UsedTile::Cause cause = UsedTile::Cause::none;
};

/// The one field that makes the descriptor fit the box, added to the finding.
void find_cause(const LayoutUse& use, const LayoutUse& box, const Memory& memory,
                Finding& finding) {
  using enum UsedTile::Cause;
  const Descriptor given = vgpu::layout::decode(use.descriptor);
  const auto fits = [&](const Descriptor& changed) { return !misread(use, changed, memory); };
  Descriptor changed = given;
  changed.swizzle = box.map.swizzle;
  if (changed != given && fits(changed)) {
    finding.cause = swizzle;
    finding.text += fmt::format("; it fits with {} in the descriptor", text_of(changed.swizzle));
    return;
  }
  const std::uint32_t groups = 8 * vgpu::layout::box_pitch(box.map);
  for (const auto& [field, cause, name] :
       {std::tuple{&Descriptor::stride, stride, "SBO"}, {&Descriptor::leading, leading, "LBO"}}) {
    for (const std::uint32_t bytes : {groups, vgpu::layout::box_bytes(box.map)}) {
      changed = given;
      changed.*field = bytes;
      if (changed == given || !fits(changed)) continue;
      finding.cause = cause;
      finding.text += fmt::format("; it fits with {} {}", name, bytes);
      return;
    }
  }
}

Finding finding_of(const LayoutUse& use, const Memory& memory, std::span<const LayoutUse> uses,
                   std::span<const vgpu::Site> sites) {
  const Descriptor descriptor = vgpu::layout::decode(use.descriptor);
  const auto wrong = misread(use, descriptor, memory);
  const char* const lines = use.operand == 'A' ? "row" : "column";
  if (!wrong) {
    const Written& first = *memory.find(
        vgpu::layout::operand_chunks({descriptor, use.element, use.lines, use.k, use.transposed})
            .front()
            .address);
    const int inner = use.transposed ? use.lines : use.k;
    const int outer = use.transposed ? use.k : use.lines;
    return {fmt::format("reads rows {} to {}, columns {} to {} of the box from {}: fits",
                        first.outer, first.outer + outer - 1, first.inner, first.inner + inner - 1,
                        sites[uses[first.use].site].where)};
  }
  if (wrong->found == nullptr) {
    return {fmt::format("byte {} ({} {}, k {}) was not written by a TMA copy", wrong->address,
                        lines, wrong->line, wrong->k)};
  }
  const LayoutUse& box = uses[wrong->found->use];
  Finding finding;
  finding.fits = false;
  finding.text = fmt::format(
      "wrong: byte {} holds ({}, {}) of the tensor, where ({}, {}) is wanted for {} {}, k {}; the "
      "box is from {}, with {}",
      wrong->address, wrong->found->outer, wrong->found->inner, wrong->outer, wrong->inner, lines,
      wrong->line, wrong->k, sites[box.site].where, text_of(box.map.swizzle));
  find_cause(use, box, memory, finding);
  return finding;
}

}  // namespace

UseRecorder::UseRecorder()
    : watcher_([this](const LayoutUse& use) {
        if (uses_.size() < max_uses) uses_.push_back(use);
      }) {
  vgpu::layout::set_watcher(&watcher_);
}

UseRecorder::~UseRecorder() { vgpu::layout::set_watcher(nullptr); }

std::vector<UsedTile> used_tiles(std::span<const LayoutUse> uses,
                                 std::span<const vgpu::Site> sites) {
  Memory memory;
  std::vector<UsedTile> tiles;
  // Boxes of one map and line are alike wherever they are, operands if their descriptors are.
  std::map<std::tuple<std::uint32_t, char, std::uint64_t, std::string>, std::size_t> known;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const LayoutUse& use = uses[i];
    const bool is_box = use.operand == 0;
    if (is_box) memory.write(i, use);
    Finding finding;
    if (!is_box) finding = finding_of(use, memory, uses, sites);
    const std::string& where = sites[use.site].where;
    const std::tuple key{use.site, use.operand, is_box ? use.map.address : use.descriptor,
                         finding.fits ? std::string() : finding.text};
    const auto [entry, is_new] = known.try_emplace(key, tiles.size());
    if (is_new) {
      tiles.push_back({where.empty() ? sites[use.site].mnemonic : where,
                       is_box ? box_text(use) : operand_text(use), finding.text, finding.fits,
                       finding.cause, 0});
    }
    ++tiles[entry->second].count;
  }
  return tiles;
}

}  // namespace rung::layout
