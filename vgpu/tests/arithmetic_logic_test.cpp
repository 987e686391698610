// Logic, shifts, bit fields, permutations and moves, against the pseudocode of the PTX ISA, bit by
// bit.

#include "vgpu/tests/lanes.hpp"

namespace rung::vgpu::lanes {
namespace {

using U = std::uint32_t;

template <class T>
bool bit(T word, std::uint64_t index) {
  return index < sizeof(T) * 8 && (static_cast<std::uint64_t>(word) >> index & 1) != 0;
}

template <class T>
void check_bits(const std::string& type) {
  check<T, T, T>("and." + type, [](T a, T b) { return static_cast<T>(a & b); });
  check<T, T, T>("or." + type, [](T a, T b) { return static_cast<T>(a | b); });
  check<T, T, T>("xor." + type, [](T a, T b) { return static_cast<T>(a ^ b); });
  check<T, T>("not." + type, [](T a) { return static_cast<T>(~a); });
  check<T, T>("cnot." + type, [](T a) { return static_cast<T>(a == 0); });
  check<T, T>("mov." + type, [](T a) { return a; });
  check<T, T, U>("shl." + type, [](T a, U n) {
    T result = 0;
    for (std::uint64_t i = n; i < sizeof(T) * 8; ++i) {
      if (bit(a, i - n)) result = static_cast<T>(result | T{1} << i);
    }
    return result;
  });
}

template <class T>
void check_right_shift(const std::string& type) {
  using Bits = std::make_unsigned_t<T>;
  check<T, T, U>("shr." + type, [](T a, U n) {
    Bits result = 0;
    for (std::uint64_t i = 0; i < sizeof(T) * 8; ++i) {
      const bool inside = std::uint64_t{n} + i < sizeof(T) * 8;
      const bool source = inside ? bit(static_cast<Bits>(a), n + i) : std::is_signed_v<T> && a < 0;
      if (source) result = static_cast<Bits>(result | Bits{1} << i);
    }
    return static_cast<T>(result);
  });
}

TEST(Logic, IsBitwise) {
  check_bits<std::uint16_t>("b16");
  check_bits<std::uint32_t>("b32");
  check_bits<std::uint64_t>("b64");
}

TEST(Logic, ShiftsClamp) {
  check_right_shift<std::uint16_t>("b16");
  check_right_shift<std::int16_t>("s16");
  check_right_shift<std::uint32_t>("u32");
  check_right_shift<std::int32_t>("s32");
  check_right_shift<std::uint64_t>("u64");
  check_right_shift<std::int64_t>("s64");
}

TEST(Logic, FunnelShifts) {
  for (const bool left : {false, true}) {
    for (const bool clamp : {false, true}) {
      const std::string mnemonic =
          std::string("shf.") + (left ? "l" : "r") + (clamp ? ".clamp" : ".wrap") + ".b32";
      check<U, U, U, U>(mnemonic, [&](U a, U b, U c) {
        const U n = clamp ? std::min(c, 32u) : c & 31;
        U result = 0;
        for (U i = 0; i < 32; ++i) {
          const U from = left ? 32 + i - n : i + n;  // in b:a
          const bool set = from < 32 ? bit(a, from) : bit(b, from - 32);
          if (set) result |= 1u << i;
        }
        return result;
      });
    }
  }
}

TEST(Logic, LookupTables) {
  for (const U table : {0u, 1u, 0x80u, 0xF0u, 0xCCu, 0xAAu, 0x96u, 0xE8u, 0x1Bu, 0xFEu, 255u}) {
    ptx::Instruction lop3 = plain("lop3.b32", 4);
    lop3.operands[4] = constant(table);
    const auto spec = arithmetic(lop3);
    ASSERT_TRUE(spec);
    Machine machine;
    for_combinations<U, U, U>([&](const Row<U>& a, const Row<U>& b, const Row<U>& c) {
      machine.set(1, a);
      machine.set(2, b);
      machine.set(3, c);
      machine.run(*spec, all_lanes);
      for (std::size_t lane = 0; lane < warp_size; ++lane) {
        U wanted = 0;
        for (int i = 0; i < 32; ++i) {
          const int index = bit(a[lane], i) * 4 + bit(b[lane], i) * 2 + bit(c[lane], i);
          if (bit(table, index)) wanted |= 1u << i;
        }
        ASSERT_EQ(machine.get<U>(0)[lane], wanted) << table;
      }
    });
  }
}

template <class T>
void check_fields(const std::string& type, const std::string& bits_type) {
  using Bits = std::make_unsigned_t<T>;
  constexpr std::uint64_t last = sizeof(T) * 8 - 1;
  check<T, T, U, U>("bfe." + type, [=](T a, U b, U c) {
    const std::uint64_t position = b & 0xFF, length = c & 0xFF;
    const bool sign = std::is_signed_v<T> && length != 0 &&
                      bit(static_cast<Bits>(a), std::min(position + length - 1, last));
    Bits result = 0;
    for (std::uint64_t i = 0; i <= last; ++i) {
      const bool inside = i < length && position + i <= last;
      if (inside ? bit(static_cast<Bits>(a), position + i) : sign) result |= Bits{1} << i;
    }
    return static_cast<T>(result);
  });
  ptx::Instruction bfi = plain("bfi." + bits_type, 4);
  const auto spec = arithmetic(bfi);
  ASSERT_TRUE(spec);
  Machine machine;
  for_combinations<Bits, U, U>([&](const Row<Bits>& a, const Row<U>& c, const Row<U>& d) {
    Row<Bits> b;
    for (std::size_t i = 0; i < warp_size; ++i) b[i] = static_cast<Bits>(a[31 - i] * 3 + 1);
    machine.set(1, a);
    machine.set(2, b);
    machine.set(3, c);
    machine.set(4, d);
    machine.run(*spec, all_lanes);
    const Row<Bits> results = machine.get<Bits>(0);
    for (std::size_t lane = 0; lane < warp_size; ++lane) {
      const std::uint64_t position = c[lane] & 0xFF, length = d[lane] & 0xFF;
      Bits wanted = b[lane];
      for (std::uint64_t i = 0; i < length && position + i <= last; ++i) {
        const Bits place = Bits{1} << (position + i);
        wanted = bit(a[lane], i) ? wanted | place : wanted & ~place;
      }
      ASSERT_EQ(results[lane], wanted);
    }
  });
  const auto highest = [](T a) {
    const Bits bits = static_cast<Bits>(a < 0 ? ~a : a);
    int at = static_cast<int>(last);
    while (at >= 0 && !bit(bits, static_cast<std::uint64_t>(at))) --at;
    return at;
  };
  check<U, T>("bfind." + type, [=](T a) { return static_cast<U>(highest(a)); });
  check<U, T>("bfind.shiftamt." + type, [=](T a) {
    return highest(a) < 0 ? ~0u : static_cast<U>(static_cast<int>(last) - highest(a));
  });
}

template <class T>
void check_counts(const std::string& type) {
  check<U, T>("popc." + type, [](T a) {
    U count = 0;
    for (std::uint64_t i = 0; i < sizeof(T) * 8; ++i) count += bit(a, i);
    return count;
  });
  check<U, T>("clz." + type, [](T a) {
    U count = 0;
    while (count < sizeof(T) * 8 && !bit(a, sizeof(T) * 8 - 1 - count)) ++count;
    return count;
  });
  check<T, T>("brev." + type, [](T a) {
    T result = 0;
    for (std::uint64_t i = 0; i < sizeof(T) * 8; ++i) {
      if (bit(a, i)) result |= T{1} << (sizeof(T) * 8 - 1 - i);
    }
    return result;
  });
}

TEST(BitFields, FollowThePseudocode) {
  check_fields<std::uint32_t>("u32", "b32");
  check_fields<std::int32_t>("s32", "b32");
  check_fields<std::uint64_t>("u64", "b64");
  check_fields<std::int64_t>("s64", "b64");
  check_counts<std::uint32_t>("b32");
  check_counts<std::uint64_t>("b64");
}

TEST(BitFields, FindsTheNthSetBit) {
  Row<U> mask, base;
  Row<std::int32_t> n;
  mask.fill(0b1011'0100u);
  base.fill(4);
  for (std::size_t i = 0; i < warp_size; ++i) n[i] = static_cast<std::int32_t>(i) - 4;
  const auto results = run<U>(plain("fns.b32", 3), mask, base, n);
  // For n = -4 … 4: downwards from bit 4, bit 4 itself, upwards from bit 4.
  const std::vector<U> wanted = {~0u, ~0u, 2, 4, 4, 4, 5, 7, ~0u};
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(results[i], wanted[i]) << n[i];
}

TEST(BitFields, MasksAndExtensions) {
  for (const bool clamp : {false, true}) {
    const std::string mode = clamp ? "clamp" : "wrap";
    check<U, U, U>("bmsk." + mode + ".b32", [&](U a, U b) {
      if (!clamp) a %= 32, b %= 32;
      U result = 0;
      for (std::uint64_t i = a; i < 32 && i < std::uint64_t{a} + b; ++i) result |= 1u << i;
      return result;
    });
    const auto extended = [&](U a, U b, bool is_signed) {
      if (clamp && b >= 32) return a;
      b %= 32;
      U result = 0;
      for (U i = 0; i < 32; ++i) {
        if (i < b ? bit(a, i) : is_signed && b != 0 && bit(a, b - 1)) result |= 1u << i;
      }
      return result;
    };
    check<U, U, U>("szext." + mode + ".u32", [&](U a, U b) { return extended(a, b, false); });
    check<U, U, U>("szext." + mode + ".s32", [&](U a, U b) { return extended(a, b, true); });
  }
}

TEST(Permute, PicksBytes) {
  const auto prmt = [](const std::string& mode, U a, U b, U c) {
    Row<U> x, y, z;
    x.fill(a);
    y.fill(b);
    z.fill(c);
    return run<U>(plain("prmt.b32" + mode, 3), x, y, z)[5];
  };
  const U a = 0x83828180, b = 0x07060584;
  EXPECT_EQ(prmt("", a, b, 0x3210), a);
  EXPECT_EQ(prmt("", a, b, 0x7654), b);
  EXPECT_EQ(prmt("", a, b, 0x5410), 0x05848180u);
  EXPECT_EQ(prmt("", a, b, 0xFEDC), 0x000000FFu) << "signs of bytes 7, 6, 5, 4";
  EXPECT_EQ(prmt("", a, b, 0xABCD3210), a) << "the upper half of c does not count";
  // The tables of PTX ISA 9.7.9.7, for c = 1.
  EXPECT_EQ(prmt(".f4e", a, b, 1), 0x84838281u) << "4321";
  EXPECT_EQ(prmt(".b4e", a, b, 1), 0x06078081u) << "6701";
  EXPECT_EQ(prmt(".rc8", a, b, 1), 0x81818181u) << "1111";
  EXPECT_EQ(prmt(".ecl", a, b, 1), 0x83828181u) << "3211";
  EXPECT_EQ(prmt(".ecr", a, b, 1), 0x81818180u) << "1110";
  EXPECT_EQ(prmt(".rc16", a, b, 1), 0x83828382u) << "3232";
}

TEST(Move, PacksAndUnpacks) {
  using Kind = ptx::Operand::Kind;
  ptx::Instruction pack = instruction("mov.b64");
  pack.operands = {reg(), group(Kind::vector, 2)};
  check<std::uint64_t, U, U>(pack, [](U a, U b) { return std::uint64_t{b} << 32 | a; });
  pack = instruction("mov.b32");
  pack.operands = {reg(), group(Kind::vector, 2)};
  using H = std::uint16_t;
  check<U, H, H>(pack, [](H a, H b) { return U{b} << 16 | a; });
  pack.operands[1] = group(Kind::vector, 3);
  EXPECT_FALSE(is_known(pack));

  ptx::Instruction unpack = instruction("mov.b64");
  unpack.operands = {group(Kind::vector, 4), reg()};
  const auto spec = arithmetic(unpack);
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->destinations, 4);
  Machine machine;
  Row<std::uint64_t> source;
  for (std::size_t i = 0; i < warp_size; ++i) source[i] = 0x0004'0003'0002'0001u * (i + 1);
  machine.set(2, source);
  // The row of part 2 is also the row of the source.
  machine.run(*spec, some_lanes, {0, 1, 2, 3, 2});
  for (std::size_t lane = 0; lane < warp_size; ++lane) {
    if ((some_lanes >> lane & 1) == 0) continue;
    for (const std::size_t part : {0u, 1u, 2u, 3u}) {
      EXPECT_EQ(machine.get<H>(part)[lane], (part + 1) * (lane + 1));
    }
  }
  EXPECT_EQ(machine.get<H>(0)[0], 0) << "a masked lane";
}

TEST(Predicates, LogicAndNegation) {
  check<bool, bool, bool>("and.pred", [](bool a, bool b) { return a && b; });
  check<bool, bool, bool>("or.pred", [](bool a, bool b) { return a || b; });
  check<bool, bool, bool>("xor.pred", [](bool a, bool b) { return a != b; });
  check<bool, bool>("not.pred", [](bool a) { return !a; });
  check<bool, bool>("mov.pred", [](bool a) { return a; });
  ptx::Instruction negated = plain("and.pred", 2);
  negated.operands[2].negated = true;
  check<bool, bool, bool>(negated, [](bool a, bool b) { return a && !b; });
}

}  // namespace
}  // namespace rung::vgpu::lanes
