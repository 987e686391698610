#include "vgpu/engine/memory/undefined.hpp"

#include <algorithm>
#include <ranges>
#include <string>

#include "vgpu/engine/execution/block.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/observers.hpp"

namespace rung::vgpu {
namespace {

constexpr std::uint64_t all_bits = ~std::uint64_t{0};

std::uint64_t low_bits(int count) { return count >= 64 ? all_bits : (1ull << count) - 1; }

std::uint64_t shadow(Warp& warp, const Instr& instr, int row, int lane) {
  return warp.row<const std::uint64_t>(instr.rows[row])[lane];
}

template <class F>
void set(Warp& warp, std::uint32_t row, const F& value) {
  auto* const to = warp.row<std::uint64_t>(row);
  for (Mask left = warp.mask; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    to[lane] = value(lane);
  }
}

bool holds(Warp& warp, std::uint32_t predicate_row, int lane) {
  return (warp.predicate(predicate_row) >> lane & 1u) != 0;
}

std::uint64_t value(Warp& warp, std::uint32_t row, int bytes, int lane) {
  switch (bytes) {
    case 2: return warp.row<const std::uint16_t>(row)[lane];
    case 4: return warp.row<const std::uint32_t>(row)[lane];
    case 8: return warp.row<const std::uint64_t>(row)[lane];
    default: return holds(warp, row, lane) ? all_bits : 0;
  }
}

/// Replaces the site of the last write where that write stored an undefined value. The block's
/// index distinguishes it from those of earlier blocks, whose shadows are not cleared.
std::uint32_t taken_back_in(const Block& block) {
  return 1u << 31 | static_cast<std::uint32_t>(block.linear);
}

void take_back(Block& block, std::size_t granule) {
  block.shadow.take_back_write(granule);
  block.shadow.write_site[granule] = taken_back_in(block);
}

/// The offset of the lane's value in shared memory.
std::uint64_t first_byte(Warp& warp, const Instr& instr, int lane) {
  const auto at = instr.value<SharedValue>();
  const std::uint64_t base =
      at.address_bytes == 0 ? 0 : value(warp, instr.rows[1], at.address_bytes, lane);
  return base + static_cast<std::uint64_t>(std::int64_t{at.offset});
}

/// The granules of the lane's value in shared memory; empty if it is out of bounds.
auto granules(Warp& warp, const Instr& instr, int lane) {
  const auto at = instr.value<SharedValue>();
  const SharedShadow& shadows = warp.block->shadow;
  const std::uint64_t first = first_byte(warp, instr, lane);
  const std::uint64_t end = std::min<std::uint64_t>((first + at.bytes - 1) >> shadows.granule_shift,
                                                    shadows.written.size() - 1) +
                            1;
  const std::uint64_t begin = std::min(first >> shadows.granule_shift, end);
  return std::views::iota(static_cast<std::size_t>(begin), static_cast<std::size_t>(end));
}

/// The read that the thread's value comes from: preferably one by the load, else another by the thread, else the load in
/// another thread, from which it came by a shuffle.
const Block::UnwrittenRead* unwritten_read(const Block& block, std::uint32_t load, int thread) {
  const auto& reads = block.unwritten_reads;
  const auto own = reads.find({load, thread});
  if (own != reads.end()) return &own->second;
  const auto found = [&](const auto& matches) {
    const auto at = std::ranges::find_if(reads, matches);
    return at == reads.end() ? nullptr : &at->second;
  };
  if (const auto* read = found([&](const auto& at) { return at.first.second == thread; })) {
    return read;
  }
  if (const auto* read = found([&](const auto& at) { return at.first.first == load; })) return read;
  return reads.empty() ? nullptr : &reads.begin()->second;
}

}  // namespace

void undefined_if_any(Warp& warp, const Instr& instr) {
  const auto written = static_cast<std::uint32_t>(instr.imm);
  const auto sources = static_cast<std::uint32_t>(instr.imm >> 32);
  std::uint64_t any[warp_size] = {};
  for (std::uint32_t i = written; i < written + sources; ++i) {
    for (int lane = 0; lane < warp_size; ++lane) {
      any[lane] |= shadow(warp, instr, static_cast<int>(i), lane);
    }
  }
  for (std::uint32_t i = 0; i < written; ++i) {
    set(warp, instr.rows[i], [&](int lane) { return any[lane] != 0 ? all_bits : 0; });
  }
}

void undefined_by_halves(Warp& warp, const Instr& instr) {
  const auto width = static_cast<std::uint32_t>(instr.imm);
  const auto sources = static_cast<int>(instr.imm >> 32);
  const std::uint64_t low = low_bits(static_cast<int>(width));
  set(warp, instr.rows[0], [&](int lane) {
    std::uint64_t any = 0;
    for (int i = 1; i <= sources; ++i) any |= shadow(warp, instr, i, lane);
    return ((any & low) != 0 ? low : 0) | ((any & ~low) != 0 ? ~low : 0);
  });
}

void undefined_if_either(Warp& warp, const Instr& instr) {
  set(warp, instr.rows[0],
      [&](int lane) { return shadow(warp, instr, 1, lane) | shadow(warp, instr, 2, lane); });
}

void undefined_part(Warp& warp, const Instr& instr) {
  const auto part = instr.value<UndefinedPart>();
  set(warp, instr.rows[0], [&](int lane) {
    const std::uint64_t bits = shadow(warp, instr, 1, lane) >> part.from & low_bits(part.width);
    return bits << part.to | (part.adds ? shadow(warp, instr, 0, lane) : 0);
  });
}

void undefined_by_choice(Warp& warp, const Instr& instr) {
  set(warp, instr.rows[0], [&](int lane) {
    if (shadow(warp, instr, 4, lane) != 0) return all_bits;
    return shadow(warp, instr, holds(warp, instr.rows[3], lane) ? 1 : 2, lane);
  });
}

void undefined_by_logic(Warp& warp, const Instr& instr) {
  const auto op = instr.value<UndefinedLogic>();
  // The bits for which the other value decides the result.
  const auto undecided = [&](int row, int lane) {
    const std::uint64_t bits = value(warp, instr.rows[row], op.bytes, lane);
    return op.is_or ? ~bits : bits;
  };
  set(warp, instr.rows[0], [&](int lane) {
    const std::uint64_t a = shadow(warp, instr, 1, lane), b = shadow(warp, instr, 2, lane);
    const std::uint64_t bits = (a & b) | (a & undecided(4, lane)) | (b & undecided(3, lane));
    return op.bytes == 0 ? bits : bits & low_bits(8 * op.bytes);
  });
}

bool holds_undefined(const Block& block, std::size_t granule) {
  return block.shadow.written[granule] == 0 &&
         block.shadow.write_site[granule] == taken_back_in(block);
}

void take_back_undefined(Warp& warp, const Instr& instr) {
  if (!warp.block->worker.observe) return;
  const std::uint64_t stored = low_bits(8 * instr.value<SharedValue>().bytes);
  for (Mask left = warp.mask; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    if ((shadow(warp, instr, 0, lane) & stored) == 0) continue;
    Block& block = *warp.block;
    const auto* const from = unwritten_read(block, Kernel::no_site, block.thread(warp, lane));
    for (const std::size_t at : granules(warp, instr, lane)) {
      take_back(block, at);
      if (from != nullptr) block.undefined_stores.insert_or_assign(at, *from);
    }
  }
}

void undefined_in_shared(Warp& warp, const Instr& instr) {
  set(warp, instr.rows[0], [&](int lane) {
    if (!warp.block->worker.observe) return std::uint64_t{0};
    const bool undefined = std::ranges::any_of(granules(warp, instr, lane), [&](std::size_t at) {
      return holds_undefined(*warp.block, at);
    });
    return undefined ? low_bits(8 * instr.value<SharedValue>().bytes) : 0;
  });
}

void undefined_by_load(Warp& warp, const Instr& instr) {
  Block& block = *warp.block;
  const auto at = instr.value<SharedValue>();
  const int shift = block.shadow.granule_shift;
  set(warp, instr.rows[0], [&](int lane) {
    std::uint64_t bits = 0;
    const std::uint64_t first = first_byte(warp, instr, lane);
    const auto access = static_cast<std::uint32_t>(first - at.within);
    for (const std::size_t granule : granules(warp, instr, lane)) {
      if (!block.observers.is_undefined_read(block, warp, lane, instr.site, access, granule)) {
        continue;
      }
      const std::uint64_t begin = std::max<std::uint64_t>(granule << shift, first);
      const std::uint64_t end = std::min<std::uint64_t>((granule + 1) << shift, first + at.bytes);
      bits |= low_bits(static_cast<int>(8 * (end - begin))) << 8 * (begin - first);
      const int thread = block.thread(warp, lane);
      const auto stored = block.undefined_stores.find(granule);
      const bool is_stored =
          stored != block.undefined_stores.end() && holds_undefined(block, granule);
      block.unwritten_reads.try_emplace(
          {instr.site, thread},
          is_stored
              ? stored->second
              : Block::UnwrittenRead{instr.site, thread, granule << shift, exited_threads(block)});
    }
    return bits;
  });
}

void report_undefined(Warp& warp, const Instr& instr) {
  Block& block = *warp.block;
  if (!block.worker.observe) return;
  const auto& use = instr.op<UndefinedUse>();
  for (Mask left = warp.mask; left != 0; left &= left - 1) {
    const int lane = first_lane(left);
    if (shadow(warp, instr, 0, lane) == 0) continue;
    const int thread = block.thread(warp, lane);
    const Block::UnwrittenRead* const read =
        use.text.empty() ? unwritten_read(block, use.load, thread) : nullptr;
    if (read != nullptr) {
      report_unwritten(block, read->thread, read->site, read->offset, read->exited);
    } else {
      report(block, HazardKind::uninitialised_read, thread, instr.site, "use", {}, use.text);
    }
    return;
  }
}

}  // namespace rung::vgpu
