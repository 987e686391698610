#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <numeric>
#include <span>
#include <vector>

#include "core/bound.hpp"
#include "core/chunks.hpp"
#include "core/dtype_traits.hpp"
#include "core/verify.hpp"
#include "rung/types.hpp"

namespace rung {
namespace {

constexpr double largest_full_check = 0x1p26;  // multiply-adds
constexpr int random_rows = 4;                 // rows checked in larger problems
constexpr std::int64_t sums_at_once = 1
                                      << 16;  // of a full check: they fill threads, and stay in L2

/// Sums, and for each the sum of the magnitudes of its terms.
template <class W>
struct Sums {
  explicit Sums(std::int64_t size) : values(size, W{0}), magnitudes(size, W{0}) {}

  void add(std::int64_t at, W term, W term_magnitude) {
    values[at] += term;
    magnitudes[at] += term_magnitude;
  }

  std::vector<W> values, magnitudes;
};

/// Adds rows of A B in columns [first, last), a row of B at a time: its elements are converted once for
/// all rows, and the compiler vectorizes the loop over columns.
template <class In, class Out>
void add_by_rows_of_b(const Gemm<In, Out>& g, std::span<const std::int64_t> rows,
                      std::int64_t first, std::int64_t last,
                      std::vector<Sums<Wide<In>>>& products) {
  using W = Wide<In>;
  const std::int64_t cols = last - first;
  std::vector<W> row_of_b(cols);
  for (std::int64_t k = 0; k < g.k; ++k) {
    for (std::int64_t col = 0; col < cols; ++col) row_of_b[col] = widen(g.b(k, first + col));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const W a = widen(g.a(rows[i], k));
      const W* const b = row_of_b.data();
      W* const __restrict values = products[i].values.data() + first;
      W* const __restrict magnitudes = products[i].magnitudes.data() + first;
      for (std::int64_t col = 0; col < cols; ++col) {
        const W product = a * b[col];
        values[col] += product;
        magnitudes[col] += magnitude(product);
      }
    }
  }
}

/// The same, an element of C at a time. Stores of long double are slow, so the sums stay in registers
/// for as many steps as lines of B stay in L1.
template <class In, class Out>
void add_by_elements(const Gemm<In, Out>& g, std::span<const std::int64_t> rows, std::int64_t first,
                     std::int64_t last, std::vector<Sums<Wide<In>>>& products) {
  constexpr std::int64_t steps = 128;
  for (std::int64_t k0 = 0; k0 < g.k; k0 += steps) {
    const std::int64_t k_end = std::min(k0 + steps, g.k);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::int64_t col = first; col < last; ++col) {
        Wide<In> value = products[i].values[col], size = products[i].magnitudes[col];
        for (std::int64_t k = k0; k < k_end; ++k) {
          const Wide<In> product = widen(g.a(rows[i], k)) * widen(g.b(k, col));
          value += product;
          size += magnitude(product);
        }
        products[i].values[col] = value;
        products[i].magnitudes[col] = size;
      }
    }
  }
}

/// Rows of A B. Threads share the columns, so each part of B is read once for all rows.
template <class In, class Out>
std::vector<Sums<Wide<In>>> rows_of_product(const Gemm<In, Out>& g,
                                            std::span<const std::int64_t> rows) {
  constexpr std::int64_t chunk = 256;  // columns whose sums fit in L1
  std::vector<Sums<Wide<In>>> products(rows.size(), Sums<Wide<In>>(g.n));
  for_each_chunk(g.n, chunk, [&](std::int64_t first, std::int64_t last, auto) {
    if constexpr (std::is_same_v<Wide<In>, long double>) {
      add_by_elements(g, rows, first, last, products);
    } else {
      add_by_rows_of_b(g, rows, first, last, products);
    }
  });
  return products;
}

/// M v, where element(row, col) gives the elements of a rows x cols matrix M.
template <class W, class Element>
Sums<W> multiply(std::int64_t rows, std::int64_t cols, bool by_columns, const Element& element,
                 const Sums<W>& v) {
  constexpr std::int64_t chunk = 64;  // rows: at least a cache line of a column
  Sums<W> result(rows);
  const auto step = [&](std::int64_t row, std::int64_t col) {
    const W value = element(row, col);
    result.add(row, value * v.values[col], magnitude(value) * v.magnitudes[col]);
  };
  for_each_chunk(rows, chunk, [&](std::int64_t first, std::int64_t last, auto) {
    if (by_columns) {
      for (std::int64_t col = 0; col < cols; ++col) {
        for (std::int64_t row = first; row < last; ++row) step(row, col);
      }
    } else {
      for (std::int64_t row = first; row < last; ++row) {
        for (std::int64_t col = 0; col < cols; ++col) step(row, col);
      }
    }
  });
  return result;
}

/// True if scaling small integers by alpha and beta is exact.
bool scales_exactly(const GemmSpec& spec) {
  const auto exact = [](double factor) {
    return std::abs(factor) <= 4 && 4 * factor == std::trunc(4 * factor);
  };
  return exact(spec.alpha) && exact(spec.beta);
}

/// Compares the C of a kernel with the reference.
template <class In, class Out>
class Checker {
  using W = Wide<In>;
  /// True if C is narrower than the accumulator.
  static constexpr bool rounds_result = !std::is_same_v<Out, Scalar<Out>>;

 public:
  Checker(const GemmCase& problem, std::int64_t product, Values values)
      : problem_(problem),
        product_(product),
        g_(problem.product(product).typed<In, Out>()),
        alpha_(g_.alpha),
        beta_(g_.beta),
        exact_(std::is_integral_v<In> ||
               (values == Values::integers && scales_exactly(problem.spec()))),
        finite_(values != Values::nan && values != Values::infinity) {
    if (is_by_norms<In>(problem.spec().compute_mode)) {
      row_norms_ = norms(g_.a, g_.m, g_.k);
      col_norms_ = norms(g_.b.transposed(), g_.n, g_.k);
    }
  }

  Verdict check() {
    const double multiply_adds =
        static_cast<double>(g_.m) * static_cast<double>(g_.n) * static_cast<double>(g_.k);
    if (multiply_adds * static_cast<double>(problem_.spec().batch) <= largest_full_check) {
      const std::int64_t at_once =
          std::max<std::int64_t>(sums_at_once / std::max<std::int64_t>(g_.n, 1), 1);
      for (std::int64_t first = 0; first < g_.m; first += at_once) {
        std::vector<std::int64_t> rows(std::min(at_once, g_.m - first));
        std::iota(rows.begin(), rows.end(), first);
        check_rows(rows);
      }
    } else {
      std::vector<std::int64_t> rows = {0, g_.m - 1};
      for (int i = 0; i < random_rows; ++i) {
        rows.push_back(random_below(g_.m, problem_.spec().seed, i));
      }
      check_rows(rows);
      if (finite_) check_by_random_vector();
    }
    verdict_.right = verdict_.max_error_ratio <= 1;
    return verdict_;
  }

 private:
  W original(std::int64_t row, std::int64_t col) const {
    return beta_ == 0 ? W{0} : widen(problem_.original_c<Out>(product_, row, col));
  }

  /// The Euclidean norms of the rows of x. Squares do not overflow in the wide type.
  static std::vector<W> norms(const Matrix<const In>& x, std::int64_t rows, std::int64_t length) {
    const auto square = [&](std::int64_t row, std::int64_t k) {
      const W element = widen(x(row, k));
      return element * element;
    };
    Sums<W> ones(length);
    std::fill(ones.values.begin(), ones.values.end(), W{1});
    std::vector<W> result = multiply(rows, length, x.row_stride == 1, square, ones).values;
    if constexpr (!std::is_integral_v<In>) {
      for (W& norm : result) norm = std::sqrt(norm);
    }
    return result;
  }

  /// The size of the products of an element: |A||B|, or |row| |column| if the mode's bound uses
  /// norms.
  W size_of_products(W products, std::int64_t row, std::int64_t col) const {
    return row_norms_.empty() ? products : row_norms_[row] * col_norms_[col];
  }

  /// |alpha| |A||B| + |beta||C|, given |A||B| and |C|.
  W magnitude_of(W products, W c) const {
    return magnitude(alpha_) * products + magnitude(beta_) * c;
  }

  /// The error bound of verify.hpp; `sums` is the result of magnitude_of().
  W error_bound(W sums, W expected) const {
    const W rounding = static_cast<W>(unit_roundoff<Out>) * magnitude(expected);
    if (exact_) return rounds_result ? rounding : 0;
    const ArithmeticError error = arithmetic_error<In, Out>(problem_.spec().compute_mode);
    const W u = static_cast<W>(error.sum);
    const W reference_u = unit_roundoff<W>;
    const W flushed = underflow<Scalar<Out>>;  // kernels may flush subnormal numbers to 0
    const W scaling = 1 + magnitude(alpha_) + magnitude(beta_);
    const W summing = static_cast<W>(g_.k + 4) * ((u + reference_u) * sums + flushed * scaling) +
                      static_cast<W>(error.product) * sums;
    if constexpr (rounds_result) {
      return (1 + unit_roundoff<Out>)*summing + rounding + underflow<Out>;
    } else {
      return summing + rounding;
    }
  }

  /// An exact result, rounded to the type of C.
  static W stored(W exact) {
    if constexpr (rounds_result) {
      return widen(Out(static_cast<float>(exact)));
    } else {
      return exact;
    }
  }

  void check_rows(std::span<const std::int64_t> rows) {
    const std::vector<Sums<W>> products = rows_of_product(g_, rows);
    for (std::size_t i = 0; i < rows.size(); ++i) check_row(rows[i], products[i]);
  }

  void check_row(std::int64_t row, const Sums<W>& products) {
    for (std::int64_t col = 0; col < g_.n; ++col) {
      const W got = widen(g_.c(row, col));
      const W old = original(row, col);
      const W exact = alpha_ * products.values[col] + beta_ * old;
      const W expected = exact_ ? stored(exact) : exact;
      const W sums =
          magnitude_of(size_of_products(products.magnitudes[col], row, col), magnitude(old));
      const W bound = exact_ ? W{0} : error_bound(sums, expected);
      note(error_ratio(got, expected, bound), [&] {
        return fmt::format("{}C({}, {}) is {}, expected {} within {:.3g}", where(), row, col, got,
                           expected, static_cast<double>(bound));
      });
    }
  }

  /// Freivalds' check with a random vector of odd integers below 1024.
  void check_by_random_vector() {
    Sums<W> v(g_.n);
    for (std::int64_t col = 0; col < g_.n; ++col) {
      const std::uint64_t bits = random_bits(~problem_.spec().seed, col);
      const W size = static_cast<W>((bits & 1023) | 1);
      v.add(col, (bits >> 63) != 0 ? W{0} - size : size, size);
    }
    const auto old = [&](std::int64_t row, std::int64_t col) { return original(row, col); };
    const auto elements = [](const auto& matrix) {
      return [&matrix](std::int64_t row, std::int64_t col) { return widen(matrix(row, col)); };
    };
    const Sums<W> bv = multiply(g_.k, g_.n, g_.b.row_stride == 1, elements(g_.b), v);
    const Sums<W> abv = multiply(g_.m, g_.k, g_.a.row_stride == 1, elements(g_.a), bv);
    const Sums<W> old_v = multiply(g_.m, g_.n, false, old, v);
    const Sums<W> cv = multiply(g_.m, g_.n, false, elements(g_.c), v);
    W norms_v = 0;  // the norms of columns of B times |v|
    for (std::size_t col = 0; col < col_norms_.size(); ++col) {
      norms_v += col_norms_[col] * v.magnitudes[col];
    }
    for (std::int64_t row = 0; row < g_.m; ++row) {
      const W expected = alpha_ * abv.values[row] + beta_ * old_v.values[row];
      const W products = row_norms_.empty() ? abv.magnitudes[row] : row_norms_[row] * norms_v;
      const W sums = magnitude_of(products, old_v.magnitudes[row]);
      const W own_rounding =
          exact_ ? W{0} : static_cast<W>(2 * g_.n) * unit_roundoff<W> * (sums + cv.magnitudes[row]);
      const W bound = error_bound(sums, cv.magnitudes[row]) + own_rounding;
      note(error_ratio(cv.values[row], expected, bound), [&] {
        return fmt::format("{}row {} of C times a random vector is {}, expected {} within {:.3g}",
                           where(), row, cv.values[row], expected, static_cast<double>(bound));
      });
    }
  }

  std::string where() const {
    return problem_.spec().batch == 1 ? "" : fmt::format("product {}: ", product_);
  }

  template <class Message>
  void note(double ratio, const Message& message) {
    if (!(ratio > verdict_.max_error_ratio)) return;
    verdict_.max_error_ratio = ratio;
    if (ratio > 1) verdict_.message = message();
  }

  const GemmCase& problem_;
  const std::int64_t product_;
  const Gemm<In, Out> g_;
  const W alpha_, beta_;
  const bool exact_, finite_;
  std::vector<W> row_norms_, col_norms_;  // empty unless the mode's bound uses norms
  Verdict verdict_;
};

void keep_worse(Verdict& worst, Verdict verdict) {
  if (!(verdict.max_error_ratio <= worst.max_error_ratio)) worst = std::move(verdict);
}

/// The worst verdict of products [first, last).
template <class In, class Out>
Verdict check_products(const GemmCase& problem, Values values, std::int64_t first,
                       std::int64_t last) {
  Verdict worst = Checker<In, Out>(problem, first, values).check();
  while (++first < last) keep_worse(worst, Checker<In, Out>(problem, first, values).check());
  return worst;
}

/// The worst verdict of all products. In large batches each thread checks whole products; in small
/// ones all threads share each product.
template <class In, class Out>
Verdict check_products(const GemmCase& problem, Values values) {
  constexpr std::int64_t many = 64, max_chunks = 256;
  const std::int64_t batch = problem.spec().batch;
  if (batch == 0) return {.right = true, .max_error_ratio = 0, .message = ""};
  const std::int64_t size = batch < many ? batch : (batch + max_chunks - 1) / max_chunks;
  std::vector<Verdict> verdicts(chunks_of(batch, size));
  std::vector<std::exception_ptr> failures(verdicts.size());  // std::bad_alloc, for example
  for_each_chunk(batch, size, [&](std::int64_t first, std::int64_t last, std::int64_t chunk) {
    try {
      verdicts[chunk] = check_products<In, Out>(problem, values, first, last);
    } catch (...) {
      failures[chunk] = std::current_exception();
    }
  });
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  Verdict worst = std::move(verdicts.front());
  for (std::size_t i = 1; i < verdicts.size(); ++i) keep_worse(worst, std::move(verdicts[i]));
  return worst;
}

Verdict run_once(GemmCase& problem, Values values,
                 const std::function<void(const GemmCall&)>& run) {
  problem.fill(values);
  const std::uint64_t a = problem.a().fingerprint();
  const std::uint64_t b = problem.b().fingerprint();
  run(problem.call());

  if (const auto place = problem.a().broken_guard()) return wrong("wrote around A: " + *place);
  if (const auto place = problem.b().broken_guard()) return wrong("wrote around B: " + *place);
  if (const auto place = problem.c().broken_guard()) return wrong("wrote around C: " + *place);
  if (!problem.has_untouched_gaps()) return wrong("wrote between two products of C");
  if (problem.a().fingerprint() != a) return wrong("changed A");
  if (problem.b().fingerprint() != b) return wrong("changed B");
  return visit(problem.spec().dtype, [&]<class In, class Out>(Elements<In, Out>) {
    return check_products<In, Out>(problem, values);
  });
}

}  // namespace

Verdict verify(GemmCase& problem, const std::function<void(const GemmCall&)>& run) {
  return verify_runs(problem, scales_exactly(problem.spec()),
                     [&](Values values) { return run_once(problem, values, run); });
}

}  // namespace rung
