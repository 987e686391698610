// Converts public views to the canonical form of a product with an epilogue.

#include "library/epilogue.hpp"

#include <array>
#include <string>

#include "core/dtype.hpp"
#include "library/check.hpp"
#include "library/check_overlap.hpp"
#include "rung/error.hpp"

namespace rung {
namespace {

[[noreturn]] void fail(const std::string& part, const std::string& message) {
  throw Error(Status::invalid_argument, "rung: gemm_epilogue: " + part + message);
}

void require_type(const char* part, ElementType type) {
  const auto value = static_cast<int>(type);
  if (value >= 0 && value < static_cast<int>(unrounded_dtypes.size())) return;
  fail(part, ": the element type is " + std::to_string(value) + "; it must be 0 to " +
                 std::to_string(unrounded_dtypes.size() - 1));
}

std::string name(ElementType type) {
  return std::string(rung::name(unrounded_dtypes[static_cast<std::size_t>(type)]));
}

std::string shape(std::int64_t rows, std::int64_t cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

template <class Pointer>
void check_layout(const char* part, const AnyMatrixView<Pointer>& view) {
  require_type(part, view.type);
  const std::string label = std::string("gemm_epilogue: ") + part;
  if (view.rows < 0) check::fail_negative(label.c_str(), "rows", view.rows);
  if (view.cols < 0) check::fail_negative(label.c_str(), "columns", view.cols);
  const bool by_rows = view.order == Order::row_major;
  const std::int64_t lines = by_rows ? view.rows : view.cols;
  const std::int64_t least = by_rows ? view.cols : view.rows;
  if (view.ld < least) check::fail_leading(label.c_str(), view.ld, least, view.order);
  if (check::overflows(lines, view.ld, bytes_of(view.type))) {
    check::fail_matrix_bytes(label.c_str(), lines, view.ld, bytes_of(view.type));
  }
}

template <class Pointer>
void check_data(const char* part, const AnyMatrixView<Pointer>& view) {
  if (view.data != nullptr || view.rows == 0 || view.cols == 0) return;
  check::fail_matrix_null((std::string("gemm_epilogue: ") + part).c_str(), view.rows, view.cols);
}

/// Checks the operands of a call one by one.
class Checks {
 public:
  Checks(const InputMatrix& a, const InputMatrix& b, const OutputMatrix& c, const Epilogue& parts)
      : rows_(c.rows), cols_(c.cols) {
    if (parts.gated && __builtin_mul_overflow(c.cols, 2, &cols_)) {
      fail("C has ", std::to_string(c.cols) + " columns; gated, twice as many must fit 63 bits");
    }
    if (a.type != b.type) {
      fail("A is ", name(a.type) + ", B is " + name(b.type) + "; they must have the same type");
    }
    is_double_ = a.type == ElementType::f64;
    if (c.type == ElementType::tf32 || (c.type == ElementType::f64) != is_double_) {
      fail("C is ", name(c.type) + ", A is " + name(a.type) +
                        (is_double_ ? "; C must be f64" : "; C must be another type but tf32"));
    }
    if (a.rows != rows_ || b.cols != cols_ || a.cols != b.rows) {
      fail("A is ", shape(a.rows, a.cols) + ", B is " + shape(b.rows, b.cols) + ", C is " +
                        shape(c.rows, c.cols) + "; they must be m x k, k x n and m x " +
                        (parts.gated ? "n / 2 (gated)" : "n"));
    }
  }

  void scale(const char* part, const InputVector& vector, std::int64_t count) const {
    if (!has_count(part, vector, count)) return;
    if (vector.type == (is_double_ ? ElementType::f64 : ElementType::f32)) return;
    fail_type(part, vector.type, is_double_ ? "f64" : "f32");
  }
  void bias(const char* part, const InputVector& vector, std::int64_t count) const {
    if (has_count(part, vector, count)) check_type(part, vector.type);
  }
  template <class Pointer>
  void matrix(const char* part, const AnyMatrixView<Pointer>& view, std::int64_t cols) const {
    check_layout(part, view);
    if (view.data == nullptr && view.rows == 0 && view.cols == 0) return;
    if (view.rows != rows_ || view.cols != cols) {
      fail(part, " is " + shape(view.rows, view.cols) + "; it must be " + shape(rows_, cols));
    }
    check_type(part, view.type);
    check_data(part, view);
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }

 private:
  static bool has_count(const char* part, const InputVector& vector, std::int64_t count) {
    require_type(part, vector.type);
    if (vector.data == nullptr && vector.count == 0) return false;
    if (vector.count != count) {
      fail(part, " has " + std::to_string(vector.count) + " elements; it must have " +
                     std::to_string(count));
    }
    if (vector.data == nullptr) {
      fail(part, " is null; it must point to " + std::to_string(count) + " elements");
    }
    return true;
  }
  [[noreturn]] void fail_type(const char* part, ElementType type, const char* allowed) const {
    fail(part, " is " + name(type) + "; with A of " + (is_double_ ? "f64" : "this type") +
                   " it must be " + allowed);
  }
  void check_type(const char* part, ElementType type) const {
    using enum ElementType;
    const bool fits = is_double_ ? type == f64 : type == f32 || type == bf16 || type == f16;
    if (!fits) fail_type(part, type, is_double_ ? "f64" : "f32, bf16 or f16");
  }

  std::int64_t rows_, cols_;  // extents of the product
  bool is_double_;
};

void check_parts(const Checks& checks, double beta, const OutputMatrix& c, const Epilogue& parts) {
  checks.scale("row_scale", parts.row_scale, checks.rows());
  checks.scale("column_scale", parts.column_scale, checks.cols());
  checks.bias("row_bias", parts.row_bias, checks.rows());
  checks.bias("column_bias", parts.column_bias, checks.cols());
  checks.matrix("aux", parts.aux, checks.cols());
  checks.matrix("residual", parts.residual, c.cols);
  if (parts.activation < Activation::none || parts.activation > Activation::silu) {
    fail("activation", " is " + std::to_string(static_cast<int>(parts.activation)) +
                           "; it must be 0 (none), 1 (relu), 2 (gelu_tanh), 3 (gelu_erf) or "
                           "4 (silu)");
  }
  if (parts.gated && beta != 0) {
    fail("beta", " is " + std::to_string(beta) + "; with gated it must be 0");
  }
}

template <class Pointer>
check::Region region_of(const AnyMatrixView<Pointer>& view) {
  if (view.data == nullptr) return {};
  const bool by_rows = view.order == Order::row_major;
  const std::int64_t element = bytes_of(view.type);
  return {.begin = view.data,
          .length = (by_rows ? view.cols : view.rows) * element,
          .lines = by_rows ? view.rows : view.cols,
          .pitch = view.ld * element};
}

check::Region region_of(const InputVector& vector) {
  if (vector.data == nullptr) return {};
  return {.begin = vector.data, .length = vector.count * bytes_of(vector.type)};
}

check::Region region_of(const float* number) {
  return {.begin = number, .length = number == nullptr ? 0 : std::int64_t{sizeof(float)}};
}

bool is_stored_as(const InputMatrix& x, const OutputMatrix& y) {
  return x.data == y.data && x.type == y.type && x.ld == y.ld && x.order == y.order;
}

/// Checks that outputs do not overlap other operands, except for a residual that is C.
void check_overlap(bool multiplies, const InputMatrix& a, const InputMatrix& b,
                   const OutputMatrix& c, const Epilogue& parts) {
  const bool residual_is_c = !parts.gated && is_stored_as(parts.residual, c);
  struct Named {
    const char* name;
    check::Region region;
  };
  const Named written[] = {
      {"C", region_of(c)}, {"aux", region_of(parts.aux)}, {"amax", region_of(parts.amax)}};
  const Named read[] = {{"A", multiplies ? region_of(a) : check::Region{}},
                        {"B", multiplies ? region_of(b) : check::Region{}},
                        {"row_scale", region_of(parts.row_scale)},
                        {"column_scale", region_of(parts.column_scale)},
                        {"row_bias", region_of(parts.row_bias)},
                        {"column_bias", region_of(parts.column_bias)},
                        {"residual", residual_is_c ? check::Region{} : region_of(parts.residual)},
                        {"scale_a", region_of(parts.scale_a)},
                        {"scale_b", region_of(parts.scale_b)},
                        {"result_scale", region_of(parts.result_scale)}};
  for (const Named& target : written) {
    if (target.region.length == 0) continue;
    for (const Named& each : read) {
      check::apart("gemm_epilogue", target.name, target.region, each.name, each.region);
    }
    for (const Named* each = written; each != &target; ++each) {
      check::apart("gemm_epilogue", target.name, target.region, each->name, each->region);
    }
  }
}

template <class Pointer>
EpilogueOperand operand(const AnyMatrixView<Pointer>& view) {
  const bool by_rows = view.order == Order::row_major;
  return {const_cast<void*>(view.data), by_rows ? view.ld : 1, by_rows ? 1 : view.ld, view.type};
}

EpilogueOperand of_rows(const InputVector& vector) {
  return {const_cast<void*>(vector.data), 1, 0, vector.type};
}
EpilogueOperand of_cols(const InputVector& vector) {
  return {const_cast<void*>(vector.data), 0, 1, vector.type};
}

EpilogueArgs args_of(const Checks& checks, double alpha, double beta, const OutputMatrix& c,
                     const Epilogue& parts) {
  return {.m = checks.rows(),
          .n = checks.cols(),
          .alpha = alpha,
          .beta = beta,
          .result_factor = parts.result_factor,
          .scale_a = parts.scale_a,
          .scale_b = parts.scale_b,
          .result_scale = parts.result_scale,
          .row_scale = of_rows(parts.row_scale),
          .col_scale = of_cols(parts.column_scale),
          .row_bias = of_rows(parts.row_bias),
          .col_bias = of_cols(parts.column_bias),
          .aux = operand(parts.aux),
          .residual = operand(parts.residual),
          .c = operand(c),
          .amax = parts.amax,
          .activation = parts.activation,
          .pairs = parts.gated ? Pairs::of_columns : Pairs::none};
}

/// The epilogue of the transposed product.
EpilogueArgs transposed(EpilogueArgs args) {
  EpilogueArgs result = args;
  result.m = args.n;
  result.n = args.m;
  result.row_scale = args.col_scale.transposed();
  result.col_scale = args.row_scale.transposed();
  result.row_bias = args.col_bias.transposed();
  result.col_bias = args.row_bias.transposed();
  result.aux = args.aux.transposed();
  result.residual = args.residual.transposed();
  result.c = args.c.transposed();
  if (args.pairs != Pairs::none) result.pairs = Pairs::of_rows;
  return result;
}

AnyMatrix<const void*> factor(const InputMatrix& view, bool transpose) {
  const EpilogueOperand as_is = operand(view);
  const EpilogueOperand turned = transpose ? as_is.transposed() : as_is;
  return {turned.data, turned.row_stride, turned.col_stride};
}

}  // namespace

EpilogueCall canonical(double alpha, const InputMatrix& a, const InputMatrix& b, double beta,
                       const OutputMatrix& c, const Epilogue& epilogue) {
  check_layout("A", a);
  check_layout("B", b);
  check_layout("C", c);
  const Checks checks(a, b, c, epilogue);
  check_parts(checks, beta, c, epilogue);
  const bool is_empty = c.rows == 0 || c.cols == 0;
  check_data("C", c);
  const bool multiplies = !is_empty && alpha != 0 && a.cols > 0;
  if (multiplies) {
    check_data("A", a);
    check_data("B", b);
  }
  check_overlap(multiplies, a, b, c, epilogue);
  const bool transpose = c.order == Order::col_major;
  const EpilogueArgs args = args_of(checks, alpha, beta, c, epilogue);
  const EpilogueArgs turned = transpose ? transposed(args) : args;
  const InputMatrix& left = transpose ? b : a;
  const InputMatrix& right = transpose ? a : b;
  return {.product = {.call = {.dtype = unrounded_dtypes[static_cast<std::size_t>(a.type)],
                               .m = turned.m,
                               .n = turned.n,
                               .k = a.cols,
                               .alpha = 1,
                               .a = factor(left, transpose),
                               .b = factor(right, transpose),
                               .beta = 0,
                               .c = {nullptr, turned.n, 1}},
                      .a = detail::order_of(left.order, transpose),
                      .b = detail::order_of(right.order, transpose),
                      .multiplies = multiplies},
          .epilogue = turned};
}

GemmCall rows_of(const GemmCall& product, std::int64_t row, std::int64_t count, void* sums) {
  GemmCall part = product;
  const auto bytes = static_cast<std::int64_t>(input_bytes(product.dtype));
  part.m = count;
  part.a.data = static_cast<const char*>(product.a.data) + row * product.a.row_stride * bytes;
  part.c.data = sums;
  return part;
}

}  // namespace rung
