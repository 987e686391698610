#include "vgpu/engine/tensor_memory/window_sums.hpp"

#include <bit>

namespace rung::vgpu {
namespace {

/// 2^exponent.
double power(std::int32_t exponent) {
  return std::bit_cast<double>(static_cast<std::int64_t>(1023 + exponent) << 52);
}

/// One sum: C, and the largest exponents of its products.
struct Sum {
  float c;
  std::int32_t of_c, of_products, of_scales;

  bool has_products() const { return of_products > no_exponent / 2; }
  /// True if C is not zero and its exponent is at least this one.
  bool c_reaches(std::int32_t exponent) const { return c != 0 && of_c >= exponent; }
};

/// The exponent of the last bit that counts.
std::int32_t last_bit(const WindowRule& rule, const Sum& sum) {
  constexpr int product_bits = 39, scale_bits = 35;
  const std::int32_t most = std::max(sum.of_c, sum.of_products);
  if (rule.window == Window::plain) return most - rule.rounding.fraction;
  if (sum.c_reaches(sum.of_products)) return sum.of_c - scale_bits;
  return std::max(most - product_bits, sum.of_scales - scale_bits);
}

/// Products whose exact sum is truncated to the window.
int group_of(const WindowRule& rule, const Sum& sum) {
  constexpr int of_c = 16, of_dots = 4;
  const bool by_dots = rule.window == Window::nvfp4 && !sum.c_reaches(sum.of_products);
  return (by_dots ? of_dots : of_c) * (rule.is_sparse ? 2 : 1);
}

/// The sum of the products [first, end) of a lane, truncated to multiples of 2^last.
double group_sum(const WindowRule& rule, const Sum& sum, const WindowLine& a,
                 const WindowColumns& b, std::size_t lane, std::size_t first, std::size_t end,
                 std::int32_t last) {
  double total = 0;
  std::int32_t most = no_exponent;
  for (std::size_t k = first; k < end; ++k) {
    total += a.values[k] * b.values[k][lane];
    most = std::max(most, a.exponents[k] + b.exponents[k][lane]);
  }
  constexpr int bits_below_c = 35;
  std::int32_t of_group = last;
  if (rule.window == Window::mxf4 && sum.c_reaches(most)) {
    of_group = std::max(last, sum.of_c - bits_below_c);
  }
  return std::trunc(total * power(-of_group)) * power(of_group);
}

/// The sum of C and products in groups.
float sum_of_groups(const WindowRule& rule, const Sum& sum, const WindowLine& a,
                    const WindowColumns& b, std::size_t lane) {
  const std::int32_t last = last_bit(rule, sum);
  const auto step = static_cast<std::size_t>(group_of(rule, sum));
  double total = std::trunc(static_cast<double>(sum.c) * power(-last)) * power(last);
  for (std::size_t k = 0; k < static_cast<std::size_t>(rule.k); k += step) {
    total += group_sum(rule, sum, a, b, lane, k, k + step, last);
  }
  return rounded_sum(total, rule.rounding);
}

/// The sums of C and single products, for all lanes at once.
void add_products(const WindowRule& rule, const Sum (&of)[window_lanes], const WindowLine& a,
                  const WindowColumns& b, double (&totals)[window_lanes]) {
  double scale[window_lanes], back[window_lanes];
  for (std::size_t lane = 0; lane < window_lanes; ++lane) {
    const std::int32_t last = of[lane].has_products() ? last_bit(rule, of[lane]) : 0;
    scale[lane] = power(-last);
    back[lane] = power(last);
    totals[lane] = std::trunc(static_cast<double>(of[lane].c) * scale[lane]);
  }
  for (std::size_t k = 0; k < static_cast<std::size_t>(rule.k); ++k) {
    for (std::size_t lane = 0; lane < window_lanes; ++lane) {
      totals[lane] += std::trunc(a.values[k] * b.values[k][lane] * scale[lane]);
    }
  }
  for (std::size_t lane = 0; lane < window_lanes; ++lane) totals[lane] *= back[lane];
}

}  // namespace

void add_window(const WindowRule& rule, const WindowLine& a, const WindowColumns& b,
                float (&sums)[window_lanes]) {
  std::int32_t products[window_lanes], scales[window_lanes];
  double plain[window_lanes];
  for (std::size_t lane = 0; lane < window_lanes; ++lane) {
    products[lane] = scales[lane] = no_exponent;
    plain[lane] = sums[lane];
  }
  for (std::size_t k = 0; k < static_cast<std::size_t>(rule.k); ++k) {
    for (std::size_t lane = 0; lane < window_lanes; ++lane) {
      products[lane] = std::max(products[lane], a.exponents[k] + b.exponents[k][lane]);
      scales[lane] = std::max(scales[lane], a.scale_exponents[k] + b.scale_exponents[k][lane]);
      plain[lane] += a.values[k] * b.values[k][lane];
    }
  }
  Sum of[window_lanes];
  for (std::size_t lane = 0; lane < window_lanes; ++lane) {
    of[lane] = {sums[lane], exponent_of(sums[lane], rule.rounding.min_exponent_c), products[lane],
                scales[lane]};
  }
  double totals[window_lanes];
  if (rule.window == Window::plain) add_products(rule, of, a, b, totals);
  for (std::size_t lane = 0; lane < window_lanes; ++lane) {
    // Infinities and NaN propagate as in IEEE 754. Other terms do not overflow in double precision.
    const bool is_finite = std::abs(plain[lane]) <= 0x1p1023;
    if (!is_finite) {
      sums[lane] = static_cast<float>(plain[lane]);
    } else if (of[lane].has_products()) {
      sums[lane] = rule.window == Window::plain ? rounded_sum(totals[lane], rule.rounding)
                                                : sum_of_groups(rule, of[lane], a, b, lane);
    }
  }
}

}  // namespace rung::vgpu
