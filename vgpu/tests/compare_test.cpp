// setp, set, selp and slct.

#include <functional>

#include "vgpu/tests/lanes.hpp"

namespace rung::vgpu::lanes {
namespace {

template <class T>
void check_integers(const std::string& type) {
  const auto check_relation = [&](const std::string& name, auto holds) {
    check<bool, T, T>("setp." + name + "." + type, holds);
  };
  check_relation("eq", std::equal_to<T>());
  check_relation("ne", std::not_equal_to<T>());
  check_relation("lt", std::less<T>());
  check_relation("le", std::less_equal<T>());
  check_relation("gt", std::greater<T>());
  check_relation("ge", std::greater_equal<T>());
  if (std::is_signed_v<T>) return;
  check_relation("lo", std::less<T>());
  check_relation("ls", std::less_equal<T>());
  check_relation("hi", std::greater<T>());
  check_relation("hs", std::greater_equal<T>());
}

TEST(Compare, Integers) {
  check_integers<std::uint16_t>("u16");
  check_integers<std::int16_t>("s16");
  check_integers<std::uint32_t>("u32");
  check_integers<std::int32_t>("s32");
  check_integers<std::uint64_t>("u64");
  check_integers<std::int64_t>("s64");
  EXPECT_TRUE(is_known(plain("setp.eq.b32", 2)));
  EXPECT_FALSE(is_known(plain("setp.lt.b32", 2)));
  EXPECT_FALSE(is_known(plain("setp.lo.s32", 2)));
}

template <class T>
void check_floats(const std::string& type) {
  const auto check_relation = [&](const std::string& name, auto holds) {
    check<bool, T, T>("setp." + name + type,
                      [&](T a, T b) { return !std::isnan(a) && !std::isnan(b) && holds(a, b); });
    check<bool, T, T>("setp." + name + "u" + type,
                      [&](T a, T b) { return std::isnan(a) || std::isnan(b) || holds(a, b); });
  };
  check_relation("eq", std::equal_to<T>());
  check_relation("ne", std::not_equal_to<T>());
  check_relation("lt", std::less<T>());
  check_relation("le", std::less_equal<T>());
  check_relation("gt", std::greater<T>());
  check_relation("ge", std::greater_equal<T>());
  check<bool, T, T>("setp.num" + type, [](T a, T b) { return a == a && b == b; });
  check<bool, T, T>("setp.nan" + type, [](T a, T b) { return a != a || b != b; });
}

TEST(Compare, FloatsOrderedAndUnordered) {
  check_floats<float>(".f32");
  check_floats<double>(".f64");
  check<bool, float, float>("setp.eq.ftz.f32", [](float a, float b) {
    const auto flushed = [](float x) { return std::fpclassify(x) == FP_SUBNORMAL ? 0.0f : x; };
    return flushed(a) == flushed(b);
  });
}

TEST(Compare, CombinesWithAnotherPredicate) {
  using S = std::int32_t;
  check<bool, S, S, bool>("setp.lt.and.s32", [](S a, S b, bool c) { return a < b && c; });
  check<bool, S, S, bool>("setp.lt.or.s32", [](S a, S b, bool c) { return a < b || c; });
  check<bool, S, S, bool>("setp.lt.xor.s32", [](S a, S b, bool c) { return (a < b) != c; });
  ptx::Instruction negated = plain("setp.lt.and.s32", 3);
  negated.operands[3].negated = true;
  check<bool, S, S, bool>(negated, [](S a, S b, bool c) { return a < b && !c; });
}

TEST(Compare, SecondDestinationIsTheOpposite) {
  ptx::Instruction setp = instruction("setp.gt.or.s32");
  setp.operands = {group(ptx::Operand::Kind::pair, 2), reg(), reg(), reg()};
  const auto spec = arithmetic(setp);
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->destinations, 2);
  EXPECT_EQ(spec->operands.size(), 5u);
  Machine machine;
  for_combinations<std::int32_t, std::int32_t, bool>(
      [&](const auto& a, const auto& b, const auto& c) {
        machine.set(2, a);
        machine.set(3, b);
        machine.set(4, c);
        machine.run(*spec, all_lanes);
        for (std::size_t i = 0; i < warp_size; ++i) {
          ASSERT_EQ(machine.get<bool>(0)[i], a[i] > b[i] || c[i]);
          ASSERT_EQ(machine.get<bool>(1)[i], !(a[i] > b[i]) || c[i]);
        }
        machine.warp.predicate(Machine::offset(0)) = machine.warp.predicate(Machine::offset(1)) = 0;
        machine.run(*spec, some_lanes);
        for (std::size_t i = 0; i < warp_size; ++i) {
          const bool active = (some_lanes >> i & 1) != 0;
          ASSERT_EQ(machine.get<bool>(0)[i], active && (a[i] > b[i] || c[i]));
          ASSERT_EQ(machine.get<bool>(1)[i], active && (!(a[i] > b[i]) || c[i]));
        }
      });
}

TEST(Compare, SetWritesNumbers) {
  check<std::uint32_t, float, float>("set.lt.u32.f32",
                                     [](float a, float b) { return a < b ? ~0u : 0u; });
  check<float, std::int32_t, std::int32_t>("set.ge.f32.s32",
                                           [](int a, int b) { return a >= b ? 1.0f : 0.0f; });
  check<std::int32_t, double, double, bool>(
      "set.eq.and.s32.f64", [](double a, double b, bool c) { return a == b && c ? -1 : 0; });
  EXPECT_FALSE(is_known(plain("set.lt.f64.f32", 2)));
}

TEST(Compare, Selects) {
  const auto pick = [](auto a, auto b, bool c) { return c ? a : b; };
  check<std::uint16_t, std::uint16_t, std::uint16_t, bool>("selp.b16", pick);
  check<std::uint32_t, std::uint32_t, std::uint32_t, bool>("selp.u32", pick);
  check<std::int64_t, std::int64_t, std::int64_t, bool>("selp.s64", pick);
  check<float, float, float, bool>("selp.f32", pick);
  check<double, double, double, bool>("selp.f64", pick);
  const auto by_sign = [](auto a, auto b, auto c) { return c >= 0 ? a : b; };
  check<std::uint32_t, std::uint32_t, std::uint32_t, std::int32_t>("slct.u32.s32", by_sign);
  check<double, double, double, float>("slct.f64.f32", by_sign);
  check<float, float, float, float>("slct.ftz.f32.f32", [](float a, float b, float c) {
    return c >= 0 || std::fpclassify(c) == FP_SUBNORMAL ? a : b;
  });
}

}  // namespace
}  // namespace rung::vgpu::lanes
