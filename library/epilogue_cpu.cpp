// CPU products with an epilogue: computes some rows of sums at a time and processes them in cache.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>

#include "core/dtype.hpp"
#include "core/integers.hpp"
#include "device/cpu/activate.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/thread_limit.hpp"
#include "device/cpu/widen.hpp"
#include "library/epilogue.hpp"
#include "library/gemm.hpp"
#include "library/mode_environment.hpp"
#include "rung/types.hpp"

namespace rung {
namespace {

/// Elements that pass through all operations together.
constexpr std::int64_t chunk = 512;

/// Rounds to nearest, ties to even, in any rounding mode of the caller.
double to_nearest(double value) {
  const double below = std::floor(value), rest = value - below;
  const bool is_odd = below != 2 * std::floor(below / 2);
  return rest > 0.5 || (rest == 0.5 && is_odd) ? below + 1 : below;
}

/// Converts to a type with saturation; the types of types.hpp saturate themselves.
template <class T, class E>
T converted(E value) {
  if constexpr (std::is_integral_v<T>) {
    if (value != value) return 0;
    return static_cast<T>(std::clamp(to_nearest(value), double{std::numeric_limits<T>::min()},
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

/// Calls f with a null pointer to the element type, which is double if E is double.
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

template <class T>
constexpr bool is_half = std::is_same_v<T, bfloat16> || std::is_same_v<T, float16>;

/// A range of elements in one row.
struct Span {
  std::int64_t row, col, count;
};

/// Loads the elements of a span.
template <class E>
void load(const EpilogueOperand& operand, const Span& span, E* to) {
  with_type<E>(operand.type, [&]<class T>(T*) {
    const T* const from = static_cast<const T*>(operand.data) + operand.at(span.row, span.col);
    if constexpr (is_half<T> && std::is_same_v<E, float>) {
      if (operand.col_stride == 1) return cpu::widen<T>()(from, span.count, to);
    }
    for (std::int64_t i = 0; i < span.count; ++i) to[i] = widened<E>(from[i * operand.col_stride]);
  });
}

/// The elements of a span as values of E: in the operand if they are stored so, otherwise converted
/// to `memory`. Null if there is no operand.
template <class E>
const E* elements_of(const EpilogueOperand& operand, const Span& span, E* memory) {
  constexpr ElementType type = std::is_same_v<E, double> ? ElementType::f64 : ElementType::f32;
  if (operand.data == nullptr) return nullptr;
  if (operand.type == type && operand.col_stride == 1) {
    return static_cast<const E*>(operand.data) + operand.at(span.row, span.col);
  }
  load(operand, span, memory);
  return memory;
}

/// t *= the elements of a span, if there is an operand.
template <class E>
void multiply_by(const EpilogueOperand& operand, const Span& span, E* t) {
  E memory[chunk];
  const E* const x = elements_of(operand, span, memory);
  if (x == nullptr) return;
  for (std::int64_t i = 0; i < span.count; ++i) t[i] *= x[i];
}

/// t += factor * the elements of a span, if there is an operand.
template <class E>
void add(const EpilogueOperand& operand, const Span& span, E factor, E* t) {
  E memory[chunk];
  const E* const x = elements_of(operand, span, memory);
  if (x == nullptr) return;
  for (std::int64_t i = 0; i < span.count; ++i) t[i] += factor * x[i];
}

template <class E>
void store(const EpilogueOperand& operand, const Span& span, const E* t) {
  with_type<E>(operand.type, [&]<class T>(T*) {
    T* const to = static_cast<T*>(operand.data) + operand.at(span.row, span.col);
    if constexpr (is_half<T> && std::is_same_v<E, float>) {
      if (operand.col_stride == 1) return cpu::narrow<T>()(t, span.count, to);
    }
    for (std::int64_t i = 0; i < span.count; ++i) to[i * operand.col_stride] = converted<T>(t[i]);
  });
}

/// The operations of one call on spans of sums of type Sum.
template <class Sum, class E>
class Rows {
 public:
  /// `ld`: the leading dimension of the sums.
  Rows(const EpilogueArgs& args, const Sum* sums, std::int64_t ld)
      : args_(args), sums_(sums), ld_(ld) {
    const auto given = [](const float* scale) { return scale == nullptr ? E{1} : E{*scale}; };
    factor_ = static_cast<E>(args.alpha) * given(args.scale_a) * given(args.scale_b);
    result_factor_ = static_cast<E>(args.result_factor) * given(args.result_scale);
    is_simple_ = std::is_same_v<Sum, E> && sums != nullptr && args.pairs == Pairs::none &&
                 args.row_scale.data == nullptr && args.col_scale.data == nullptr &&
                 args.row_bias.data == nullptr && args.beta == 0;
    stores_at_once_ = is_simple_ && args.c.col_stride == 1 && args.c.type == type_of_sums &&
                      args.residual.data == nullptr && args.amax == nullptr;
  }

  /// Computes row `row` of the result. Returns the largest magnitude, as the bits of a float.
  std::uint32_t run(std::int64_t row) const {
    std::uint32_t largest = 0;
    const std::int64_t step = args_.pairs == Pairs::of_columns ? chunk / 2 : chunk;
    for (std::int64_t col = 0; col < args_.result_cols(); col += step) {
      const Span span = {row, col, std::min(step, args_.result_cols() - col)};
      E u[chunk];
      if (is_simple_) {
        activate_sums(span, u);
        if (stores_at_once_) continue;
      } else {
        activate(span, u);
      }
      largest = std::max(largest, finish(span, u));
    }
    return largest;
  }

 private:
  static constexpr ElementType type_of_sums =
      std::is_same_v<E, double> ? ElementType::f64 : ElementType::f32;

  /// Steps 1 to 6 of a simple epilogue in one loop (two with aux), or all steps if results are
  /// stored directly.
  void activate_sums(const Span& span, E* u) const {
    if constexpr (std::is_same_v<Sum, E>) {
      E memory[chunk];
      cpu::ActivationSpan<E> loop = {.from = sums_ + span.row * ld_ + span.col,
                                     .bias = elements_of(args_.col_bias, span, memory),
                                     .to = u,
                                     .count = span.count,
                                     .factor = factor_};
      if (args_.aux.data != nullptr) {
        cpu::activate(Activation::none, loop);
        store(args_.aux, span, u);
        loop = {.from = u, .to = u, .count = span.count};
      }
      if (stores_at_once_) {
        loop.to = static_cast<E*>(args_.c.data) + args_.c.at(span.row, span.col);
        loop.result_factor = result_factor_;
      }
      cpu::activate(args_.activation, loop);
    }
  }

  /// Steps 1 to 6.
  void activate(const Span& span, E* u) const {
    E value[chunk];
    if (args_.pairs == Pairs::of_columns) {
      E both[chunk];
      before_activation({span.row, 2 * span.col, 2 * span.count}, both);
      for (std::int64_t i = 0; i < span.count; ++i) {
        u[i] = both[2 * i];
        value[i] = both[2 * i + 1];
      }
    } else {
      const int lines = args_.pairs == Pairs::of_rows ? 2 : 1;
      for (int line = 0; line < lines; ++line) {
        before_activation({lines * span.row + line, span.col, span.count}, line == 0 ? u : value);
      }
    }
    cpu::activate(args_.activation, {.from = u, .to = u, .count = span.count});
    if (args_.pairs == Pairs::none) return;
    for (std::int64_t i = 0; i < span.count; ++i) u[i] *= value[i];
  }

  /// Steps 1 to 5.
  void before_activation(const Span& span, E* t) const {
    if (sums_ == nullptr) {
      std::fill_n(t, span.count, E{});
    } else {
      const Sum* const from = sums_ + span.row * ld_ + span.col;
      for (std::int64_t i = 0; i < span.count; ++i) t[i] = factor_ * static_cast<E>(from[i]);
    }
    multiply_by(args_.row_scale, span, t);
    multiply_by(args_.col_scale, span, t);
    if (args_.beta != 0) add(args_.c, span, static_cast<E>(args_.beta), t);
    add(args_.row_bias, span, E{1}, t);
    add(args_.col_bias, span, E{1}, t);
    if (args_.aux.data != nullptr) store(args_.aux, span, t);
  }

  /// Steps 7 to 9.
  std::uint32_t finish(const Span& span, E* v) const {
    add(args_.residual, span, E{1}, v);
    std::uint32_t largest = 0;
    if (args_.amax != nullptr) {
      for (std::int64_t i = 0; i < span.count; ++i) {
        // The bits of magnitudes, as integers, have the order of the numbers, and NaN is the
        // largest.
        const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(v[i])) & 0x7FFFFFFFu;
        largest = std::max(largest, bits);
      }
    }
    if (result_factor_ != 1) {
      for (std::int64_t i = 0; i < span.count; ++i) v[i] *= result_factor_;
    }
    store(args_.c, span, v);
    return largest;
  }

  const EpilogueArgs& args_;
  const Sum* sums_;
  std::int64_t ld_;
  bool is_simple_;       // only alpha, a column bias, aux and an activation (before a residual)
  bool stores_at_once_;  // in addition, no residual and no amax, and C has type E
  E factor_, result_factor_;
};

template <class Sum, class E>
void apply_to(const EpilogueArgs& args, const void* sums, std::int64_t ld, int threads) {
  const Rows<Sum, E> rows(args, static_cast<const Sum*>(sums), ld);
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

/// The number of rows in a panel of sums, even because rows may be paired: 8 MB of floats, which is
/// more than a core's L2 and less than a socket's L3, so that threads have enough to share.
std::int64_t panel_rows(const EpilogueArgs& args) {
  constexpr std::int64_t panel_elements = 1 << 21;
  constexpr std::int64_t least = 64;
  return std::min(args.m, round_up(std::max(panel_elements / args.n, least), 2));
}

/// True if the sums can be stored in C before the epilogue is applied: C has their type, and each
/// result depends on no other element of C.
bool can_hold_sums(const EpilogueArgs& args, Dtype product) {
  const ElementType type = product == Dtype::f64 ? ElementType::f64
                           : is_integer(product) ? ElementType::i32
                                                 : ElementType::f32;
  return args.c.type == type && args.c.col_stride == 1 && args.beta == 0 &&
         args.pairs == Pairs::none && args.residual.data != args.c.data;
}

}  // namespace

void cpu::apply(const EpilogueArgs& epilogue, Dtype product, const void* sums, std::int64_t ld,
                int threads) {
  // For so small a loop, starting other threads takes longer than the loop.
  constexpr std::int64_t elements_alone = 1 << 14;
  const int shared = epilogue.m * epilogue.n < elements_alone ? 1
                     : threads == 0                           ? cpu::default_threads()
                                                              : threads;
  if (product == Dtype::f64) return apply_to<double, double>(epilogue, sums, ld, shared);
  if (is_integer(product)) return apply_to<std::int32_t, float>(epilogue, sums, ld, shared);
  apply_to<float, float>(epilogue, sums, ld, shared);
}

std::size_t cpu::bytes_of_sums(const EpilogueCall& call) {
  const EpilogueArgs& args = call.epilogue;
  const GemmCall& product = call.product.call;
  if (!call.product.multiplies || can_hold_sums(args, product.dtype)) return 0;
  const auto bytes = static_cast<std::int64_t>(output_bytes(product.dtype));
  const std::int64_t rows = panel_rows(args);
  if (check::overflows(rows, args.n, bytes)) throw std::bad_alloc();
  return static_cast<std::size_t>(rows * args.n * bytes);
}

void cpu::gemm_epilogue(const EpilogueCall& call, const GemmOptions& options) {
  const auto environment = environment_of(options.compute_mode);
  const std::size_t bytes = bytes_of_sums(call);
  const auto memory = std::make_unique_for_overwrite<std::byte[]>(bytes);
  gemm_epilogue(call, options, memory.get());
}

void cpu::gemm_epilogue(const EpilogueCall& call, const GemmOptions& options, std::byte* memory) {
  const EpilogueArgs& args = call.epilogue;
  const GemmCall& product = call.product.call;
  check::has_mode(product.dtype, options.compute_mode);
  if (args.m == 0 || args.n == 0) return;
  if (!call.product.multiplies) return apply(args, product.dtype, nullptr, 0, options.threads);
  const std::int64_t rows = panel_rows(args);
  const bool in_c = can_hold_sums(args, product.dtype);
  const auto panel = [&](std::int64_t row, std::int64_t count) {
    CanonicalCall part = call.product;
    part.call = rows_of(product, row, count, in_c ? rows_of(args, row, count).c.data : memory);
    if (in_c) part.call.c.row_stride = args.c.row_stride;
    return part;
  };
  const Products products(panel(0, rows), options);
  for (std::int64_t row = 0; row < args.m; row += rows) {
    const std::int64_t count = std::min(rows, args.m - row);
    const CanonicalCall part = panel(row, count);
    products.run(part);
    apply(rows_of(args, row, count), product.dtype, part.call.c.data, part.call.c.row_stride,
          options.threads);
  }
}

void gemm_epilogue(double alpha, const InputMatrix& a, const InputMatrix& b, double beta,
                   const OutputMatrix& c, const Epilogue& epilogue, const GemmOptions& options) {
  check::threads("gemm_epilogue", options.threads);
  check::compute_mode("gemm_epilogue", options.compute_mode);
  cpu::gemm_epilogue(canonical(alpha, a, b, beta, c, epilogue), options);
}

}  // namespace rung
