// f16 and bf16 arithmetic and comparisons.

#include <random>

#include "vgpu/tests/formats.hpp"
#include "vgpu/tests/lanes.hpp"

namespace rung::vgpu::lanes {
namespace {

/// Runs an instruction with two or three sources on many patterns, as single numbers and as pairs.
template <class F>
void check_half(const Format& format, const std::string& start, std::size_t sources, const F& op) {
  const auto values = patterns(format);
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    Row<H> a, b, c;
    for (std::size_t i = 0; i < warp_size; ++i) {
      a[i] = static_cast<H>(values[random() % values.size()]);
      b[i] = static_cast<H>(values[random() % values.size()]);
      c[i] = static_cast<H>(values[random() % values.size()]);
    }
    const auto single = plain(start + "." + format.name, sources);
    const auto pair = plain(start + "." + format.name + "x2", sources);
    const auto twice = [](const Row<H>& x) {
      Row<U> both;
      for (std::size_t i = 0; i < warp_size; ++i) both[i] = U{x[i]} | U{x[31 - i]} << 16;
      return both;
    };
    const auto singles = sources == 1   ? run<H>(single, a)
                         : sources == 2 ? run<H>(single, a, b)
                                        : run<H>(single, a, b, c);
    const auto pairs = sources == 1   ? run<U>(pair, twice(a))
                       : sources == 2 ? run<U>(pair, twice(a), twice(b))
                                      : run<U>(pair, twice(a), twice(b), twice(c));
    for (std::size_t i = 0; i < warp_size; ++i) {
      const U wanted = op(a[i], b[i], c[i]);
      ASSERT_EQ(singles[i], wanted)
          << std::hex << start << " " << format.name << " " << a[i] << " " << b[i] << " " << c[i];
      ASSERT_EQ(pairs[i] & 0xFFFF, wanted);
      ASSERT_EQ(pairs[31 - i] >> 16, wanted);
    }
  }
}

/// a * b + c, rounded once, from the sum and the sign of its error (TwoSum).
U fused(const Format& format, U a, U b, U c) {
  const long double product = format.number(a) * format.number(b), addend = format.number(c);
  const long double sum = product + addend;
  int sticky = 0;
  if (std::isfinite(sum)) {
    const long double part = sum - product;
    const long double error = (product - (sum - part)) + (addend - part);
    sticky = error > 0 ? 1 : error < 0 ? -1 : 0;
  }
  return rounded(format, sum, Round::nearest, sticky);
}

void check_arithmetic(const Format& format) {
  const auto nearest = [&](long double x) { return rounded(format, x, Round::nearest); };
  check_half(format, "add", 2,
             [&](U a, U b, U) { return nearest(format.number(a) + format.number(b)); });
  check_half(format, "sub.rn", 2,
             [&](U a, U b, U) { return nearest(format.number(a) - format.number(b)); });
  check_half(format, "mul", 2,
             [&](U a, U b, U) { return nearest(format.number(a) * format.number(b)); });
  check_half(format, "fma.rn", 3, [&](U a, U b, U c) { return fused(format, a, b, c); });
  check_half(format, "fma.rn.relu", 3, [&](U a, U b, U c) {
    const U result = fused(format, a, b, c);
    return !format.is_nan(result) && (result >> 15) != 0 ? 0 : result;
  });
  check_half(format, "neg", 1,
             [&](U a, U, U) { return format.is_nan(a) ? format.nan() : a ^ 0x8000; });
  check_half(format, "abs", 1,
             [&](U a, U, U) { return format.is_nan(a) ? format.nan() : a & 0x7FFF; });
  for (const bool smaller : {true, false}) {
    // Patterns with the same sign are ordered like their numbers.
    const auto order = [](U x) {
      return (x >> 15) != 0 ? -static_cast<int>(x & 0x7FFF) - 1 : static_cast<int>(x);
    };
    const auto extreme = [=](U a, U b, bool nan) {
      if (format.is_nan(a) || format.is_nan(b)) {
        if (nan || (format.is_nan(a) && format.is_nan(b))) return format.nan();
        return format.is_nan(a) ? b : a;
      }
      return (order(a) < order(b)) == smaller ? a : b;
    };
    const std::string opcode = smaller ? "min" : "max";
    check_half(format, opcode, 2, [&](U a, U b, U) { return extreme(a, b, false); });
    check_half(format, opcode + ".NaN", 2, [&](U a, U b, U) { return extreme(a, b, true); });
  }
}

TEST(HalfArithmetic, RoundsOnce) {
  check_arithmetic(f16);
  check_arithmetic(bf16);
}

TEST(HalfArithmetic, FlushesAndSaturates) {
  const auto flushed = [](U x) { return (x & 0x7C00) == 0 ? x & 0x8000 : x; };
  check_half(f16, "mul.ftz", 2, [&](U a, U b, U) {
    return flushed(rounded(f16, f16.number(flushed(a)) * f16.number(flushed(b)), Round::nearest));
  });
  check_half(f16, "add.sat", 2, [&](U a, U b, U) {
    const long double sum = f16.number(a) + f16.number(b);
    return rounded(f16, sum > 0 ? std::min(sum, 1.0L) : 0.0L, Round::nearest);
  });
}

TEST(HalfArithmetic, FusesWithoutDoubleRounding) {
  // 1 + 2^-11 is half way between two numbers, so a tiny addend determines the result.
  Row<H> a, b, c;
  a.fill(0x3C01);  // 1 + 2^-10
  b.fill(0x3BFF);  // 1 - 2^-11
  c.fill(0x0001);  // 2^-24
  EXPECT_EQ(run<H>(plain("fma.rn.f16", 3), a, b, c)[0], fused(f16, 0x3C01, 0x3BFF, 1));
  a.fill(0x3F81);  // bf16: 1 + 2^-7
  b.fill(0x3F81);
  c.fill(0x0001);  // 2^-133
  EXPECT_EQ(run<H>(plain("fma.rn.bf16", 3), a, b, c)[0], fused(bf16, 0x3F81, 0x3F81, 1));
}

TEST(HalfCompare, SinglesAndPairs) {
  const auto values = patterns(f16);
  Row<U> a, b;
  for (std::size_t i = 0; i < warp_size; ++i) {
    a[i] = values[i] | values[(i * 7 + 3) % values.size()] << 16;
    b[i] = values[(i * 5 + 1) % values.size()] | values[(i * 3 + 2) % values.size()] << 16;
  }
  ptx::Instruction setp = instruction("setp.ltu.f16x2");
  setp.operands = {group(ptx::Operand::Kind::pair, 2), reg(), reg()};
  const auto spec = arithmetic(setp);
  ASSERT_TRUE(spec);
  Machine machine;
  machine.set(2, a);
  machine.set(3, b);
  machine.run(*spec, all_lanes);
  const auto holds = [](U x, U y) { return !(f16.number(x & 0xFFFF) >= f16.number(y & 0xFFFF)); };
  for (std::size_t i = 0; i < warp_size; ++i) {
    EXPECT_EQ(machine.get<bool>(0)[i], holds(a[i], b[i]));
    EXPECT_EQ(machine.get<bool>(1)[i], holds(a[i] >> 16, b[i] >> 16));
  }
  Row<H> x, y;
  for (std::size_t i = 0; i < warp_size; ++i) {
    x[i] = static_cast<H>(a[i]);
    y[i] = static_cast<H>(b[i]);
  }
  const auto single = run<bool>(plain("setp.ltu.f16", 2), x, y);
  const auto number = run<H>(plain("set.ltu.f16.f16", 2), x, y);
  for (std::size_t i = 0; i < warp_size; ++i) {
    EXPECT_EQ(single[i], holds(x[i], y[i]));
    EXPECT_EQ(number[i], holds(x[i], y[i]) ? 0x3C00 : 0);
  }
  EXPECT_FALSE(is_known(plain("setp.ltu.f16x2", 2))) << "one destination for two comparisons";
}

TEST(SpecialFunctions, OfHalves) {
  Row<H> a;
  for (std::size_t i = 0; i < warp_size; ++i) a[i] = static_cast<H>(0x3000 + 0x80 * i);
  const auto exp = run<H>(plain("ex2.approx.f16", 1), a);
  const auto tanh = run<H>(plain("tanh.approx.bf16", 1), a);
  for (std::size_t i = 0; i < warp_size; ++i) {
    EXPECT_EQ(exp[i], rounded(f16, std::exp2(f16.number(a[i])), Round::nearest));
    EXPECT_NEAR(static_cast<double>(bf16.number(tanh[i])),
                std::tanh(static_cast<double>(bf16.number(a[i]))), 0x1p-8);
  }
}

}  // namespace
}  // namespace rung::vgpu::lanes
