// shfl and shfl.sync (PTX ISA, 9.7.9.5 and 9.7.9.6).

#include <algorithm>
#include <array>

#include "vgpu/engine/arithmetic/operations.hpp"
#include "vgpu/engine/warp/warp_members.hpp"

namespace rung::vgpu {

namespace {

enum class Mode { up, down, butterfly, index };

struct From {
  int lane;
  bool in_range;
};

/// The source lane of a shuffle. Bits 12 to 8 of c divide the warp into segments; bits 4 to 0 are
/// the last lane within one (for up: the first).
template <Mode mode>
From source_of(int lane, std::uint32_t b, std::uint32_t c) {
  const auto segment = static_cast<int>(c >> 8 & 31), clamp = static_cast<int>(c & 31);
  const auto offset = static_cast<int>(b & 31);
  const int last = (lane & segment) | (clamp & ~segment);
  const int first = lane & segment;
  int from = lane;
  if constexpr (mode == Mode::up) from = lane - offset;
  if constexpr (mode == Mode::down) from = lane + offset;
  if constexpr (mode == Mode::butterfly) from = lane ^ offset;
  if constexpr (mode == Mode::index) from = first | (offset & ~segment);
  const bool in_range = mode == Mode::up ? from >= last : from <= last;
  return {in_range ? from : lane, in_range};
}

/// Whether all lanes have the same number.
bool is_uniform(const std::uint32_t* row) {
  std::uint32_t off = 0;
  for (int lane = 0; lane < warp_size; ++lane) off |= row[lane] ^ row[0];
  return off == 0;
}

/// Rows d, [p], a, b, c, [membermask].
template <Mode mode, bool pair, bool sync>
void shuffle(Warp& warp, const Instr& instr) {
  constexpr std::size_t first_source = pair ? 2 : 1;
  std::uint32_t* const d = warp.row<std::uint32_t>(instr.row[0]);
  const std::uint32_t* const a = warp.row<std::uint32_t>(instr.row[first_source]);
  const std::uint32_t* const b = warp.row<std::uint32_t>(instr.row[first_source + 1]);
  const std::uint32_t* const c = warp.row<std::uint32_t>(instr.row[first_source + 2]);
  std::array<std::uint32_t, warp_size> results;
  Mask in_range = 0;
  const auto read = [&](int lane, std::uint32_t offset, std::uint32_t clamp) {
    const From from = source_of<mode>(lane, offset, clamp);
    results[static_cast<std::size_t>(lane)] = a[from.lane];
    in_range |= Mask{from.in_range} << lane;
  };
  const Mask* const members = sync ? warp.row<Mask>(instr.row[first_source + 3]) : nullptr;
  const bool all_take_part = members == nullptr || (members[0] == all_lanes && is_uniform(members));
  if (warp.mask == all_lanes && all_take_part && is_uniform(b) && is_uniform(c)) {
    for (int lane = 0; lane < warp_size; ++lane) read(lane, b[0], c[0]);
  } else if constexpr (sync) {
    for_each_member(warp, instr, first_source + 3,
                    [&](int lane, Mask) { read(lane, b[lane], c[lane]); });
  } else {
    for (Mask rest = warp.mask; rest != 0; rest &= rest - 1) {
      const int lane = first_lane(rest);
      read(lane, b[lane], c[lane]);
    }
  }
  if (warp.mask == all_lanes) {
    std::copy(results.begin(), results.end(), d);
    if constexpr (pair) warp.predicate(instr.row[1]) = in_range;
    return;
  }
  for (Mask rest = warp.mask; rest != 0; rest &= rest - 1) {
    d[first_lane(rest)] = results[static_cast<std::size_t>(first_lane(rest))];
  }
  if constexpr (pair) {
    Mask& p = warp.predicate(instr.row[1]);
    p = (in_range & warp.mask) | (p & ~warp.mask);
  }
}

template <Mode mode, bool pair, bool sync>
OpSpec spec() {
  using ptx::Type;
  std::vector<Type> operands(4 + pair + sync, Type::b32);
  if (pair) operands[1] = Type::pred;
  return {shuffle<mode, pair, sync>, shuffle<mode, pair, sync>, operands, pair ? 2 : 1};
}

template <Mode mode>
void add_mode(OpTable& table, const std::string& name) {
  table.add({"shfl.", name, ".b32"}, spec<mode, false, false>());
  table.add({"shfl.", name, ".b32 p|q"}, spec<mode, true, false>());
  table.add({"shfl.sync.", name, ".b32"}, spec<mode, false, true>());
  table.add({"shfl.sync.", name, ".b32 p|q"}, spec<mode, true, true>());
}

}  // namespace

void add_shuffles(OpTable& table) {
  add_mode<Mode::up>(table, "up");
  add_mode<Mode::down>(table, "down");
  add_mode<Mode::butterfly>(table, "bfly");
  add_mode<Mode::index>(table, "idx");
}

}  // namespace rung::vgpu
