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

/// The source lane of a shuffle. Bits 12 to 8 of c divide the warp into segments; bits 4 to 0 give
/// the last lane within a segment (for up, the first).
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

/// The operand c of a shuffle among all 32 lanes.
template <Mode mode>
constexpr std::uint32_t whole_warp = mode == Mode::up ? 0 : 31;

/// A shuffle among all 32 lanes with the same offset for each. Returns the lanes that have a
/// source.
template <Mode mode>
Mask shuffle_whole(const std::uint32_t* a, std::uint32_t offset, std::uint32_t* results) {
  const std::size_t by = offset & 31;
  if constexpr (mode == Mode::index) std::fill_n(results, warp_size, a[by]);
  if constexpr (mode == Mode::butterfly) {
    for (std::size_t lane = 0; lane < warp_size; ++lane) results[lane] = a[lane ^ by];
  }
  if constexpr (mode == Mode::down) {
    std::copy(a + by, a + warp_size, results);
    std::copy(a + warp_size - by, a + warp_size, results + warp_size - by);
    return all_lanes >> by;
  }
  if constexpr (mode == Mode::up) {
    std::copy(a, a + by, results);
    std::copy(a, a + warp_size - by, results + by);
    return all_lanes << by;
  }
  return all_lanes;
}

/// True if all lanes have the same number.
bool is_uniform(const std::uint32_t* row) {
  std::uint32_t off = 0;
  for (int lane = 0; lane < warp_size; ++lane) off |= row[lane] ^ row[0];
  return off == 0;
}

/// How the lanes that take part are known: they are active, or named by a member mask.
enum class Form { active, named, simdgroup };

/// Rows: d, [p], a, b, c, [membermask].
template <Mode mode, bool pair, Form form>
void shuffle(Warp& warp, const Instr& instr) {
  constexpr std::size_t first_source = pair ? 2 : 1;
  constexpr bool sync = form != Form::active;
  std::uint32_t* const d = warp.row<std::uint32_t>(instr.row[0]);
  const std::uint32_t* const a = warp.row<std::uint32_t>(instr.row[first_source]);
  const std::uint32_t* const b = warp.row<std::uint32_t>(instr.row[first_source + 1]);
  const std::uint32_t* const c = warp.row<std::uint32_t>(instr.row[first_source + 2]);
  std::array<std::uint32_t, warp_size> results;
  Mask in_range = 0, absent = 0;  // lanes that read from a lane that the block does not have
  const auto read = [&](int lane, std::uint32_t offset, std::uint32_t clamp) {
    const From from = source_of<mode>(lane, offset, clamp);
    results[static_cast<std::size_t>(lane)] = a[from.lane];
    in_range |= Mask{from.in_range} << lane;
    if ((warp.existing >> from.lane & 1u) == 0) absent |= Mask{1} << lane;
    return from.lane;
  };
  const Mask* const members = sync ? warp.row<Mask>(instr.row[first_source + 3]) : nullptr;
  const bool all_take_part = members == nullptr || (members[0] == all_lanes && is_uniform(members));
  const bool alike = warp.mask == all_lanes && all_take_part && is_uniform(b) && is_uniform(c);
  if (alike && c[0] == whole_warp<mode>) {
    in_range = shuffle_whole<mode>(a, b[0], results.data());
  } else if (alike) {
    for (int lane = 0; lane < warp_size; ++lane) read(lane, b[0], c[0]);
  } else if constexpr (sync) {
    constexpr auto who = form == Form::named ? Participants::named : Participants::active;
    // A program that leaves the source out of the mask knows that the value is undefined, and may discard it.
    Mask expecting = 0;
    for_each_member<who>(warp, instr, first_source + 3, [&](int lane, Mask) {
      expecting |= (members[lane] >> read(lane, b[lane], c[lane]) & 1u) << lane;
    });
    if ((absent & expecting) != 0) report_absent_source(warp, instr, absent & expecting);
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

template <Mode mode, bool pair, Form form>
OpSpec spec() {
  using ptx::Type;
  constexpr bool sync = form != Form::active;
  std::vector<Type> operands(4 + pair + sync, Type::b32);
  if (pair) operands[1] = Type::pred;
  return {shuffle<mode, pair, form>, shuffle<mode, pair, form>, operands, pair ? 2 : 1};
}

template <Mode mode>
void add_mode(OpTable& table, const std::string& name) {
  table.add({"shfl.", name, ".b32"}, spec<mode, false, Form::active>());
  table.add({"shfl.", name, ".b32 p|q"}, spec<mode, true, Form::active>());
  table.add({"shfl.sync.", name, ".b32"}, spec<mode, false, Form::named>());
  table.add({"shfl.sync.", name, ".b32 p|q"}, spec<mode, true, Form::named>());
  // Metal's, which is not PTX (emu/compile/metal).
  table.add({"shfl.sync.simdgroup.", name, ".b32"}, spec<mode, false, Form::simdgroup>());
}

}  // namespace

void add_shuffles(OpTable& table) {
  add_mode<Mode::up>(table, "up");
  add_mode<Mode::down>(table, "down");
  add_mode<Mode::butterfly>(table, "bfly");
  add_mode<Mode::index>(table, "idx");
}

}  // namespace rung::vgpu
