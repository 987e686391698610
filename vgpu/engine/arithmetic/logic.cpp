// Bitwise logic and shifts in SIMD code (PTX ISA, 9.7.8).

#include "vgpu/engine/arithmetic/operations.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/arithmetic/logic.cpp"
#include "vgpu/engine/lanes/targets.hpp"
// Include after targets.hpp.
#include "vgpu/engine/lanes/lanes-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {

template <class T>
struct And {
  static T run(T a, T b) { return static_cast<T>(a & b); }
};
template <class T>
struct Or {
  static T run(T a, T b) { return static_cast<T>(a | b); }
};
template <class T>
struct Xor {
  static T run(T a, T b) { return static_cast<T>(a ^ b); }
};
template <class T>
struct BitNot {
  static T run(T a) { return static_cast<T>(~a); }
};
template <class T>
struct LogicalNot {
  static T run(T a) { return a == 0 ? 1 : 0; }
};

// Shift amounts are unsigned 32-bit numbers, clamped to the width.
template <class T>
struct ShiftLeft {
  static T run(T a, std::uint32_t amount) {
    constexpr std::uint32_t bits = sizeof(T) * 8;
    const auto shifted = static_cast<T>(a << (amount & (bits - 1)));
    return amount < bits ? shifted : T{0};
  }
};
template <class T>
struct ShiftRight {
  static T run(T a, std::uint32_t amount) {
    constexpr std::uint32_t bits = sizeof(T) * 8;
    if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(a >> (amount < bits ? amount : bits - 1));
    } else {
      const auto shifted = static_cast<T>(a >> (amount & (bits - 1)));
      return amount < bits ? shifted : T{0};
    }
  }
};

// shf: funnel shift of b:a. left returns the upper word, right the lower one.
template <bool left, bool clamp>
struct FunnelShift {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const std::uint32_t amount = clamp ? (c < 32 ? c : 32) : c & 31;
    const std::uint64_t both = std::uint64_t{b} << 32 | a;
    return static_cast<std::uint32_t>(left ? (both << amount) >> 32 : both >> amount);
  }
};

// lop3: bit 4a + 2b + c of the lookup table is the result for input bits a, b, c.
struct Lop3 {
  static std::uint32_t run(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t,
                           Imm table) {
    const std::uint32_t result_00 = pick(table, 0, c), result_01 = pick(table, 2, c),
                        result_10 = pick(table, 4, c), result_11 = pick(table, 6, c);
    const std::uint32_t result_0 = (result_01 & b) | (result_00 & ~b);
    const std::uint32_t result_1 = (result_11 & b) | (result_10 & ~b);
    return (result_1 & a) | (result_0 & ~a);
  }
  static std::uint32_t pick(Imm table, int at, std::uint32_t c) {
    return (all_if_bit(table, at + 1) & c) | (all_if_bit(table, at) & ~c);
  }
  static std::uint32_t all_if_bit(Imm table, int bit) {
    return static_cast<std::uint32_t>(0 - ((table.bits >> bit) & 1));
  }
};

template <class T>
void add_bits(OpTable& table, const std::string& type) {
  table.add({"and.", type}, vector_spec<And<T>>());
  table.add({"or.", type}, vector_spec<Or<T>>());
  table.add({"xor.", type}, vector_spec<Xor<T>>());
  table.add({"not.", type}, vector_spec<BitNot<T>>());
  table.add({"cnot.", type}, vector_spec<LogicalNot<T>>());
  table.add({"shl.", type}, vector_spec<ShiftLeft<T>>());
  table.add({"shr.", type}, vector_spec<ShiftRight<T>>());
}

void fill_logic(OpTable& table) {
  add_bits<std::uint16_t>(table, "b16");
  add_bits<std::uint32_t>(table, "b32");
  add_bits<std::uint64_t>(table, "b64");
  table.add({"shr.u16"}, vector_spec<ShiftRight<std::uint16_t>>());
  table.add({"shr.u32"}, vector_spec<ShiftRight<std::uint32_t>>());
  table.add({"shr.u64"}, vector_spec<ShiftRight<std::uint64_t>>());
  table.add({"shr.s16"}, vector_spec<ShiftRight<std::int16_t>>());
  table.add({"shr.s32"}, vector_spec<ShiftRight<std::int32_t>>());
  table.add({"shr.s64"}, vector_spec<ShiftRight<std::int64_t>>());
  table.add({"shf.l.clamp.b32"}, vector_spec<FunnelShift<true, true>>());
  table.add({"shf.l.wrap.b32"}, vector_spec<FunnelShift<true, false>>());
  table.add({"shf.r.clamp.b32"}, vector_spec<FunnelShift<false, true>>());
  table.add({"shf.r.wrap.b32"}, vector_spec<FunnelShift<false, false>>());
  table.add({"lop3.b32"}, vector_spec<Lop3>());
}

}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

void add_logic(OpTable& table) { RUNG_PICK_LANES(fill_logic)(table); }

}  // namespace rung::vgpu
#endif  // HWY_ONCE
