#include "core/families.hpp"

#include <cmath>
#include <numbers>
#include <type_traits>

#include "core/case.hpp"
#include "core/chunks.hpp"
#include "core/dtype_traits.hpp"
#include "rung/types.hpp"

namespace rung {
namespace {

/// A uniform number in [0, 1) with all 53 bits of the significand random.
double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

/// A normally distributed number, by the Box-Muller transform (Annals of Mathematical Statistics
/// 29, 1958).
double normal(std::uint64_t seed, std::int64_t index) {
  const auto i = static_cast<std::uint64_t>(index);
  const double radius = std::sqrt(-2 * std::log(1 - unit(random_bits(seed, 2 * i))));
  return radius * std::cos(2 * std::numbers::pi * unit(random_bits(seed, 2 * i + 1)));
}

/// The scale of a row of A or a column of B: a random power of ten.
double power_of_ten(std::uint64_t seed, std::int64_t line) {
  constexpr int most = 12;
  return std::pow(10.0, random_below(2 * most + 1, ~seed, static_cast<std::uint64_t>(line)) - most);
}

/// An operand seen as vectors of length k: the rows of A or the columns of B.
struct Lines {
  Family family;
  std::uint64_t seed;
  std::int64_t k;
  bool is_b;

  double element(std::int64_t line, std::int64_t step) const {
    const std::int64_t index = line * k + step;
    switch (family) {
      case Family::uniform: return unit(random_bits(seed, static_cast<std::uint64_t>(index)));
      case Family::wide: return normal(seed, index) * power_of_ten(seed, line);
      case Family::cancelling: return cancelling(line, step);
      case Family::spread: return spread(index);
      case Family::mixed: return is_b ? normal(seed, index) : rounded(normal(seed, index));
      default: return normal(seed, index);
    }
  }

  static double rounded(double x) {
    return static_cast<double>(static_cast<float>(bfloat16(static_cast<float>(x))));
  }

  double spread(std::int64_t index) const {
    const double uniform = unit(random_bits(~seed, static_cast<std::uint64_t>(index))) - 0.5;
    return uniform * std::exp(4 * normal(seed, index));
  }

  double cancelling(std::int64_t line, std::int64_t step) const {
    const std::int64_t half = k / 2;
    const std::int64_t index = line * k + step;
    if (step < half) return normal(seed, index);
    if (step == 2 * half) return 0;  // the last step if k is odd
    const double first = normal(seed, index - half);
    return is_b ? 0x1p-18 * normal(seed, index) - first : first;
  }
};

/// Fills an operand. If is_row, a line is a row of the operand as stored, otherwise a column.
template <class T>
void fill(const Lines& lines, Operand& operand, bool is_row) {
  using Real = std::conditional_t<std::is_same_v<T, double>, double, float>;
  constexpr std::int64_t rows_at_once = 16;
  for_each_chunk(operand.rows(), rows_at_once, [&](std::int64_t first, std::int64_t last, auto) {
    for (std::int64_t row = first; row < last; ++row) {
      T* const to = static_cast<T*>(operand.data()) + row * operand.ld();
      for (std::int64_t col = 0; col < operand.cols(); ++col) {
        to[col] = T(static_cast<Real>(is_row ? lines.element(row, col) : lines.element(col, row)));
      }
    }
  });
}

}  // namespace

bool has_family(Dtype dtype, Family family) {
  if (family == Family::symmetric) return true;
  if (is_integer(dtype)) return false;
  if (family == Family::mixed) return dtype == Dtype::f32;
  const bool is_full = dtype == Dtype::f32 || dtype == Dtype::f64;
  return is_full || family == Family::uniform || family == Family::normal;
}

void fill_family(const GemmSpec& spec, Operand& a, Operand& b) {
  visit(spec.dtype, [&]<class T, class Out>(Elements<T, Out>) {
    if constexpr (!std::is_integral_v<T>) {
      fill<T>({spec.family, 3 * spec.seed, spec.k, false}, a, !spec.a_transposed);
      fill<T>({spec.family, 3 * spec.seed + 1, spec.k, true}, b, spec.b_transposed);
    }
  });
}

}  // namespace rung
