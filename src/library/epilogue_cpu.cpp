// Products with an epilogue on CPUs: some rows of sums at a time, while they are in the cache.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>

#include "core/integers.hpp"
#include "device/activation.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/parallel.hpp"
#include "library/epilogue.hpp"
#include "library/gemm.hpp"
#include "rung/types.hpp"

namespace rung {
namespace {

/// Elements that are processed together, one operation after another.
constexpr std::int64_t chunk = 512;

struct CpuMath {
  static constexpr float reciprocal(float x) { return 1.0f / x; }
  /// For x between -127 and 127, or NaN: 2^n, n the integer nearest to x, times a polynomial in the rest.
  /// Its coefficients are those of the Taylor series: the first term left out is below 2^-26.
  static constexpr float exp2(float x) {
    constexpr float rounder = 0x1.8p23f;
    const float limited = x < -126.0f ? -126.0f : x;
    const float whole = limited + rounder;
    const float r = (limited - (whole - rounder)) * 0.6931471805599453f;
    const float tail = 1.0f / 24 + r * (1.0f / 120 + r * (1.0f / 720 + r * (1.0f / 5040)));
    const float series = 1.0f + r * (1.0f + r * (0.5f + r * (1.0f / 6 + r * tail)));
    const auto exponent = std::bit_cast<std::uint32_t>(whole) + 127u - 0x4B400000u;
    return series * std::bit_cast<float>(exponent << 23);
  }
};

template <Activation activation, class E>
E activated(E x) {
  if constexpr (std::is_same_v<E, float>) {
    return Activations<CpuMath>::of(activation, x);
  } else if constexpr (activation == Activation::relu) {
    return x < 0 ? 0 : x;
  } else if constexpr (activation == Activation::gelu_tanh) {
    const double y = 0.7978845608028654 * (x + 0.044715 * x * x * x);
    return x / (1 + std::exp(-2 * y));
  } else if constexpr (activation == Activation::gelu_erf) {
    return x / 2 * std::erfc(-x * 0.7071067811865476);
  } else if constexpr (activation == Activation::silu) {
    return x / (1 + std::exp(-x));
  } else {
    return x;
  }
}

/// A number that saturates in the type; the types of types.hpp round by themselves.
template <class T, class E>
T converted(E value) {
  if constexpr (std::is_integral_v<T>) {
    if (value != value) return 0;
    const double rounded = std::nearbyint(static_cast<double>(value));
    return static_cast<T>(std::clamp(rounded, double{std::numeric_limits<T>::min()},
                                     double{std::numeric_limits<T>::max()}));
  } else if constexpr (std::is_same_v<T, float8_e5m2>) {
    constexpr E largest = 57344;
    return T(static_cast<float>(value > largest ? largest : value < -largest ? -largest : value));
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    return T(static_cast<float>(value));
  }
}

template <class E, class T>
E widened(T element) {
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<E>(element);
  } else {
    return static_cast<E>(static_cast<float>(element));
  }
}

/// Calls f with a null pointer to the type of the elements, which is double if E is.
template <class E, class F>
void with_type(ElementType type, const F& f) {
  if constexpr (std::is_same_v<E, double>) return f(static_cast<double*>(nullptr));
  switch (type) {
    case ElementType::i32: return f(static_cast<std::int32_t*>(nullptr));
    case ElementType::bf16: return f(static_cast<bfloat16*>(nullptr));
    case ElementType::f16: return f(static_cast<float16*>(nullptr));
    case ElementType::i8: return f(static_cast<std::int8_t*>(nullptr));
    case ElementType::e4m3: return f(static_cast<float8_e4m3*>(nullptr));
    case ElementType::e5m2: return f(static_cast<float8_e5m2*>(nullptr));
    default: return f(static_cast<float*>(nullptr));
  }
}

/// Some elements of one row.
struct Span {
  std::int64_t row, col, count;
};

/// The elements of a span.
template <class E>
void load(const EpilogueOperand& operand, const Span& span, E* to) {
  with_type<E>(operand.type, [&]<class T>(T*) {
    const T* const from = static_cast<const T*>(operand.data) + operand.at(span.row, span.col);
    for (std::int64_t i = 0; i < span.count; ++i) to[i] = widened<E>(from[i * operand.col_stride]);
  });
}

/// t[i] = f(t[i], element i of the operand) for each element of a span, unless there is no such operand.
template <class E, class F>
void with_operand(const EpilogueOperand& operand, const Span& span, E* t, const F& f) {
  if (operand.data == nullptr) return;
  E elements[chunk];
  load(operand, span, elements);
  for (std::int64_t i = 0; i < span.count; ++i) t[i] = f(t[i], elements[i]);
}

template <class E>
void store(const EpilogueOperand& operand, const Span& span, const E* t) {
  with_type<E>(operand.type, [&]<class T>(T*) {
    T* const to = static_cast<T*>(operand.data) + operand.at(span.row, span.col);
    for (std::int64_t i = 0; i < span.count; ++i) to[i * operand.col_stride] = converted<T>(t[i]);
  });
}

template <class E>
void activate(Activation activation, std::int64_t count, E* t) {
  const auto each = [&]<Activation which>() {
    for (std::int64_t i = 0; i < count; ++i) t[i] = activated<which>(t[i]);
  };
  switch (activation) {
    case Activation::none: return;
    case Activation::relu: return each.template operator()<Activation::relu>();
    case Activation::gelu_tanh: return each.template operator()<Activation::gelu_tanh>();
    case Activation::gelu_erf: return each.template operator()<Activation::gelu_erf>();
    case Activation::silu: return each.template operator()<Activation::silu>();
  }
}

/// The operations of one call on spans of sums of type Sum.
template <class Sum, class E>
class Rows {
 public:
  Rows(const EpilogueArgs& args, const Sum* sums) : args_(args), sums_(sums) {
    const auto given = [](const float* scale) { return scale == nullptr ? E{1} : E{*scale}; };
    factor_ = static_cast<E>(args.alpha) * given(args.scale_a) * given(args.scale_b);
    result_factor_ = static_cast<E>(args.result_factor) * given(args.result_scale);
  }

  /// Row `row` of the result. Returns the largest magnitude, as the bits of a float.
  std::uint32_t run(std::int64_t row) const {
    std::uint32_t largest = 0;
    const bool joins = args_.pairs == Pairs::of_columns;
    const std::int64_t step = joins ? chunk / 2 : chunk;
    for (std::int64_t col = 0; col < args_.result_cols(); col += step) {
      const Span span = {row, col, std::min(step, args_.result_cols() - col)};
      E u[chunk], value[chunk];
      if (args_.pairs == Pairs::of_rows) {
        before_activation({2 * row, col, span.count}, u);
        before_activation({2 * row + 1, col, span.count}, value);
      } else {
        before_activation({row, joins ? 2 * col : col, joins ? 2 * span.count : span.count}, u);
      }
      if (joins) {
        for (std::int64_t i = 0; i < span.count; ++i) {
          value[i] = u[2 * i + 1];
          u[i] = u[2 * i];
        }
      }
      activate(args_.activation, span.count, u);
      if (args_.pairs != Pairs::none) {
        for (std::int64_t i = 0; i < span.count; ++i) u[i] *= value[i];
      }
      largest = std::max(largest, finish(span, u));
    }
    return largest;
  }

 private:
  /// Steps 1 to 5.
  void before_activation(const Span& span, E* t) const {
    if (sums_ == nullptr) {
      std::fill_n(t, span.count, E{});
    } else {
      const Sum* const from = sums_ + span.row * args_.n + span.col;
      for (std::int64_t i = 0; i < span.count; ++i) t[i] = factor_ * static_cast<E>(from[i]);
    }
    const auto times = [](E x, E y) { return x * y; };
    const auto plus = [](E x, E y) { return x + y; };
    with_operand(args_.row_scale, span, t, times);
    with_operand(args_.col_scale, span, t, times);
    if (args_.beta != 0) {
      const auto beta = static_cast<E>(args_.beta);
      with_operand(args_.c, span, t, [beta](E x, E old) { return x + beta * old; });
    }
    with_operand(args_.row_bias, span, t, plus);
    with_operand(args_.col_bias, span, t, plus);
    if (args_.aux.data != nullptr) store(args_.aux, span, t);
  }

  /// Steps 7 to 9.
  std::uint32_t finish(const Span& span, E* v) const {
    with_operand(args_.residual, span, v, [](E x, E y) { return x + y; });
    std::uint32_t largest = 0;
    if (args_.amax != nullptr) {
      for (std::int64_t i = 0; i < span.count; ++i) {
        // As integers, the bits of magnitudes have the order of the numbers, and NaN is above all.
        const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(v[i])) & 0x7FFFFFFFu;
        largest = std::max(largest, bits);
      }
    }
    for (std::int64_t i = 0; i < span.count; ++i) v[i] *= result_factor_;
    store(args_.c, span, v);
    return largest;
  }

  const EpilogueArgs& args_;
  const Sum* sums_;
  E factor_, result_factor_;
};

template <class Sum, class E>
void apply_to(const EpilogueArgs& args, const void* sums, int threads) {
  const Rows<Sum, E> rows(args, static_cast<const Sum*>(sums));
  std::uint32_t largest[64] = {};
  const std::int64_t count = args.result_rows();
  const std::int64_t parts = std::min<std::int64_t>(std::size(largest), count);
  cpu::parallel_for(parts, threads, [&](std::int64_t part) {
    for (std::int64_t row = count * part / parts; row < count * (part + 1) / parts; ++row) {
      largest[part] = std::max(largest[part], rows.run(row));
    }
  });
  if (args.amax == nullptr) return;
  const auto before = std::bit_cast<std::uint32_t>(*args.amax) & 0x7FFFFFFFu;
  *args.amax = std::bit_cast<float>(std::max(before, *std::ranges::max_element(largest)));
}

/// Rows of a panel of sums, an even number because rows may be paired: 8 MB of floats, more than a core's
/// L2 cache and less than a socket's L3, so that threads have enough to share.
std::int64_t panel_rows(const EpilogueArgs& args) {
  constexpr std::int64_t panel_elements = 1 << 21;
  constexpr std::int64_t least = 64;
  return std::min(args.m, round_up(std::max(panel_elements / args.n, least), 2));
}

}  // namespace

void cpu::apply(const EpilogueArgs& epilogue, Dtype product, const void* sums, int threads) {
  // A loop of so few elements takes less time than to hand it to other threads.
  constexpr std::int64_t elements_alone = 1 << 14;
  const int shared = epilogue.m * epilogue.n < elements_alone ? 1
                     : threads == 0                           ? cpu::available_threads()
                                                              : threads;
  if (product == Dtype::f64) return apply_to<double, double>(epilogue, sums, shared);
  if (is_integer(product)) return apply_to<std::int32_t, float>(epilogue, sums, shared);
  apply_to<float, float>(epilogue, sums, shared);
}

void cpu::gemm_epilogue(const EpilogueCall& call, const GemmOptions& options) {
  const EpilogueArgs& args = call.epilogue;
  const GemmCall& product = call.product.call;
  check::has_mode(product.dtype, options.compute_mode);
  if (args.m == 0 || args.n == 0) return;
  if (!call.product.multiplies) return apply(args, product.dtype, nullptr, options.threads);
  const std::int64_t rows = panel_rows(args);
  const std::size_t bytes = output_bytes(product.dtype) * static_cast<std::size_t>(rows * args.n);
  const auto sums = std::make_unique_for_overwrite<std::byte[]>(bytes);
  for (std::int64_t row = 0; row < args.m; row += rows) {
    const std::int64_t count = std::min(rows, args.m - row);
    CanonicalCall part = call.product;
    part.call = rows_of(product, row, count, sums.get());
    cpu::gemm(part, options);
    apply(rows_of(args, row, count), product.dtype, sums.get(), options.threads);
  }
}

void gemm_epilogue(double alpha, const InputMatrix& a, const InputMatrix& b, double beta,
                   const OutputMatrix& c, const Epilogue& epilogue, const GemmOptions& options) {
  check::threads("gemm_epilogue", options.threads);
  check::compute_mode("gemm_epilogue", options.compute_mode);
  cpu::gemm_epilogue(canonical(alpha, a, b, beta, c, epilogue), options);
}

}  // namespace rung
