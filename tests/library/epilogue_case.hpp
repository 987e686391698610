#pragma once
// Products with an epilogue on small integers, with exact sums, compared with a reference in
// double.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/epilogue.hpp"
#include "rung/epilogue.hpp"

namespace rung {

struct EpilogueSpec {
  ElementType in = ElementType::f32, out = ElementType::f32;
  std::int64_t m = 5, n = 6, k = 7;
  Order a = Order::row_major, b = Order::row_major, c = Order::row_major;
  std::int64_t padding = 0;  // elements between rows, for all matrices
  double alpha = 1, beta = 0, result_factor = 1;
  Activation activation = Activation::none;
  bool gated = false;
  bool row_scale = false, column_scale = false, row_bias = false, column_bias = false;
  bool aux = false, residual = false, tensor_scales = false, amax = false;
  ElementType extra = ElementType::f32;  // type of biases, aux and residual
  Order extra_order = Order::row_major;
  double magnitude = 2;  // maximum magnitude of elements of A and B

  friend void PrintTo(const EpilogueSpec& s, std::ostream* to) {
    *to << s.m << "x" << s.n << "x" << s.k << " in " << static_cast<int>(s.in) << " out "
        << static_cast<int>(s.out) << " extra " << static_cast<int>(s.extra) << " activation "
        << static_cast<int>(s.activation) << " gated " << s.gated << " orders "
        << static_cast<int>(s.a) << static_cast<int>(s.b) << static_cast<int>(s.c)
        << static_cast<int>(s.extra_order) << " parts " << s.row_scale << s.column_scale
        << s.row_bias << s.column_bias << s.aux << s.residual << s.tensor_scales << s.amax
        << " alpha " << s.alpha << " beta " << s.beta << " factor " << s.result_factor
        << " padding " << s.padding;
  }
};

/// Calls f with the element of that type at `data`.
template <class F>
auto with_element(ElementType type, const void* data, const F& f) {
  const auto as = [&]<class T>(T value) {
    std::memcpy(&value, data, sizeof value);
    return f(value);
  };
  switch (type) {
    case ElementType::f64: return as(double{});
    case ElementType::i32: return as(std::int32_t{});
    case ElementType::bf16: return as(bfloat16{});
    case ElementType::f16: return as(float16{});
    case ElementType::i8: return as(std::int8_t{});
    case ElementType::e4m3: return as(float8_e4m3{});
    case ElementType::e5m2: return as(float8_e5m2{});
    default: return as(float{});
  }
}

inline double decoded(ElementType type, const void* data) {
  return with_element(type, data, []<class T>(T value) {
    if constexpr (std::is_arithmetic_v<T>)
      return static_cast<double>(value);
    else
      return static_cast<double>(static_cast<float>(value));
  });
}

inline void encode(ElementType type, void* data, double value) {
  with_element(type, data, [&]<class T>(T element) {
    if constexpr (std::is_arithmetic_v<T>)
      element = static_cast<T>(value);
    else
      element = T(static_cast<float>(value));
    std::memcpy(data, &element, sizeof element);
  });
}

/// The largest number of a type if it saturates, and the relative and absolute errors of rounding
/// to it.
struct Rounding {
  double largest = std::numeric_limits<double>::infinity();
  double relative = 0, absolute = 0;
};
inline Rounding rounding_of(ElementType type) {
  switch (type) {
    case ElementType::f64: return {.relative = 0x1p-53, .absolute = 0x1p-1074};
    case ElementType::i32: return {.largest = 0x1p31, .absolute = 0.5};
    case ElementType::bf16: return {.relative = 0x1p-8, .absolute = 0x1p-134};
    case ElementType::f16: return {.relative = 0x1p-11, .absolute = 0x1p-25};
    case ElementType::i8: return {.largest = 127, .absolute = 0.5};
    case ElementType::e4m3: return {.largest = 448, .relative = 0x1p-4, .absolute = 0x1p-10};
    case ElementType::e5m2: return {.largest = 57344, .relative = 0x1p-3, .absolute = 0x1p-17};
    default: return {.relative = 0x1p-24, .absolute = 0x1p-149};
  }
}

/// A value and a bound of its error.
struct Bounded {
  double value = 0, error = 0;
};

inline double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::relu: return std::max(x, 0.0);
    case Activation::gelu_tanh:
      return x / 2 * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    case Activation::gelu_erf: return x / 2 * std::erfc(-x * 0.7071067811865476);
    case Activation::silu: return x / (1 + std::exp(-x));
    default: return x;
  }
}

/// Elements as bytes, between guards, with padding that must not change.
struct TestMatrix {
  ElementType type = ElementType::f32;
  std::int64_t rows = 0, cols = 0, ld = 0;
  Order order = Order::row_major;
  std::vector<std::byte> bytes = {}, before = {};
  std::byte* place = nullptr;  // address of the bytes on the device

  static constexpr std::size_t guard = 256;

  TestMatrix(ElementType t, std::int64_t r, std::int64_t c, Order o, std::int64_t padding)
      : type(t), rows(r), cols(c), order(o) {
    ld = (o == Order::row_major ? c : r) + padding;
    const std::int64_t lines = o == Order::row_major ? r : c;
    bytes.assign(2 * guard + static_cast<std::size_t>(lines * ld * bytes_of(t)), std::byte{0xFF});
  }
  std::size_t offset(std::int64_t i, std::int64_t j) const {
    const std::int64_t at = order == Order::row_major ? i * ld + j : j * ld + i;
    return guard + static_cast<std::size_t>(at * bytes_of(type));
  }
  double at(std::int64_t i, std::int64_t j) const { return decoded(type, &bytes[offset(i, j)]); }
  double was(std::int64_t i, std::int64_t j) const { return decoded(type, &before[offset(i, j)]); }
  void set(std::int64_t i, std::int64_t j, double value) {
    encode(type, &bytes[offset(i, j)], value);
  }
  void* data() const { return place + guard; }
  InputMatrix input() const { return {data(), type, rows, cols, ld, order}; }
  OutputMatrix output() const { return {data(), type, rows, cols, ld, order}; }

  /// The bytes outside all elements.
  std::vector<std::byte> surroundings(std::vector<std::byte> from) const {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < cols; ++j) {
        const auto begin = from.begin() + static_cast<std::ptrdiff_t>(offset(i, j));
        std::fill(begin, begin + bytes_of(type), std::byte{});
      }
    }
    return from;
  }
};

/// The memory of a test's operands: functions that copy bytes to it and from it.
struct TestDevice {
  std::function<std::byte*(std::vector<std::byte>&)> put;
  std::function<void(std::byte*, std::vector<std::byte>&)> get;
};
inline TestDevice host() {
  return {[](std::vector<std::byte>& bytes) { return bytes.data(); },
          [](std::byte*, std::vector<std::byte>&) {}};
}

class EpilogueCase {
 public:
  explicit EpilogueCase(const EpilogueSpec& spec, unsigned seed = 1)
      : s_(spec), random_(seed), cols_(spec.gated ? spec.n / 2 : spec.n) {
    a_ = matrix(s_.in, s_.m, s_.k, s_.a, s_.magnitude, 1);
    b_ = matrix(s_.in, s_.k, s_.n, s_.b, s_.magnitude, 1);
    c_ = matrix(s_.out, s_.m, cols_, s_.c, s_.beta != 0 ? 4 : -1, 0.5);
    const ElementType scale = s_.in == ElementType::f64 ? ElementType::f64 : ElementType::f32;
    if (s_.row_scale) row_scale_ = matrix(scale, s_.m, 1, Order::col_major, 3, 0.125);
    if (s_.column_scale) column_scale_ = matrix(scale, s_.n, 1, Order::col_major, 3, 0.125);
    if (s_.row_bias) row_bias_ = matrix(s_.extra, s_.m, 1, Order::col_major, 6, 0.25);
    if (s_.column_bias) column_bias_ = matrix(s_.extra, s_.n, 1, Order::col_major, 6, 0.25);
    if (s_.aux) aux_ = matrix(s_.extra, s_.m, s_.n, s_.extra_order, -1, 1);
    if (s_.residual) residual_ = matrix(s_.extra, s_.m, cols_, s_.extra_order, 6, 0.25);
    scales_ = matrix(ElementType::f32, 4, 1, Order::col_major, -1, 1);
    const double values[] = {0.75, 1.5, 0.5, 0.0};
    for (std::int64_t i = 0; i < 4; ++i) scales_->set(i, 0, values[i]);
  }

  /// Calls call(alpha, a, b, beta, c, epilogue) on the device. Returns the first error in its
  /// results; empty if they are right.
  template <class Call>
  std::string verdict(const TestDevice& device, const Call& call) {
    std::optional<TestMatrix>* const all[] = {
        &a_,        &b_,           &c_,   &row_scale_, &column_scale_,
        &row_bias_, &column_bias_, &aux_, &residual_,  &scales_};
    for (auto* each : all) {
      if (!*each) continue;
      (*each)->before = (*each)->bytes;
      (*each)->place = device.put((*each)->bytes);
    }
    call(s_.alpha, a_->input(), b_->input(), s_.beta, c_->output(), epilogue());
    for (auto* each : all) {
      if (!*each) continue;
      device.get((*each)->place, (*each)->bytes);
      TestMatrix& matrix = **each;
      if (matrix.surroundings(matrix.bytes) != matrix.surroundings(matrix.before)) {
        return "written beside a matrix: " + testing::PrintToString(s_);
      }
    }
    return verdict_on_elements();
  }

 private:
  /// Multiples of `step` up to `magnitude`; if that is negative, NaN and other invalid values.
  TestMatrix matrix(ElementType type, std::int64_t rows, std::int64_t cols, Order order,
                    double magnitude, double step) {
    TestMatrix made(type, rows, cols, order, cols == 1 ? 0 : s_.padding);
    if (magnitude < 0) return made;
    const auto most = static_cast<int>(magnitude / step);
    std::uniform_int_distribution<int> steps(-most, most);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < cols; ++j) made.set(i, j, steps(random_) * step);
    }
    return made;
  }

  static InputVector vector(const std::optional<TestMatrix>& from) {
    return from ? InputVector(from->data(), from->type, from->rows) : InputVector{};
  }
  Epilogue epilogue() const {
    auto* const scales = static_cast<float*>(scales_->data());
    return {.row_scale = vector(row_scale_),
            .column_scale = vector(column_scale_),
            .row_bias = vector(row_bias_),
            .column_bias = vector(column_bias_),
            .activation = s_.activation,
            .gated = s_.gated,
            .aux = aux_ ? aux_->output() : OutputMatrix{},
            .residual = residual_ ? residual_->input() : InputMatrix{},
            .scale_a = s_.tensor_scales ? scales : nullptr,
            .scale_b = s_.tensor_scales ? scales + 1 : nullptr,
            .result_scale = s_.tensor_scales ? scales + 2 : nullptr,
            .result_factor = s_.result_factor,
            .amax = s_.amax ? scales + 3 : nullptr};
  }

  double unit() const { return s_.in == ElementType::f64 ? 0x1p-53 : 0x1p-24; }

  /// Steps 1 to 4 of the epilogue. At most 8 operations each round a value of at most `size` once.
  Bounded before_activation(std::int64_t i, std::int64_t j) const {
    double sum = 0;
    for (std::int64_t p = 0; p < s_.k; ++p) sum += a_->was(i, p) * b_->was(p, j);
    double t = s_.alpha * sum * (s_.tensor_scales ? 0.75 * 1.5 : 1);
    if (row_scale_) t *= row_scale_->was(i, 0);
    if (column_scale_) t *= column_scale_->was(j, 0);
    double size = std::fabs(t);
    const auto add = [&](double x) {
      t += x;
      size += std::fabs(x);
    };
    if (s_.beta != 0) add(s_.beta * c_->was(i, j));
    if (row_bias_) add(row_bias_->was(i, 0));
    if (column_bias_) add(column_bias_->was(j, 0));
    return {t, 8 * unit() * size};
  }

  /// No activation has a slope above 1.13 (gelu at sqrt 2; silu 1.1).
  Bounded after_activation(const Bounded& t) const {
    const double approximation = s_.in == ElementType::f64 ? 0x1p-48 : 0x1p-20;
    const bool is_exact = s_.activation <= Activation::relu;
    return {activated(s_.activation, t.value),
            1.13 * t.error + (is_exact ? 0 : approximation * std::fabs(t.value))};
  }

  Bounded result(std::int64_t i, std::int64_t j) const {
    Bounded v = after_activation(before_activation(i, s_.gated ? 2 * j : j));
    if (s_.gated) {
      const Bounded by = before_activation(i, 2 * j + 1);
      v = {v.value * by.value, v.error * std::fabs(by.value) + by.error * std::fabs(v.value) +
                                   v.error * by.error + unit() * std::fabs(v.value * by.value)};
    }
    if (residual_) {
      const double r = residual_->was(i, j);
      v = {v.value + r, v.error + unit() * (std::fabs(v.value) + std::fabs(r))};
    }
    return v;
  }

  /// Returns an error if the element is not within its bound; otherwise empty.
  std::string verdict_on(double got, Bounded expected, ElementType type, const char* matrix,
                         std::int64_t i, std::int64_t j) const {
    const Rounding rounding = rounding_of(type);
    const double least = type == ElementType::i8 ? -128 : -rounding.largest;
    const double value = std::clamp(expected.value, least, rounding.largest);
    const double bound = expected.error + rounding.relative * (std::fabs(value) + expected.error) +
                         rounding.absolute;
    if (std::fabs(got - value) <= bound) return {};
    return std::string(matrix) + "(" + std::to_string(i) + ", " + std::to_string(j) + ") is " +
           std::to_string(got) + "; it must be within " + std::to_string(bound) + " of " +
           std::to_string(value) + ": " + testing::PrintToString(s_);
  }

  std::string verdict_on_elements() const {
    double largest = 0, largest_error = 0;
    const double factor = s_.result_factor * (s_.tensor_scales ? 0.5 : 1);
    for (std::int64_t i = 0; i < s_.m; ++i) {
      for (std::int64_t j = 0; j < cols_; ++j) {
        const Bounded v = result(i, j);
        largest = std::max(largest, std::fabs(v.value));
        largest_error = std::max(largest_error, v.error);
        const double scaled = factor * v.value;
        const double error = std::fabs(factor) * v.error + 2 * unit() * std::fabs(scaled);
        std::string wrong = verdict_on(c_->at(i, j), {scaled, error}, s_.out, "C", i, j);
        if (!wrong.empty()) return wrong;
      }
      for (std::int64_t j = 0; aux_ && j < s_.n; ++j) {
        std::string wrong =
            verdict_on(aux_->at(i, j), before_activation(i, j), s_.extra, "aux", i, j);
        if (!wrong.empty()) return wrong;
      }
    }
    if (!s_.amax) return {};
    return verdict_on(scales_->at(3, 0), {largest, largest_error}, ElementType::f32, "amax", 0, 0);
  }

  EpilogueSpec s_;
  std::mt19937 random_;
  std::int64_t cols_;  // of C
  std::optional<TestMatrix> a_, b_, c_, row_scale_, column_scale_, row_bias_, column_bias_, aux_,
      residual_, scales_;
};

/// A spec with random parts, orders, sizes up to `most` and padding. `types`: candidates for A and
/// B.
inline EpilogueSpec random_spec(std::mt19937& random, const std::vector<ElementType>& types,
                                std::int64_t most) {
  using enum ElementType;
  const auto below = [&](int count) {
    return static_cast<int>(random() % static_cast<unsigned>(count));
  };
  const auto coin = [&] { return below(2) == 1; };
  const auto order = [&] { return coin() ? Order::row_major : Order::col_major; };
  const auto size = [&] { return 1 + static_cast<std::int64_t>(random()) % most; };
  EpilogueSpec s;
  s.in = types[static_cast<std::size_t>(below(static_cast<int>(types.size())))];
  const bool is_double = s.in == f64;
  constexpr ElementType outs[] = {f32, bf16, f16, e4m3, e5m2, i8, i32};
  constexpr ElementType extras[] = {f32, bf16, f16};
  s.out = is_double ? f64 : outs[below(7)];
  s.extra = is_double ? f64 : extras[below(3)];
  s.m = size();
  s.n = size();
  s.k = size();
  s.a = order();
  s.b = order();
  s.c = order();
  s.extra_order = order();
  s.padding = below(3) * 3;
  s.alpha = coin() ? 1 : 0.5;
  s.gated = below(3) == 0;
  if (s.gated) s.n = (s.n + 1) / 2 * 2;
  s.beta = s.gated || coin() ? 0 : -0.5;
  s.result_factor = coin() ? 1 : 0.125;
  s.activation = static_cast<Activation>(below(is_double ? 2 : 5));
  for (bool* part : {&s.row_scale, &s.column_scale, &s.row_bias, &s.column_bias, &s.aux,
                     &s.residual, &s.tensor_scales, &s.amax}) {
    *part = below(3) == 0;
  }
  return s;
}

}  // namespace rung
