#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "mutants.hpp"
#include "rung/types.hpp"

namespace rung {
namespace {

using Problem = Gemm<float>;

// Separate accessors: inlined code of this file must not be mixed with instrumented copies.
template <class T>
T& at(const Matrix<T>& x, std::int64_t row, std::int64_t col) {
  return x.data[row * x.row_stride + col * x.col_stride];
}

float product(const Problem& g, std::int64_t i, std::int64_t j, std::int64_t begin,
              std::int64_t end) {
  float sum = 0;
  for (std::int64_t k = begin; k < end; ++k) sum += at(g.a, i, k) * at(g.b, k, j);
  return sum;
}

float product(const Problem& g, std::int64_t i, std::int64_t j) { return product(g, i, j, 0, g.k); }

void store(const Problem& g, std::int64_t i, std::int64_t j, float sum) {
  float& c = at(g.c, i, j);
  c = g.beta == 0 ? g.alpha * sum : g.alpha * sum + g.beta * c;
}

template <class F>
void for_each_element(const Problem& g, const F& f) {
  for (std::int64_t i = 0; i < g.m; ++i) {
    for (std::int64_t j = 0; j < g.n; ++j) f(i, j);
  }
}

void right(const Problem& g) {
  for_each_element(g, [&](auto i, auto j) { store(g, i, j, product(g, i, j)); });
}

void rows_rounded_down(const Problem& g) {
  Problem part = g;
  part.m = g.m / 4 * 4;
  right(part);
}

void k_remainder_dropped(const Problem& g) {
  for_each_element(g, [&](auto i, auto j) { store(g, i, j, product(g, i, j, 0, g.k / 2 * 2)); });
}

void k_read_off_the_tile(const Problem& g) {
  const std::int64_t end = (g.k + 3) / 4 * 4;
  // Only if k runs along the rows of both operands, so that out-of-bounds reads are within their
  // guards.
  const bool readable = g.a.col_stride == 1 && g.b.row_stride == 1;
  for_each_element(
      g, [&](auto i, auto j) { store(g, i, j, product(g, i, j, 0, readable ? end : g.k)); });
}

void guard_on_one_operand_only(const Problem& g) {
  const std::int64_t end = g.b.row_stride == 1 ? (g.k + 3) / 4 * 4 : g.k;
  for_each_element(g, [&](auto i, auto j) {
    float sum = 0;
    for (std::int64_t k = 0; k < end; ++k) {
      sum += (k < g.k ? at(g.a, i, k) : 0.0f) * at(g.b, k, j);  // 0 times any value
    }
    store(g, i, j, sum);
  });
}

void row_tile_stored_without_guard(const Problem& g) {
  right(g);
  for (std::int64_t i = 0; i < g.m; ++i) {
    for (std::int64_t j = g.n; j % 8 != 0; ++j) at(g.c, i, j) = 0;
  }
}

void columns_bounded_by_m(const Problem& g) {
  Problem part = g;
  part.n = std::min(g.n, g.m);  // the bug is m as the bound; min keeps it inside C
  right(part);
}

void ldc_taken_for_n(const Problem& g) {
  Problem dense = g;
  dense.c.row_stride = g.n;
  right(dense);
}

void lda_taken_for_k(const Problem& g) {
  Problem dense = g;
  if (g.a.col_stride == 1) dense.a.row_stride = g.k;
  right(dense);
}

void transposed_b_read_as_plain(const Problem& g) {
  Problem plain = g;
  if (g.b.row_stride == 1) plain.b.col_stride = 1;
  right(plain);
}

void right_for_symmetric_a_only(const Problem& g) {
  for_each_element(g, [&](auto i, auto j) {
    float sum = 0;
    for (std::int64_t k = 0; k < g.k; ++k) {
      const bool mirrored = k < g.m && i < g.k;
      sum += (mirrored ? at(g.a, k, i) : at(g.a, i, k)) * at(g.b, k, j);
    }
    store(g, i, j, sum);
  });
}

void c_read_although_beta_is_zero(const Problem& g) {
  for_each_element(g, [&](auto i, auto j) {
    float& c = at(g.c, i, j);
    c = g.alpha * product(g, i, j) + g.beta * c;
  });
}

void beta_ignored(const Problem& g) {
  for_each_element(g, [&](auto i, auto j) { at(g.c, i, j) = g.alpha * product(g, i, j); });
}

void alpha_ignored(const Problem& g) {
  Problem unscaled = g;
  unscaled.alpha = 1;
  right(unscaled);
}

void beta_applied_to_every_k_block(const Problem& g) {
  for_each_element(g, [&](auto i, auto j) {
    store(g, i, j, product(g, i, j, 0, std::min<std::int64_t>(g.k, 256)));
    for (std::int64_t k0 = 256; k0 < g.k; k0 += 256) {
      store(g, i, j, product(g, i, j, k0, std::min(g.k, k0 + 256)));
    }
  });
}

void nothing_stored_when_k_is_zero(const Problem& g) {
  if (g.k > 0) right(g);
}

void one_element_off_by_a_percent(const Problem& g) {
  right(g);
  if (g.m > 0 && g.n > 0) at(g.c, g.m / 2, g.n / 2) *= 1.01f;
}

void last_element_is_nan(const Problem& g) {
  right(g);
  if (g.m > 0 && g.n > 0) at(g.c, g.m - 1, g.n - 1) = std::nanf("");
}

void nan_swallowed(const Problem& g) {
  for_each_element(g, [&](auto i, auto j) {
    const float sum = product(g, i, j);
    store(g, i, j, std::isnan(sum) ? 0 : sum);
  });
}

void right_to_an_absolute_tolerance(const Problem& g) {
  for_each_element(g, [&](auto i, auto j) {
    const float sum = product(g, i, j);
    store(g, i, j, std::abs(sum) < 1e-7f ? 0 : sum);
  });
}

void inputs_cut_to_ten_bits(const Problem& g) {
  const auto cut = [](float x) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xFFFFE000u);
  };
  for_each_element(g, [&](auto i, auto j) {
    float sum = 0;
    for (std::int64_t k = 0; k < g.k; ++k) sum += cut(at(g.a, i, k)) * cut(at(g.b, k, j));
    store(g, i, j, sum);
  });
}

void a_scaled_in_place(const Problem& g) {
  Problem scaled = g;
  scaled.alpha = 1;
  for (std::int64_t i = 0; i < g.m; ++i) {
    for (std::int64_t k = 0; k < g.k; ++k) const_cast<float&>(at(g.a, i, k)) *= g.alpha;
  }
  right(scaled);
}

constexpr GemmMutant mutants[] = {
    {"none", right},
    {"rows rounded down to the tile", rows_rounded_down},
    {"last k of an odd number dropped", k_remainder_dropped},
    {"k read to the end of the tile", k_read_off_the_tile},
    {"guard on one operand only", guard_on_one_operand_only},
    {"whole tile stored past the end of a row", row_tile_stored_without_guard},
    {"columns bounded by m", columns_bounded_by_m},
    {"ldc taken for n", ldc_taken_for_n},
    {"lda taken for k", lda_taken_for_k},
    {"transposed B read as plain", transposed_b_read_as_plain},
    {"right for symmetric A only", right_for_symmetric_a_only},
    {"C read although beta is 0", c_read_although_beta_is_zero},
    {"beta ignored", beta_ignored},
    {"alpha ignored", alpha_ignored},
    {"beta applied to every block of k", beta_applied_to_every_k_block},
    {"nothing stored when k is 0", nothing_stored_when_k_is_zero},
    {"one element off by 1 %", one_element_off_by_a_percent},
    {"last element is NaN", last_element_is_nan},
    {"NaN swallowed", nan_swallowed},
    {"right to an absolute tolerance", right_to_an_absolute_tolerance},
    {"inputs cut to ten bits", inputs_cut_to_ten_bits},
    {"A scaled in place", a_scaled_in_place},
};

}  // namespace

std::span<const GemmMutant> gemm_mutants() { return mutants; }

void gemm_with_32_bit_offsets(const Gemm<bfloat16, float>& g) {
  for (std::int64_t i = 0; i < g.m; ++i) {
    for (std::int64_t j = 0; j < g.n; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < g.k; ++k) {
        const auto offset = static_cast<std::uint32_t>(i * g.a.row_stride + k * g.a.col_stride);
        sum += static_cast<float>(g.a.data[offset]) * static_cast<float>(at(g.b, k, j));
      }
      at(g.c, i, j) = g.alpha * sum;
    }
  }
}

}  // namespace rung
