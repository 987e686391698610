// redux.sync: a reduction over the members of a warp (PTX ISA, 9.7.13.8).

#include <algorithm>

#include "vgpu/engine/arithmetic/operations.hpp"
#include "vgpu/engine/lanes/lane_types.hpp"
#include "vgpu/engine/numbers/float_bits.hpp"
#include "vgpu/engine/numbers/integer_ops.hpp"
#include "vgpu/engine/warp/warp_members.hpp"

namespace rung::vgpu {

namespace {

template <class T>
struct Sum {
  using Value = T;
  static T of(T a, T b) { return wrapped_sum(a, b); }
};
template <class T>
struct Least {
  using Value = T;
  static T of(T a, T b) { return a < b ? a : b; }
};
template <class T>
struct Greatest {
  using Value = T;
  static T of(T a, T b) { return a < b ? b : a; }
};
struct Conjunction {
  using Value = std::uint32_t;
  static Value of(Value a, Value b) { return a & b; }
};
struct Disjunction {
  using Value = std::uint32_t;
  static Value of(Value a, Value b) { return a | b; }
};
struct Exclusion {
  using Value = std::uint32_t;
  static Value of(Value a, Value b) { return a ^ b; }
};
template <bool smaller, bool abs, bool nan>
struct ExtremeFloat {
  using Value = float;
  static float of(float a, float b) {
    return abs ? extreme<smaller, nan>(magnitude(a), magnitude(b)) : extreme<smaller, nan>(a, b);
  }
};

/// Rows: d, a, membermask. A reduction over a single lane applies the operation to the value and
/// itself, which only changes NaN, and signs under .abs. Sums are exempt.
template <class Op, bool idempotent>
void reduce(Warp& warp, const Instr& instr) {
  using T = typename Op::Value;
  T values[warp_size];
  std::copy_n(warp.row<T>(instr.row[1]), warp_size, values);
  for_each_member(warp, instr, 2, [&](int lane, Mask members) {
    if (members == 0) return;
    const T start = values[first_lane(members)];
    T result = idempotent ? Op::of(start, start) : start;
    for (Mask rest = members & (members - 1); rest != 0; rest &= rest - 1) {
      result = Op::of(result, values[first_lane(rest)]);
    }
    warp.row<T>(instr.row[0])[lane] = result;
  });
}

template <class Op, bool idempotent = true>
void add(OpTable& table, const std::string& rest) {
  constexpr ptx::Type type = ptx_type<typename Op::Value>();
  table.add({"redux.sync.", rest},
            {reduce<Op, idempotent>, reduce<Op, idempotent>, {type, type, ptx::Type::b32}});
}

template <bool smaller>
void add_floats(OpTable& table, const std::string& operation) {
  add<ExtremeFloat<smaller, false, false>>(table, operation + ".f32");
  add<ExtremeFloat<smaller, false, true>>(table, operation + ".NaN.f32");
  add<ExtremeFloat<smaller, true, false>>(table, operation + ".abs.f32");
  add<ExtremeFloat<smaller, true, true>>(table, operation + ".abs.NaN.f32");
}

}  // namespace

void add_reductions(OpTable& table) {
  add<Sum<std::uint32_t>, false>(table, "add.u32");
  add<Sum<std::int32_t>, false>(table, "add.s32");
  add<Least<std::uint32_t>>(table, "min.u32");
  add<Least<std::int32_t>>(table, "min.s32");
  add<Greatest<std::uint32_t>>(table, "max.u32");
  add<Greatest<std::int32_t>>(table, "max.s32");
  add<Conjunction>(table, "and.b32");
  add<Disjunction>(table, "or.b32");
  add<Exclusion, false>(table, "xor.b32");
  add_floats<true>(table, "min");
  add_floats<false>(table, "max");
}

}  // namespace rung::vgpu
