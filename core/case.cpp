#include "core/case.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/batch.hpp"
#include "core/dtype_traits.hpp"
#include "core/ill_conditioned.hpp"
#include "core/quantize.hpp"
#include "rung/types.hpp"

namespace rung {
namespace {

std::string_view name(Values values) {
  constexpr std::array<std::string_view, 6> names = {"reals",    "tiny", "wide",
                                                     "integers", "nan",  "infinity"};
  return names[static_cast<std::size_t>(values)];
}

/// The matrices of a batch, stacked vertically in one operand.
Operand matrices(const GemmSpec& spec, Dtype type, std::int64_t rows, std::int64_t cols,
                 bool transposed, std::int64_t padding) {
  if (transposed) std::swap(rows, cols);
  std::int64_t ld = 0;
  if (__builtin_add_overflow(cols, padding, &ld)) ld = -1;
  const std::int64_t gaps = spec.batch > 1 ? (spec.batch - 1) * spec.batch_gap : 0;
  return Operand(type, spec.batch * rows + gaps, cols, ld, spec.offset);
}

/// The distance in rows between consecutive matrices of the batch.
std::int64_t rows_apart(const GemmSpec& spec, const Operand& operand) {
  return (operand.rows() + spec.batch_gap) / spec.batch;
}

template <class Pointer>
AnyMatrix<Pointer> view(const GemmSpec& spec, const Operand& operand, bool transposed) {
  return {.data = operand.data(),
          .row_stride = transposed ? 1 : operand.ld(),
          .col_stride = transposed ? operand.ld() : 1,
          .storage = operand.storage(),
          .batch_stride = spec.batch == 1 ? 0 : rows_apart(spec, operand) * operand.ld()};
}

/// Calls f(row) for each row of the gaps between the matrices of a batch.
template <class F>
void for_each_gap(const GemmSpec& spec, const Operand& operand, const F& f) {
  const std::int64_t apart = rows_apart(spec, operand);
  for (std::int64_t end = apart; end < operand.rows(); end += apart) {
    for (std::int64_t row = end - spec.batch_gap; row < end; ++row) f(row);
  }
}

/// Rounds the rows of a matrix to values of a format.
template <class T>
void quantize_rows(BlockFormat format, const Matrix<const T>& matrix, std::int64_t rows,
                   std::int64_t length) {
  std::vector<float> values(static_cast<std::size_t>(length));
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t k = 0; k < length; ++k) {
      values[static_cast<std::size_t>(k)] = static_cast<float>(matrix(row, k));
    }
    // A subnormal scale of nvfp4 can change in the second pass, and elements with it.
    for (int pass = 0; pass < 3; ++pass) quantize(format, values);
    for (std::int64_t k = 0; k < length; ++k) {
      const_cast<T&>(matrix(row, k)) = T(values[static_cast<std::size_t>(k)]);
    }
  }
}

/// A vector operand: one row if the elements are adjacent, otherwise one row per element.
Operand vector(Dtype type, std::int64_t n, std::int64_t increment, int offset) {
  if (increment == 1 || increment == -1) return Operand(type, 1, n, n, offset);
  if (increment == 0) return Operand(type, 1, std::min<std::int64_t>(n, 1), 1, offset);
  return Operand(type, n, 1, increment < 0 ? -increment : increment, offset);
}

/// The address of element i = 0, which for a negative increment is the last one in memory.
const void* first_element(const Operand& operand, std::int64_t n, std::int64_t increment) {
  const std::int64_t index = increment < 0 && n > 0 ? -increment * (n - 1) : 0;
  return static_cast<const std::byte*>(operand.data()) +
         static_cast<std::size_t>(index) * input_bytes(operand.type());
}

const DotSpec& checked(const DotSpec& spec) {
  const bool plain = (spec.dtype == Dtype::f32 || spec.dtype == Dtype::f64) && spec.incx == 1 &&
                     spec.incy == 1 && !spec.sum && spec.values == Values::reals;
  if (spec.condition != 0 && !plain) {
    throw std::invalid_argument(
        "an ill-conditioned dot product: it is there for reals of f32 and f64 with unit strides");
  }
  return spec;
}

}  // namespace

std::string describe(const GemmSpec& spec) {
  std::string text = fmt::format("{} {}{} {}x{}x{} alpha={} beta={}", name(spec.dtype),
                                 spec.a_transposed ? 't' : 'n', spec.b_transposed ? 't' : 'n',
                                 spec.m, spec.n, spec.k, spec.alpha, spec.beta);
  if (spec.a_padding != 0) text += fmt::format(" lda+{}", spec.a_padding);
  if (spec.b_padding != 0) text += fmt::format(" ldb+{}", spec.b_padding);
  if (spec.c_padding != 0) text += fmt::format(" ldc+{}", spec.c_padding);
  if (spec.offset != 0) text += fmt::format(" offset {}", spec.offset);
  if (spec.batch != 1) text += fmt::format(" batch {}", spec.batch);
  if (spec.batch_gap != 0) text += fmt::format(" gap {}", spec.batch_gap);
  if (spec.values != Values::reals) text += fmt::format(" {}", name(spec.values));
  if (spec.family != Family::symmetric) text += fmt::format(" {}", name(spec.family));
  if (spec.format != BlockFormat::none) text += fmt::format(" {}", name(spec.format));
  return text;
}

std::string describe(const DotSpec& spec) {
  std::string text = fmt::format("{} n={}", name(spec.dtype), spec.n);
  if (spec.sum) text = "sum " + text;
  if (spec.incx != 1) text += fmt::format(" incx={}", spec.incx);
  if (spec.incy != 1) text += fmt::format(" incy={}", spec.incy);
  if (spec.accuracy == Accuracy::compensated) text += " compensated";
  if (spec.accuracy == Accuracy::exact) text += " exact";
  if (spec.condition != 0) text += fmt::format(" condition {:.0e}", spec.condition);
  if (spec.offset != 0) text += fmt::format(" offset {}", spec.offset);
  if (spec.values != Values::reals) text += fmt::format(" {}", name(spec.values));
  return text;
}

GemmCase::GemmCase(const GemmSpec& spec)
    : spec_(spec),
      a_(matrices(spec, spec.dtype, spec.m, spec.k, spec.a_transposed, spec.a_padding)),
      b_(matrices(spec, spec.dtype, spec.k, spec.n, spec.b_transposed, spec.b_padding)),
      c_(matrices(spec, output_type(spec.dtype), spec.m, spec.n, false, spec.c_padding)) {
  fill();
}

GemmCall GemmCase::call() const {
  return {spec_.dtype,
          spec_.m,
          spec_.n,
          spec_.k,
          spec_.alpha,
          view<const void*>(spec_, a_, spec_.a_transposed),
          view<const void*>(spec_, b_, spec_.b_transposed),
          spec_.beta,
          view<void*>(spec_, c_, false),
          spec_.compute_mode,
          spec_.batch};
}

GemmCall GemmCase::product(std::int64_t index) const {
  GemmCall one = call();
  advance(one, index);
  one.batch = 1;
  return one;
}

void GemmCase::fill(Values values) {
  a_.fill(values, 3 * spec_.seed);
  b_.fill(values, 3 * spec_.seed + 1);
  if (spec_.family != Family::symmetric && values == Values::reals) fill_family(spec_, a_, b_);
  round_to_format();
  poison_gaps(a_);
  poison_gaps(b_);
  // C keeps finite values, so that NaN and infinity can only originate from A and B.
  const bool non_finite = values == Values::nan || values == Values::infinity;
  c_values_ = non_finite ? Values::reals : values;
  renew_c();
}

void GemmCase::set_format(BlockFormat format) {
  if (spec_.format == format) return;
  spec_.format = format;
  fill();
}

/// All types of the formats are exact in bfloat16, and hence in every type of floating point.
void GemmCase::round_to_format() {
  if (spec_.format == BlockFormat::none) return;
  visit(spec_.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    if constexpr (!std::is_integral_v<In>) {
      for (std::int64_t i = 0; i < spec_.batch; ++i) {
        const Gemm<In, Out> g = product(i).typed<In, Out>();
        quantize_rows(spec_.format, g.a, g.m, g.k);
        quantize_rows(spec_.format, g.b.transposed(), g.n, g.k);
      }
    }
  });
}

void GemmCase::renew_c() {
  if (spec_.beta == 0) {
    c_.poison();
  } else {
    c_.fill(c_values_, c_seed());
    poison_gaps(c_);
  }
}

void GemmCase::poison_gaps(Operand& operand) const {
  for_each_gap(spec_, operand, [&](std::int64_t row) { operand.poison_row(row); });
}

bool GemmCase::has_untouched_gaps() const {
  bool untouched = true;
  for_each_gap(spec_, c_, [&](std::int64_t row) { untouched = untouched && c_.is_poisoned(row); });
  return untouched;
}

DotCase::DotCase(const DotSpec& spec)
    : spec_(checked(spec)),
      x_(vector(spec.dtype, spec.n, spec.incx, spec.offset)),
      y_(vector(spec.dtype, spec.sum ? 0 : spec.n, spec.incy, spec.offset)) {
  fill();
}

DotCall DotCase::call() const {
  return {spec_.dtype,
          spec_.n,
          first_element(x_, spec_.n, spec_.incx),
          spec_.incx,
          spec_.sum ? nullptr : first_element(y_, spec_.n, spec_.incy),
          spec_.incy,
          x_.storage(),
          spec_.sum ? Storage{} : y_.storage()};
}

void DotCase::fill(Values values) {
  x_.fill(values, 2 * spec_.seed);
  y_.fill(values, 2 * spec_.seed + 1);
  if (spec_.condition == 0 || values != spec_.values) return;
  const auto size = static_cast<std::size_t>(spec_.n);
  if (spec_.dtype == Dtype::f64) {
    make_ill_conditioned<double>({static_cast<double*>(x_.data()), size},
                                 {static_cast<double*>(y_.data()), size}, spec_.condition,
                                 spec_.seed);
  } else {
    make_ill_conditioned<float>({static_cast<float*>(x_.data()), size},
                                {static_cast<float*>(y_.data()), size}, spec_.condition,
                                spec_.seed);
  }
}

}  // namespace rung
