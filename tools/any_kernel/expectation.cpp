#include "tools/any_kernel/expectation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tools/any_kernel/npy.hpp"

namespace rung::any_kernel {
namespace {

// Long double holds the values of all types, and sums those up to double more exactly than any kernel.
using Real = long double;

Real unit_roundoff(Scalar scalar) {
  switch (scalar) {
    case Scalar::f16: return 0x1p-11L;
    case Scalar::bf16: return 0x1p-8L;
    case Scalar::f64: return 0x1p-53L;
    default: return 0x1p-24L;
  }
}

/// The largest error that underflow adds to an operation.
Real underflow(Scalar scalar) {
  switch (scalar) {
    case Scalar::f16: return 0x1p-25L;
    case Scalar::f64: return 0x1p-1022L;
    default: return 0x1p-126L;
  }
}

/// The roundoff of the sum that a kernel of these types should keep: double's, or float's. It is doubled for
/// types that tensor cores multiply, because these truncate.
Real sum_roundoff(Scalar in, Scalar out) {
  if (in == Scalar::f64 && out == Scalar::f64) return unit_roundoff(Scalar::f64);
  return (in == Scalar::f16 || in == Scalar::bf16 ? 2 : 1) * unit_roundoff(Scalar::f32);
}

/// The scalars of an array as numbers. Integers wrap as those of the result's type do.
struct Numbers {
  explicit Numbers(const std::string& name, const Array& array) {
    const auto common = common_scalar(*array.element);
    if (!common) {
      throw ArgumentError(
          fmt::format("--expect: the elements of '{}', {}, are not numbers of one type", name,
                      array.element->name));
    }
    scalar = *common;
    const std::vector<Leaf> all = leaves(*array.element);
    const std::size_t each = array.element->bytes;
    values.reserve(array.bytes.size() / each * all.size());
    for (std::size_t at = 0; at + each <= array.bytes.size(); at += each) {
      for (const Leaf& leaf : all)
        values.push_back(load(scalar, array.bytes.data() + at + leaf.offset));
    }
  }

  std::int64_t size() const { return static_cast<std::int64_t>(values.size()); }

  Scalar scalar = Scalar::f32;
  std::vector<Real> values;
};

struct Matrix {
  std::int64_t rows = 0, columns = 0;
  bool transposed = false;

  std::int64_t index(std::int64_t row, std::int64_t column) const {
    return transposed ? column * rows + row : row * columns + column;
  }
};

Matrix matrix_of(const Operand& operand, const Array& array) {
  Shape shape = array.scalar_shape();
  if (shape.size() == 1) shape.push_back(1);
  if (shape.size() != 2) {
    throw ArgumentError(fmt::format("--expect: '{}' has the shape {}; a matrix has two dimensions",
                                    operand.name, to_text(shape)));
  }
  if (operand.transposed) return {shape[1], shape[0], true};
  return {shape[0], shape[1], false};
}

struct ProductShape {
  Matrix a, b;
};

ProductShape product_shape(const Expectation& expected, const Operands& operands) {
  const auto matrix = [&](const Operand& operand) {
    return matrix_of(operand, operands.before(operand.name));
  };
  const ProductShape shape{matrix(expected.operands[0]), matrix(expected.operands[1])};
  if (shape.a.columns != shape.b.rows) {
    throw ArgumentError(fmt::format(
        "--expect: '{}': {} is {}x{} and {} is {}x{}; {} and {} must be equal", expected.text,
        expected.operands[0].name, shape.a.rows, shape.a.columns, expected.operands[1].name,
        shape.b.rows, shape.b.columns, shape.a.columns, shape.b.rows));
  }
  return shape;
}

double factor_of(const Factor& factor, const Operands& operands) {
  return factor.name.empty() ? factor.number : factor.number * operands.number(factor.name);
}

/// Expected values with their bounds. A bound of 0 asks for the very value.
struct Reference {
  std::vector<Real> values, bounds;
};

/// Low bits of the integer, as a kernel of that type has them.
Real wrapped(Scalar scalar, Real value) {
  std::array<std::byte, 8> bytes{};
  const Real range = std::ldexp(Real{1}, static_cast<int>(8 * bytes.size()));
  store(scalar, bytes.data(), std::fmod(value, range));
  return load(scalar, bytes.data());
}

/// Adds products; those of integers modulo 2^64.
class Sum {
 public:
  explicit Sum(bool is_integer) : is_integer_(is_integer) {}
  void add(Real a, Real b) {
    if (is_integer_) {
      integer_ += bits(a) * bits(b);
    } else {
      value_ += a * b;
      magnitude_ += std::fabs(a * b);
    }
  }
  Real value() const { return is_integer_ ? static_cast<Real>(integer_) : value_; }
  Real magnitude() const { return magnitude_; }

 private:
  static std::uint64_t bits(Real value) {
    const auto magnitude = static_cast<std::uint64_t>(std::fabs(value));
    return value < 0 ? 0 - magnitude : magnitude;
  }

  bool is_integer_;
  std::uint64_t integer_ = 0;
  Real value_ = 0, magnitude_ = 0;
};

/// Appends an element that is the sum of `terms` products. `more`: rounding errors that other terms and
/// factors add, and the magnitude of those.
void append(Reference& reference, const Sum& sum, Real alpha, Real beta_c, std::int64_t terms,
            Scalar in, Scalar out, bool is_gemm) {
  const Real exact = alpha == 0 ? beta_c : alpha * sum.value() + beta_c;
  if (!is_real(out)) {
    reference.values.push_back(wrapped(out, exact));
    reference.bounds.push_back(0);
    return;
  }
  const Real u = sum_roundoff(in, out);
  const Real roundings = static_cast<Real>(terms) + (is_gemm ? 4 : 2);
  const Real magnitude = std::fabs(alpha) * sum.magnitude() + std::fabs(beta_c);
  reference.values.push_back(exact);
  reference.bounds.push_back(roundings * u * magnitude + unit_roundoff(out) * std::fabs(exact) +
                             roundings * underflow(out));
}

void require_same_type(const Expectation& expected, const Numbers& a, const Numbers& b) {
  if (a.scalar == b.scalar) return;
  throw ArgumentError(fmt::format("--expect: '{}': operands of types {} and {}; they must be equal",
                                  expected.text, name(a.scalar), name(b.scalar)));
}

Reference product(const Expectation& expected, const Operands& operands, Scalar out) {
  const auto [a, b] = product_shape(expected, operands);
  const Numbers x(expected.operands[0].name, operands.before(expected.operands[0].name));
  const Numbers y(expected.operands[1].name, operands.before(expected.operands[1].name));
  require_same_type(expected, x, y);
  const Real alpha = factor_of(expected.alpha, operands);
  const Real beta = expected.beta ? factor_of(*expected.beta, operands) : 0;
  std::optional<Numbers> c;
  if (beta != 0) c.emplace(expected.result, operands.before(expected.result));
  Reference reference;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (std::int64_t column = 0; column < b.columns; ++column) {
      Sum sum(!is_real(x.scalar));
      for (std::int64_t k = 0; k < a.columns; ++k) {
        sum.add(x.values[static_cast<std::size_t>(a.index(row, k))],
                y.values[static_cast<std::size_t>(b.index(k, column))]);
      }
      const auto at = static_cast<std::size_t>(row * b.columns + column);
      const Real beta_c = c && at < c->values.size() ? beta * c->values[at] : 0;
      append(reference, sum, alpha, beta_c, a.columns, x.scalar, out, true);
    }
  }
  return reference;
}

Reference reduction(const Expectation& expected, const Operands& operands, Scalar out) {
  const Numbers x(expected.operands[0].name, operands.before(expected.operands[0].name));
  std::optional<Numbers> y;
  if (expected.kind == Expectation::Kind::dot) {
    y.emplace(expected.operands[1].name, operands.before(expected.operands[1].name));
    require_same_type(expected, x, *y);
    if (x.size() != y->size()) {
      throw ArgumentError(fmt::format("--expect: '{}': {} has {} elements and {} has {}",
                                      expected.text, expected.operands[0].name, x.size(),
                                      expected.operands[1].name, y->size()));
    }
  }
  Sum sum(!is_real(x.scalar));
  for (std::size_t i = 0; i < x.values.size(); ++i) sum.add(x.values[i], y ? y->values[i] : 1);
  Reference reference;
  append(reference, sum, factor_of(expected.alpha, operands), 0, x.size(), x.scalar, out, false);
  return reference;
}

/// The defaults are those of torch.testing.assert_close.
Reference from_file(const Expectation& expected, Scalar out, std::int64_t size,
                    const Tolerance& tolerance) {
  const NpyArray file = read_npy(expected.path);
  const auto scalar = file.scalar();
  if (!scalar) {
    throw ArgumentError(fmt::format("--expect: '{}' has elements of type '{}', not numbers",
                                    expected.path, file.type));
  }
  if (static_cast<std::int64_t>(file.count()) != size) {
    throw ArgumentError(fmt::format("--expect: '{}' has {} elements; {} has {}", expected.path,
                                    file.count(), expected.result, size));
  }
  const bool is_double = out == Scalar::f64;
  const double by_type = out == Scalar::f16    ? 1e-3
                         : out == Scalar::bf16 ? 1.6e-2
                         : is_double           ? 1e-7
                                               : 1.3e-6;
  const bool is_exact = !is_real(out) && !tolerance.relative && !tolerance.absolute;
  const Real relative = tolerance.relative.value_or(is_exact ? 0 : by_type);
  const Real absolute = tolerance.absolute.value_or(is_exact ? 0 : is_double ? 1e-7 : 1e-5);
  Reference reference;
  for (std::size_t i = 0; i < file.count(); ++i) {
    const Real value = load(*scalar, file.bytes.data() + i * file.item_bytes);
    reference.values.push_back(value);
    reference.bounds.push_back(absolute + relative * std::fabs(value));
  }
  return reference;
}

double error_ratio(Real got, Real expected, Real bound) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return 0;
  const bool finite = std::isfinite(got) && std::isfinite(expected) && std::isfinite(bound);
  return finite && bound > 0 ? static_cast<double>(std::fabs(got - expected) / bound) : infinity;
}

/// "[3, 5]" for element 41 of 24x12.
std::string position(std::int64_t index, const Shape& shape) {
  std::string text;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 0) break;
    text = fmt::format("{}{}{}", index % shape[i], text.empty() ? "" : ", ", text);
    index /= shape[i];
  }
  return "[" + text + "]";
}

Judgement compare(const Expectation& expected, const std::vector<Real>& got, const Shape& shape,
                  const Reference& reference) {
  Judgement judgement;
  std::int64_t wrong = 0;
  std::string first;
  for (std::size_t i = 0; i < reference.values.size(); ++i) {
    const double ratio = error_ratio(got[i], reference.values[i], reference.bounds[i]);
    judgement.max_error_ratio = std::max(judgement.max_error_ratio, ratio);
    if (ratio <= 1) continue;
    if (++wrong > 1) continue;
    first = fmt::format("{}{} is {:.9Lg}, expected {:.9Lg}", expected.result,
                        position(expected.element.value_or(static_cast<std::int64_t>(i)), shape),
                        got[i], reference.values[i]);
    if (expected.sums_result) {
      first = fmt::format("sum({}) is {:.9Lg}, expected {:.9Lg}", expected.result, got[i],
                          reference.values[i]);
    }
    if (reference.bounds[i] > 0) first += fmt::format(" within {:.2Lg}", reference.bounds[i]);
  }
  judgement.right = wrong == 0;
  judgement.message = judgement.right
                          ? fmt::format("right: {}; largest error {:.2f} of its bound",
                                        expected.text, judgement.max_error_ratio)
                          : fmt::format("WRONG: {}; {} of {} elements, first: {}", expected.text,
                                        wrong, reference.values.size(), first);
  return judgement;
}

}  // namespace

Shape result_shape(const Expectation& expected, const Operands& operands) {
  switch (expected.kind) {
    case Expectation::Kind::product: {
      const auto [a, b] = product_shape(expected, operands);
      return {a.rows, b.columns};
    }
    case Expectation::Kind::file: {
      const NpyArray file = read_npy(expected.path);
      return file.shape.empty() ? Shape{1} : file.shape;
    }
    default: return {1};
  }
}

Judgement judge(const Expectation& expected, const Operands& operands, const Tolerance& tolerance) {
  const Array& result = operands.after(expected.result);
  const Numbers got(expected.result, result);
  const Shape shape = result.scalar_shape();
  std::vector<Real> values = got.values;
  if (expected.element) {
    if (*expected.element < 0 || *expected.element >= got.size()) {
      throw ArgumentError(fmt::format("--expect: '{}': {} has {} elements", expected.text,
                                      expected.result, got.size()));
    }
    values = {values[static_cast<std::size_t>(*expected.element)]};
  } else if (expected.sums_result) {
    Sum sum(!is_real(got.scalar));
    for (const Real value : values) sum.add(value, 1);
    values = {is_real(got.scalar) ? sum.value() : wrapped(got.scalar, sum.value())};
  }
  const auto size = static_cast<std::int64_t>(values.size());
  Reference reference;
  switch (expected.kind) {
    case Expectation::Kind::product: reference = product(expected, operands, got.scalar); break;
    case Expectation::Kind::file:
      reference = from_file(expected, got.scalar, size, tolerance);
      break;
    default: reference = reduction(expected, operands, got.scalar);
  }
  if (static_cast<std::int64_t>(reference.values.size()) != size) {
    throw ArgumentError(fmt::format("--expect: '{}' has {} elements; {} is {}", expected.text,
                                    reference.values.size(), expected.result, to_text(shape)));
  }
  return compare(expected, values, shape, reference);
}

}  // namespace rung::any_kernel
