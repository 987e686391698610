#include "library/reproducible.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <new>

#include "core/digits.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/thread_limit.hpp"
#include "library/check.hpp"
#include "library/multiply_surely.hpp"

namespace rung {
namespace {

using Bin = std::uint32_t;  // integers are passed as unsigned

constexpr std::int64_t block = 256;  // rows or columns whose digits are kept
constexpr std::uint32_t nan_bits = 0x7FFFFFFF;

struct Scale {
  int unit;
  bool fits;  // otherwise products are summed in double
};

/// Finds the scales of an operand's rows.
void find_scales(const Matrix<const float>& x, std::int64_t rows, std::int64_t k, int threads,
                 Scale* scales) {
  cpu::parallel_for(rows, threads, [&](std::int64_t row) {
    std::uint32_t most = 0;
    for (std::int64_t i = 0; i < k; ++i) most = std::max(most, digits::magnitude_bits(x(row, i)));
    Scale& scale = scales[row];
    scale = {0, false};
    if (most >= digits::infinity_bits) return;
    scale.unit = digits::unit_of(most);
    std::int64_t squares = 0;
    for (std::int64_t i = 0; i < k; ++i) {
      squares += digits::square_of(digits::integer_of(x(row, i), scale.unit));
    }
    scale.fits = digits::fit(most, squares, k);
  });
}

/// The digits of up to `block` rows for up to one slab of k-steps, as a K-major matrix for each
/// digit.
class DigitPlanes {
 public:
  static std::size_t bytes(std::int64_t rows, std::int64_t k) {
    return static_cast<std::size_t>(digits::count * std::min(block, rows) *
                                    std::min(digits::slab, k));
  }
  explicit DigitPlanes(std::byte* memory) : planes_(reinterpret_cast<std::int8_t*>(memory)) {}

  void fill(const Matrix<const float>& x, const Scale* scales, std::int64_t first,
            std::int64_t rows, std::int64_t begin, std::int64_t steps, int threads) {
    steps_ = steps;
    plane_ = rows * steps;
    cpu::parallel_for(rows, threads, [&](std::int64_t row) {
      const Scale& scale = scales[first + row];
      for (std::int64_t i = 0; i < steps; ++i) {
        const float element = x(first + row, begin + i);
        const std::int32_t q = scale.fits ? digits::integer_of(element, scale.unit) : 0;
        const digits::Digits all = digits::digits_of(q);
        for (int d = 0; d < digits::count; ++d) plane(d)[row * steps + i] = all.at[d];
      }
    });
  }

  /// A matrix of one digit, with rows of `steps` elements.
  Matrix<const std::int8_t> matrix(int digit) const {
    return {planes_ + digit * plane_, steps_, 1};
  }

 private:
  std::int8_t* plane(int digit) { return planes_ + digit * plane_; }

  std::int64_t steps_ = 0, plane_ = 0;
  std::int8_t* planes_;
};

/// The bins of up to block x block results: exact sums of products of digits.
class Bins {
 public:
  static constexpr std::size_t bytes = sizeof(Bin) * digits::count * block * block;
  explicit Bins(std::byte* memory) : bins_(reinterpret_cast<Bin*>(memory)) {}

  void multiply(const DigitPlanes& a, std::int64_t rows, const DigitPlanes& b, std::int64_t cols,
                std::int64_t steps, int threads) {
    const GemmShape shape{Dtype::i8, rows, cols, steps, Order::row_major, Order::col_major};
    for (int bin = 0; bin < digits::count; ++bin) {
      for (int digit = 0; digit <= bin; ++digit) {
        const Gemm<std::int8_t, Bin> g = {rows,
                                          cols,
                                          steps,
                                          1,
                                          a.matrix(digit),
                                          b.matrix(bin - digit).transposed(),
                                          digit == 0 ? Bin{0} : Bin{1},
                                          {bins_ + bin * block * block, block, 1}};
        cpu::multiply_surely(g, shape, threads);
      }
    }
  }

  float sum(std::int64_t row, std::int64_t col, int unit_a, int unit_b) const {
    const auto at = [&](int bin) {
      return static_cast<std::int32_t>(bins_[(bin * block + row) * block + col]);
    };
    return digits::in_units(digits::sum_of(at(0), at(1), at(2)), unit_a, unit_b);
  }

 private:
  Bin* bins_;
};

/// Adds products in double by ascending k. Products of floats are exact in double.
float chain(const Gemm<float>& g, std::int64_t row, std::int64_t col, std::int64_t begin,
            std::int64_t end) {
  double sum = 0;
  for (std::int64_t k = begin; k < end; ++k) {
    sum += static_cast<double>(g.a(row, k)) * static_cast<double>(g.b(k, col));
  }
  return static_cast<float>(sum);
}

/// The product with beta is rounded first, then the sum. Zeros become +0, and NaN gets the GPU's
/// bits.
float scaled_result(float alpha, float sum, float beta, const float& c) {
  const float old = beta == 0 ? 0.0f : beta * c;
  const float result = std::fma(alpha, sum, old) + 0.0f;
  return std::isnan(result) ? std::bit_cast<float>(nan_bits) : result;
}

}  // namespace

std::size_t reproducible_bytes(std::int64_t m, std::int64_t n, std::int64_t k) {
  constexpr auto size = std::int64_t{sizeof(Scale)};
  if (check::overflows(m, size, 4) || check::overflows(n, size, 4)) throw std::bad_alloc();
  return Bins::bytes + static_cast<std::size_t>((m + n) * size) + DigitPlanes::bytes(m, k) +
         DigitPlanes::bytes(n, k);
}

void reproducible_gemm(const Gemm<float>& g, int threads, std::byte* memory) {
  if (threads == 0) threads = cpu::default_threads();
  const Matrix<const float> b_rows = g.b.transposed();
  Bins bins(memory);
  auto* const of_a = reinterpret_cast<Scale*>(memory + Bins::bytes);
  Scale* const of_b = of_a + g.m;
  find_scales(g.a, g.m, g.k, threads, of_a);
  find_scales(b_rows, g.n, g.k, threads, of_b);
  auto* const planes = reinterpret_cast<std::byte*>(of_b + g.n);
  DigitPlanes a(planes), b(planes + DigitPlanes::bytes(g.m, g.k));
  for (std::int64_t begin = 0; begin < g.k; begin += digits::slab) {
    const std::int64_t end = std::min(g.k, begin + digits::slab);
    const float beta = begin == 0 ? g.beta : 1.0f;
    for (std::int64_t col0 = 0; col0 < g.n; col0 += block) {
      const std::int64_t cols = std::min(block, g.n - col0);
      b.fill(b_rows, of_b, col0, cols, begin, end - begin, threads);
      for (std::int64_t row0 = 0; row0 < g.m; row0 += block) {
        const std::int64_t rows = std::min(block, g.m - row0);
        a.fill(g.a, of_a, row0, rows, begin, end - begin, threads);
        bins.multiply(a, rows, b, cols, end - begin, threads);
        cpu::parallel_for(rows, threads, [&](std::int64_t i) {
          const std::int64_t row = row0 + i;
          const Scale& scale_a = of_a[row];
          for (std::int64_t j = 0; j < cols; ++j) {
            const Scale& scale_b = of_b[col0 + j];
            const float sum = scale_a.fits && scale_b.fits
                                  ? bins.sum(i, j, scale_a.unit, scale_b.unit)
                                  : chain(g, row, col0 + j, begin, end);
            float& c = g.c(row, col0 + j);
            c = scaled_result(g.alpha, sum, beta, c);
          }
        });
      }
    }
  }
}

}  // namespace rung
