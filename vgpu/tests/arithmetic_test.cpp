// Integer arithmetic, against the definitions of the PTX ISA in 128-bit integers.

#include "vgpu/tests/lanes.hpp"

namespace rung::vgpu::lanes {
namespace {

__extension__ using Wide = __int128;

template <class T>
Wide wide(T x) {
  return static_cast<Wide>(x);
}

template <class T>
T clamp(Wide x) {
  using Limits = std::numeric_limits<T>;
  return static_cast<T>(std::clamp(x, wide(Limits::min()), wide(Limits::max())));
}

template <class T>
void check_common(const std::string& type) {
  constexpr int width = sizeof(T) * 8;
  check<T, T, T>("add." + type, [](T a, T b) { return static_cast<T>(wide(a) + wide(b)); });
  check<T, T, T>("sub." + type, [](T a, T b) { return static_cast<T>(wide(a) - wide(b)); });
  check<T, T, T>("min." + type, [](T a, T b) { return std::min(a, b); });
  check<T, T, T>("max." + type, [](T a, T b) { return std::max(a, b); });
  // Unsigned: a product of two 64-bit numbers may exceed the signed 128-bit range, but does not
  // wrap.
  __extension__ using Product = unsigned __int128;
  const auto product = [](T a, T b) {
    return static_cast<Product>(wide(a)) * static_cast<Product>(wide(b));
  };
  const auto low = [=](T a, T b) { return static_cast<T>(product(a, b)); };
  const auto high = [=](T a, T b) { return static_cast<T>(product(a, b) >> width); };
  const auto sum = [](T a, T b) { return static_cast<T>(wide(a) + wide(b)); };
  check<T, T, T>("mul.lo." + type, low);
  check<T, T, T>("mul.hi." + type, high);
  check<T, T, T, T>("mad.lo." + type, [=](T a, T b, T c) { return sum(low(a, b), c); });
  check<T, T, T, T>("mad.hi." + type, [=](T a, T b, T c) { return sum(high(a, b), c); });
  check<T, T, T, T>("sad." + type, [](T a, T b, T c) {
    return static_cast<T>(wide(c) + (a < b ? wide(b) - wide(a) : wide(a) - wide(b)));
  });
  check<T, T, T>("div." + type, [](T a, T b) {
    return b == 0 ? static_cast<T>(-1) : static_cast<T>(wide(a) / wide(b));
  });
  check<T, T, T>("rem." + type, [](T a, T b) {
    return b == 0 ? static_cast<T>(-1) : static_cast<T>(wide(a) % wide(b));
  });
  if constexpr (std::is_signed_v<T>) {
    check<T, T>("neg." + type, [](T a) { return static_cast<T>(-wide(a)); });
    check<T, T>("abs." + type, [](T a) { return static_cast<T>(a < 0 ? -wide(a) : wide(a)); });
  }
}

TEST(IntegerArithmetic, WrapsInEveryWidth) {
  check_common<std::uint16_t>("u16");
  check_common<std::int16_t>("s16");
  check_common<std::uint32_t>("u32");
  check_common<std::int32_t>("s32");
  check_common<std::uint64_t>("u64");
  check_common<std::int64_t>("s64");
}

template <class T, class D>
void check_wide(const std::string& type) {
  check<D, T, T>("mul.wide." + type, [](T a, T b) { return static_cast<D>(wide(a) * wide(b)); });
  check<D, T, T, D>("mad.wide." + type,
                    [](T a, T b, D c) { return static_cast<D>(wide(a) * wide(b) + wide(c)); });
}

TEST(IntegerArithmetic, WideProductsMayLieWhereTheirSourcesDo) {
  check_wide<std::uint16_t, std::uint32_t>("u16");
  check_wide<std::int16_t, std::int32_t>("s16");
  check_wide<std::uint32_t, std::uint64_t>("u32");
  check_wide<std::int32_t, std::int64_t>("s32");
}

TEST(IntegerArithmetic, Saturates) {
  using T = std::int32_t;
  check<T, T, T>("add.sat.s32", [](T a, T b) { return clamp<T>(wide(a) + b); });
  check<T, T, T>("sub.sat.s32", [](T a, T b) { return clamp<T>(wide(a) - b); });
  check<T, T, T, T>("mad.hi.sat.s32",
                    [](T a, T b, T c) { return clamp<T>((wide(a) * b >> 32) + c); });
  check<T, T, T>("min.relu.s32", [](T a, T b) { return std::max(std::min(a, b), 0); });
  check<T, T, T>("max.relu.s32", [](T a, T b) { return std::max({a, b, 0}); });
}

template <class T>
void check_24(const std::string& type) {
  const auto product = [](T a, T b) {
    const auto cut = [](T x) {
      const Wide low = static_cast<std::uint32_t>(x) & 0xFFFFFF;
      return std::is_signed_v<T> && (low & 0x800000) != 0 ? low - 0x1000000 : low;
    };
    return cut(a) * cut(b);
  };
  check<T, T, T>("mul24.lo." + type, [=](T a, T b) { return static_cast<T>(product(a, b)); });
  check<T, T, T>("mul24.hi." + type, [=](T a, T b) { return static_cast<T>(product(a, b) >> 16); });
  check<T, T, T, T>("mad24.lo." + type,
                    [=](T a, T b, T c) { return static_cast<T>(product(a, b) + c); });
  check<T, T, T, T>("mad24.hi." + type,
                    [=](T a, T b, T c) { return static_cast<T>((product(a, b) >> 16) + c); });
}

TEST(IntegerArithmetic, TakesTwentyFourBits) {
  check_24<std::uint32_t>("u32");
  check_24<std::int32_t>("s32");
}

TEST(IntegerArithmetic, AddsProductsOfBytes) {
  using U = std::uint32_t;
  const auto byte = [](U word, int i, bool is_signed) {
    const int value = static_cast<int>(word >> (8 * i) & 0xFF);
    return is_signed && value > 127 ? value - 256 : value;
  };
  const auto half = [](U word, int i, bool is_signed) {
    const int value = static_cast<int>(word >> (16 * i) & 0xFFFF);
    return is_signed && value > 32767 ? value - 65536 : value;
  };
  for (const bool a_signed : {false, true}) {
    for (const bool b_signed : {false, true}) {
      const std::string types =
          std::string(a_signed ? ".s32" : ".u32") + (b_signed ? ".s32" : ".u32");
      check<U, U, U, U>("dp4a" + types, [&](U a, U b, U c) {
        Wide sum = c;
        for (int i = 0; i < 4; ++i) sum += Wide{byte(a, i, a_signed)} * byte(b, i, b_signed);
        return static_cast<U>(sum);
      });
      for (const int first : {0, 2}) {
        check<U, U, U, U>((first == 0 ? "dp2a.lo" : "dp2a.hi") + types, [&](U a, U b, U c) {
          Wide sum = c;
          for (int i = 0; i < 2; ++i) {
            sum += Wide{half(a, i, a_signed)} * byte(b, first + i, b_signed);
          }
          return static_cast<U>(sum);
        });
      }
    }
  }
}

TEST(IntegerArithmetic, WorksOnPairs) {
  using U = std::uint32_t;
  const auto pair = [](auto op) {
    return [op](U a, U b) {
      const auto low = static_cast<std::uint16_t>(
          op(static_cast<std::int16_t>(a), static_cast<std::int16_t>(b)));
      const auto high = static_cast<std::uint16_t>(
          op(static_cast<std::int16_t>(a >> 16), static_cast<std::int16_t>(b >> 16)));
      return U{high} << 16 | low;
    };
  };
  check<U, U, U>("add.s16x2", pair([](int a, int b) { return a + b; }));
  check<U, U, U>("add.u16x2", pair([](int a, int b) { return a + b; }));
  check<U, U, U>("min.s16x2", pair([](int a, int b) { return std::min(a, b); }));
  check<U, U, U>("max.relu.s16x2", pair([](int a, int b) { return std::max({a, b, 0}); }));
  check<U, U, U>("max.u16x2", pair([](int a, int b) { return std::max(a & 0xFFFF, b & 0xFFFF); }));
}

/// Runs an operation with carry: returns the result and CC.CF of every lane, starting with `carry`
/// as CC.CF.
template <class T>
std::pair<Row<T>, Mask> with_carry(Machine& machine, const std::string& mnemonic, Mask carry,
                                   std::initializer_list<Row<T>> sources) {
  const auto spec = arithmetic(plain(mnemonic, sources.size()));
  if (!spec) {
    ADD_FAILURE() << mnemonic << " is not known";
    return {};
  }
  std::size_t row = 1;
  for (const Row<T>& source : sources) machine.set(row++, source);
  machine.warp.predicate(carry_row) = carry;
  machine.run(*spec, all_lanes);
  return {machine.get<T>(0), machine.warp.predicate(carry_row)};
}

/// Computes with pairs of words as double-width numbers.
template <class T>
void check_extended(const std::string& type) {
  constexpr int width = sizeof(T) * 8;
  __extension__ using Double = unsigned __int128;
  using U = std::make_unsigned_t<T>;
  Machine machine;
  for_combinations<T, T>([&](const Row<T>& a, const Row<T>& b) {
    // {b, a} + {a, b}, {b, a} - {a, b}, and a * b + {a, b}.
    const auto add = with_carry<T>(machine, "add.cc." + type, 0xF0F0F0F0u, {a, b});
    const auto addc = with_carry<T>(machine, "addc." + type, add.second, {b, a});
    const auto sub = with_carry<T>(machine, "sub.cc." + type, 0xF0F0F0F0u, {a, b});
    const auto subc = with_carry<T>(machine, "subc.cc." + type, sub.second, {b, a});
    const auto mad = with_carry<T>(machine, "mad.lo.cc." + type, 0x0F0F0F0Fu, {a, b, b});
    const auto madc = with_carry<T>(machine, "madc.hi." + type, mad.second, {a, b, a});
    EXPECT_EQ(addc.second, add.second) << "addc leaves CC.CF alone";
    for (std::size_t i = 0; i < warp_size; ++i) {
      const Double x = Double{static_cast<U>(b[i])} << width | static_cast<U>(a[i]);
      const Double y = Double{static_cast<U>(a[i])} << width | static_cast<U>(b[i]);
      const Double product = static_cast<Double>(wide(a[i])) * static_cast<Double>(wide(b[i]));
      EXPECT_EQ(add.first[i], static_cast<T>(x + y));
      EXPECT_EQ(addc.first[i], static_cast<T>((x + y) >> width));
      EXPECT_EQ(sub.first[i], static_cast<T>(x - y));
      EXPECT_EQ(subc.first[i], static_cast<T>((x - y) >> width));
      EXPECT_EQ(mad.first[i], static_cast<T>(product + y));
      EXPECT_EQ(madc.first[i], static_cast<T>((product + y) >> width));
    }
  });
}

TEST(IntegerArithmetic, CarriesIntoTheNextWord) {
  check_extended<std::uint32_t>("u32");
  check_extended<std::int32_t>("s32");
  check_extended<std::uint64_t>("u64");
  check_extended<std::int64_t>("s64");
}

TEST(IntegerArithmetic, CarriesOfMaskedLanesStay) {
  Machine machine;
  Row<std::uint32_t> ones;
  ones.fill(~0u);
  machine.set(1, ones);
  machine.set(2, ones);
  machine.warp.predicate(carry_row) = 0;
  machine.run(*arithmetic(plain("add.cc.u32", 2)), some_lanes);
  EXPECT_EQ(machine.warp.predicate(carry_row), some_lanes);
}

TEST(Arithmetic, RefusesWhatItDoesNotKnow) {
  EXPECT_TRUE(is_known(plain("add.s32", 2)));
  EXPECT_FALSE(is_known(plain("add.s33", 2)));
  EXPECT_FALSE(is_known(plain("add.wide.s32", 2)));
  EXPECT_FALSE(is_known(plain("add.sat.u32", 2)));
  EXPECT_FALSE(is_known(plain("mul.s32", 2))) << "neither .lo nor .hi nor .wide";
  EXPECT_FALSE(is_known(plain("div.sat.f32", 2)));
  EXPECT_FALSE(is_known(plain("ld.global.f32", 1)));
  EXPECT_FALSE(is_known(plain("setp.lt.or.and.s32", 3)));
  EXPECT_FALSE(is_known(plain("", 0)));
}

}  // namespace
}  // namespace rung::vgpu::lanes
