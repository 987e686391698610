// Extended-precision arithmetic: add.cc, addc, sub.cc, subc, mad.cc, madc (PTX ISA, 9.7.2). The
// condition code CC.CF is a hidden predicate. As on hardware, a - b is computed as a + ~b + 1, and
// CC.CF is the carry of that sum: the inverted borrow.

#include "vgpu/engine/arithmetic/arithmetic.hpp"
#include "vgpu/engine/arithmetic/operations.hpp"
#include "vgpu/engine/lanes/lane_types.hpp"
#include "vgpu/engine/numbers/integer_ops.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

namespace {

/// Operations use unsigned words of twice the width: bit 0 of the upper half is the carry out.
template <class T>
using Word = std::make_unsigned_t<T>;
template <class T>
using Wide = Twice<Word<T>>;

template <class T>
struct Sum {
  static constexpr int sources = 2;
  static constexpr bool first_carry = false;
  static Wide<T> run(T a, T b, T, Word<T> carry) {
    return static_cast<Wide<T>>(static_cast<Word<T>>(a)) + static_cast<Word<T>>(b) + carry;
  }
};
template <class T>
struct Difference {
  static constexpr int sources = 2;
  static constexpr bool first_carry = true;
  static Wide<T> run(T a, T b, T, Word<T> carry) {
    return Sum<T>::run(a, static_cast<T>(~b), T{}, carry);
  }
};
template <class T>
struct ProductLow {
  static constexpr int sources = 3;
  static constexpr bool first_carry = false;
  static Wide<T> run(T a, T b, T c, Word<T> carry) {
    return Sum<T>::run(wrapped_product(a, b), c, T{}, carry);
  }
};
template <class T>
struct ProductHigh {
  static constexpr int sources = 3;
  static constexpr bool first_carry = false;
  static Wide<T> run(T a, T b, T c, Word<T> carry) {
    return Sum<T>::run(high_product(a, b), c, T{}, carry);
  }
};

template <class Op, class T, bool reads, bool writes>
void with_carry(Warp& warp, const Instr& instr) {
  Mask& flags = warp.predicate(carry_row);
  const T* const a = warp.row<T>(instr.row[1]);
  const T* const b = warp.row<T>(instr.row[2]);
  const T* const c = warp.row<T>(instr.row[static_cast<std::size_t>(Op::sources)]);
  T* const d = warp.row<T>(instr.row[0]);
  for (Mask rest = warp.mask; rest != 0; rest &= rest - 1) {
    const int lane = first_lane(rest);
    const Mask bit = Mask{1} << lane;
    const bool carry = reads ? (flags & bit) != 0 : Op::first_carry;
    const auto result = Op::run(a[lane], b[lane], c[lane], carry);
    d[lane] = static_cast<T>(result);
    if constexpr (writes) {
      flags = ((result >> (sizeof(T) * 8)) & 1) != 0 ? flags | bit : flags & ~bit;
    }
  }
}

template <class Op, class T, bool reads, bool writes>
OpSpec spec() {
  const Handler handler = with_carry<Op, T, reads, writes>;
  return {handler, handler, std::vector<ptx::Type>(Op::sources + 1, ptx_type<T>())};
}

/// Adds the three forms of an operation: OP.cc, OPc and OPc.cc.
template <class Op, class T>
void add_forms(OpTable& table, const std::string& opcode, const std::string& part,
               const std::string& type) {
  table.add({opcode, part, ".cc", type}, spec<Op, T, false, true>());
  table.add({opcode, "c", part, type}, spec<Op, T, true, false>());
  table.add({opcode, "c", part, ".cc", type}, spec<Op, T, true, true>());
}

template <class T>
void add_type(OpTable& table, const std::string& type) {
  add_forms<Sum<T>, T>(table, "add", "", type);
  add_forms<Difference<T>, T>(table, "sub", "", type);
  add_forms<ProductLow<T>, T>(table, "mad", ".lo", type);
  add_forms<ProductHigh<T>, T>(table, "mad", ".hi", type);
}

}  // namespace

void add_carry_arithmetic(OpTable& table) {
  add_type<std::uint32_t>(table, ".u32");
  add_type<std::int32_t>(table, ".s32");
  add_type<std::uint64_t>(table, ".u64");
  add_type<std::int64_t>(table, ".s64");
}

}  // namespace rung::vgpu
