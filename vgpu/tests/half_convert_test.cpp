// cvt to and from f16, bf16, tf32 and the 8-bit formats.

#include "vgpu/tests/formats.hpp"
#include "vgpu/tests/lanes.hpp"

namespace rung::vgpu::lanes {
namespace {

/// Numbers of a format, their neighbours, and numbers around the midpoints between them.
std::vector<float> near(const Format& format) {
  std::vector<float> values = edges<float>();
  for (const U pattern : patterns(format)) {
    if (!std::isfinite(format.number(pattern))) continue;
    const auto at = static_cast<float>(format.value(pattern));
    const auto middle = static_cast<float>(
        (format.value(pattern) + format.value(std::min(pattern + 1, format.largest()))) / 2);
    for (const float x : {at, middle}) {
      values.insert(values.end(), {x, std::nextafter(x, INFINITY), std::nextafter(x, -INFINITY)});
    }
  }
  return values;
}

template <class D, class F>
void check_narrowing(const std::string& mnemonic, const Format& format, const F& wanted) {
  const auto values = near(format);
  for (std::size_t at = 0; at < values.size(); at += warp_size) {
    Row<float> a;
    for (std::size_t i = 0; i < warp_size; ++i) a[i] = values[(at + i) % values.size()];
    const auto results = run<D>(plain(mnemonic, 1), a);
    for (std::size_t i = 0; i < warp_size; ++i) {
      ASSERT_EQ(results[i], wanted(a[i])) << mnemonic << " of " << std::hexfloat << a[i];
    }
  }
}

TEST(HalfConvert, FromSingleInEveryMode) {
  for (const Format& format : {f16, bf16}) {
    const std::string types = std::string(".") + format.name + ".f32";
    const auto check_mode = [&](const std::string& mode, Round round) {
      check_narrowing<H>("cvt" + mode + types, format,
                         [&](float x) { return rounded(format, x, round); });
    };
    check_mode(".rn", Round::nearest);
    check_mode(".rz", Round::zero);
    check_mode(".rm", Round::down);
    check_mode(".rp", Round::up);
    check_narrowing<H>("cvt.rn.relu" + types, format,
                       [&](float x) { return rounded(format, x <= 0 ? 0 : x, Round::nearest); });
    check_narrowing<H>("cvt.rz.satfinite" + types, format, [&](float x) {
      return rounded(format, std::isinf(x) ? std::copysign(1e39L, x) : x, Round::zero);
    });
  }
  check_narrowing<H>("cvt.rn.sat.f16.f32", f16, [](float x) {
    return rounded(f16, x > 0 ? std::min(x, 1.0f) : 0, Round::nearest);
  });
}

TEST(HalfConvert, ToWiderFormatsIsExact) {
  for (const Format& format : {f16, bf16}) {
    for (U start = 0; start < 0x10000; start += warp_size) {
      Row<H> a;
      for (std::size_t i = 0; i < warp_size; ++i) a[i] = static_cast<H>(start + i);
      const auto spec = arithmetic(plain(std::string("cvt.f32.") + format.name, 1));
      ASSERT_TRUE(spec);
      Machine machine;
      machine.set(1, a);
      machine.run(*spec, all_lanes);
      const auto single = machine.get<float>(0);
      for (std::size_t i = 0; i < warp_size; ++i) {
        const auto number = static_cast<float>(format.number(a[i]));
        if (std::isnan(number)) {
          EXPECT_TRUE(std::isnan(single[i]));
        } else {
          EXPECT_EQ(bits(single[i]), bits(number));
        }
      }
    }
  }
}

TEST(HalfConvert, IntegersAndDoubles) {
  check<H, std::int32_t>("cvt.rn.f16.s32", [](std::int32_t a) {
    return static_cast<H>(rounded(f16, a, Round::nearest));
  });
  check<H, std::uint64_t>("cvt.rn.bf16.u64", [](std::uint64_t a) {
    return static_cast<H>(rounded(bf16, static_cast<long double>(a), Round::nearest));
  });
  check<H, std::int64_t>("cvt.rm.bf16.s64", [](std::int64_t a) {
    return static_cast<H>(rounded(bf16, static_cast<long double>(a), Round::down));
  });
  check<H, double>("cvt.rp.f16.f64", [](double a) {
    return static_cast<H>(std::isnan(a) ? 0x7E00 : rounded(f16, a, Round::up));
  });
  Row<H> halves;
  for (std::size_t i = 0; i < warp_size; ++i) {
    halves[i] =
        static_cast<H>(rounded(f16, (static_cast<long double>(i) - 16) * 0.75L, Round::nearest));
  }
  const auto integers = run<std::int32_t>(plain("cvt.rni.s32.f16", 1), halves);
  const auto integral = run<H>(plain("cvt.rmi.f16.f16", 1), halves);
  for (std::size_t i = 0; i < warp_size; ++i) {
    const auto x = static_cast<double>(f16.number(halves[i]));
    EXPECT_EQ(integers[i], static_cast<int>(std::nearbyint(x)));
    EXPECT_EQ(f16.number(integral[i]), std::floor(x));
  }
  EXPECT_FALSE(is_known(plain("cvt.f16.f32", 1))) << "no rounding mode";
}

TEST(HalfConvert, Tf32HasTenBits) {
  constexpr Format tf32{"tf32", 8, 10, true};
  const auto check_mode = [&](const std::string& mode, auto round) {
    check_narrowing<U>("cvt" + mode + ".tf32.f32", tf32,
                       [&](float x) { return std::isnan(x) ? 0x7FFFE000u : round(x) << 13; });
  };
  check_mode(".rn", [&](float x) { return rounded(tf32, x, Round::nearest); });
  check_mode(".rz", [&](float x) { return rounded(tf32, x, Round::zero); });
  check_mode(".rna", [&](float x) {  // half way rounds away from zero
    const int outward = std::signbit(x) ? -1 : 1;
    const U exact = rounded(tf32, x, Round::zero);
    return tf32.number(exact) == x ? exact : rounded(tf32, x, Round::nearest, outward);
  });
}

TEST(PackedConvert, PairsOfSingles) {
  for (const Format& format : {f16, bf16}) {
    check<U, float, float>(std::string("cvt.rn.") + format.name + "x2.f32", [&](float a, float b) {
      return rounded(format, a, Round::nearest) << 16 | rounded(format, b, Round::nearest);
    });
    check<U, float, float>(std::string("cvt.rz.") + format.name + "x2.f32", [&](float a, float b) {
      return rounded(format, a, Round::zero) << 16 | rounded(format, b, Round::zero);
    });
  }
}

U saturated_byte(const Format& format, long double x) {
  if (x != x) return 0x7F;
  const U pattern = rounded(format, x, Round::nearest);
  const U magnitude = pattern & 0x7F;
  return magnitude > format.largest() ? (pattern & 0x80) | format.largest() : pattern;
}

TEST(PackedConvert, Bytes) {
  for (const Format& format : {e4m3, e5m2}) {
    const std::string type = std::string(format.name) + "x2";
    check<H, float, float>("cvt.rn.satfinite." + type + ".f32", [&](float a, float b) {
      return static_cast<H>(saturated_byte(format, a) << 8 | saturated_byte(format, b));
    });
    check<H, float, float>("cvt.rn.satfinite.relu." + type + ".f32", [&](float a, float b) {
      return static_cast<H>(saturated_byte(format, a <= 0 ? 0 : a) << 8 |
                            saturated_byte(format, b <= 0 ? 0 : b));
    });
    for (U start = 0; start < 256; start += warp_size) {
      Row<H> bytes;
      Row<U> wide;
      for (std::size_t i = 0; i < warp_size; ++i) {
        bytes[i] = static_cast<H>((start + i) | (255 - start - i) << 8);
      }
      wide = run<U>(plain("cvt.rn.f16x2." + type, 1), bytes);
      for (std::size_t i = 0; i < warp_size; ++i) {
        const U low = rounded(f16, format.number(bytes[i] & 0xFF), Round::nearest);
        const U high = rounded(f16, format.number(bytes[i] >> 8), Round::nearest);
        EXPECT_EQ(wide[i], high << 16 | low) << std::hex << bytes[i];
      }
      // Backwards: every byte is a number of its format.
      const auto back = run<H>(plain("cvt.rn.satfinite." + type + ".f16x2", 1), wide);
      for (std::size_t i = 0; i < warp_size; ++i) {
        EXPECT_EQ(back[i] & 0xFF, saturated_byte(format, format.number(bytes[i] & 0xFF)));
      }
    }
  }
}

}  // namespace
}  // namespace rung::vgpu::lanes
