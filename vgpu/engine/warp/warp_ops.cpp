// vote, match, activemask and elect (PTX ISA, 9.7.13).

#include "vgpu/engine/warp/warp_ops.hpp"

#include <algorithm>
#include <array>

#include "vgpu/engine/arithmetic/operations.hpp"
#include "vgpu/engine/lanes/lane_types.hpp"
#include "vgpu/engine/warp/warp_members.hpp"

namespace rung::vgpu {

namespace {

using ptx::Type;

enum class Vote { all, any, uniform, ballot };

/// Rows: d, a, [membermask]. Bit 1 of the immediate: a is negated. Lanes that are inactive or not
/// members do not count.
template <Vote vote, bool sync, Participants participants = Participants::named>
void take_vote(Warp& warp, const Instr& instr) {
  const Mask a = warp.predicate(instr.row[1]);
  const Mask holds = (instr.imm & 2) != 0 ? ~a : a;
  const auto write = [&](int lane, Mask members) {
    const Mask yes = holds & members;
    if constexpr (vote == Vote::ballot) {
      warp.row<Mask>(instr.row[0])[lane] = yes;
    } else {
      const bool outcome = vote == Vote::all   ? yes == members
                           : vote == Vote::any ? yes != 0
                                               : yes == members || yes == 0;
      set_bit(warp.predicate(instr.row[0]), lane, outcome);
    }
  };
  if constexpr (sync) {
    for_each_member<participants>(warp, instr, 2, write);
  } else {
    for (Mask rest = warp.mask; rest != 0; rest &= rest - 1) write(first_lane(rest), warp.mask);
  }
}

template <Vote vote>
void add_vote(OpTable& table, const std::string& rest) {
  const Type result = vote == Vote::ballot ? Type::b32 : Type::pred;
  table.add({"vote.", rest},
            {take_vote<vote, false>, take_vote<vote, false>, {result, Type::pred}});
  table.add({"vote.sync.", rest},
            {take_vote<vote, true>, take_vote<vote, true>, {result, Type::pred, Type::b32}});
  // Metal's, which is not PTX (emu/compile/metal).
  constexpr auto active = take_vote<vote, true, Participants::active>;
  table.add({"vote.sync.simdgroup.", rest}, {active, active, {result, Type::pred, Type::b32}});
  // Compilers and programs also write .sync after the mode.
  const std::size_t type = rest.find('.');
  table.add({"vote." + rest.substr(0, type) + ".sync", rest.substr(type)},
            {take_vote<vote, true>, take_vote<vote, true>, {result, Type::pred, Type::b32}});
}

/// The members with the same value as `lane`.
template <class T>
Mask equals(const std::array<T, warp_size>& values, int lane, Mask members) {
  Mask equal = 0;
  for (Mask rest = members; rest != 0; rest &= rest - 1) {
    const int other = first_lane(rest);
    if (values[static_cast<std::size_t>(other)] == values[static_cast<std::size_t>(lane)]) {
      equal |= Mask{1} << other;
    }
  }
  return equal;
}

/// match.any: rows d, a, membermask. match.all: d = the members if all have the same value,
/// otherwise 0; p = true if they do.
template <class T, bool all, bool pair>
void match(Warp& warp, const Instr& instr) {
  constexpr std::size_t a = pair ? 2 : 1;
  std::array<T, warp_size> values;
  std::copy_n(warp.row<T>(instr.row[a]), warp_size, values.begin());
  for_each_member(warp, instr, a + 1, [&](int lane, Mask members) {
    const Mask equal = equals(values, lane, members);
    warp.row<Mask>(instr.row[0])[lane] = all && equal != members ? 0 : equal;
    if constexpr (pair) set_bit(warp.predicate(instr.row[1]), lane, equal == members);
  });
}

template <class T>
void add_match(OpTable& table, const std::string& type) {
  table.add(
      {"match.any.sync.", type},
      {match<T, false, false>, match<T, false, false>, {Type::b32, ptx_type<T>(), Type::b32}});
  table.add({"match.all.sync.", type},
            {match<T, true, false>, match<T, true, false>, {Type::b32, ptx_type<T>(), Type::b32}});
  table.add({"match.all.sync.", type, " p|q"}, {match<T, true, true>,
                                                match<T, true, true>,
                                                {Type::b32, Type::pred, ptx_type<T>(), Type::b32},
                                                2});
}

void active_mask(Warp& warp, const Instr& instr) {
  for (Mask rest = warp.mask; rest != 0; rest &= rest - 1) {
    warp.row<Mask>(instr.row[0])[first_lane(rest)] = warp.mask;
  }
}

/// Elects the first member.
void elect(Warp& warp, const Instr& instr) {
  for_each_member(warp, instr, 2, [&](int lane, Mask members) {
    const int leader = members != 0 ? first_lane(members) : lane;
    warp.row<std::uint32_t>(instr.row[0])[lane] = static_cast<std::uint32_t>(leader);
    set_bit(warp.predicate(instr.row[1]), lane, lane == leader);
  });
}

}  // namespace

void add_votes(OpTable& table) {
  add_vote<Vote::all>(table, "all.pred");
  add_vote<Vote::any>(table, "any.pred");
  add_vote<Vote::uniform>(table, "uni.pred");
  add_vote<Vote::ballot>(table, "ballot.b32");
  add_match<std::uint32_t>(table, "b32");
  add_match<std::uint64_t>(table, "b64");
  table.add({"activemask.b32"}, {active_mask, active_mask, {Type::b32}});
  table.add({"elect.sync p|q"}, {elect, elect, {Type::b32, Type::pred, Type::b32}, 2});
}

}  // namespace rung::vgpu
