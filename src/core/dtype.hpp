#pragma once
// Element types: their names on the command line, and the C++ types behind them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "rung/types.hpp"

namespace rung {

/// Named after the inputs. Types narrower than f32 are accumulated and returned as f32, i8 as i32;
/// bf16_bf16 and f16_f16 are accumulated in f32 and rounded to the input type.
enum class Dtype : std::uint8_t {
  f32,
  f64,
  i32,
  bf16,
  f16,
  tf32,
  i8,
  e4m3,
  e5m2,
  bf16_bf16,
  f16_f16
};

inline constexpr std::array all_dtypes = {Dtype::f32,  Dtype::f64,       Dtype::i32,    Dtype::bf16,
                                          Dtype::f16,  Dtype::tf32,      Dtype::i8,     Dtype::e4m3,
                                          Dtype::e5m2, Dtype::bf16_bf16, Dtype::f16_f16};

constexpr std::string_view name(Dtype dtype) {
  constexpr std::array<std::string_view, all_dtypes.size()> names = {
      "f32", "f64", "i32", "bf16", "f16", "tf32", "i8", "e4m3", "e5m2", "bf16-bf16", "f16-f16"};
  return names[static_cast<std::size_t>(dtype)];
}

constexpr bool is_integer(Dtype dtype) { return dtype == Dtype::i32 || dtype == Dtype::i8; }

/// The dtype whose inputs have the type of this one's results.
constexpr Dtype output_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::f64: return Dtype::f64;
    case Dtype::i32:
    case Dtype::i8: return Dtype::i32;
    case Dtype::bf16_bf16: return Dtype::bf16;
    case Dtype::f16_f16: return Dtype::f16;
    default: return Dtype::f32;
  }
}

/// The dtype with the same inputs and accumulator, whose results are not rounded to 16 bits.
constexpr Dtype unrounded(Dtype dtype) {
  if (dtype == Dtype::bf16_bf16) return Dtype::bf16;
  if (dtype == Dtype::f16_f16) return Dtype::f16;
  return dtype;
}

/// The name as part of an identifier.
constexpr std::string_view identifier(Dtype dtype) {
  if (dtype == Dtype::bf16_bf16) return "bf16_bf16";
  if (dtype == Dtype::f16_f16) return "f16_f16";
  return name(dtype);
}

constexpr std::optional<Dtype> parse_dtype(std::string_view text) {
  for (const Dtype dtype : all_dtypes) {
    if (name(dtype) == text) return dtype;
  }
  return std::nullopt;
}

template <class InType, class OutType>
struct Elements {
  using In = InType;
  using Out = OutType;
};

/// Whether dot and sum support a dtype.
constexpr bool is_for_dot(Dtype dtype) { return dtype <= Dtype::f16; }

/// visit() for the dtypes of dot and sum.
template <class F>
decltype(auto) visit_dot(Dtype dtype, F&& f) {
  switch (dtype) {
    case Dtype::f32: return std::forward<F>(f)(Elements<float, float>{});
    case Dtype::f64: return std::forward<F>(f)(Elements<double, double>{});
    case Dtype::i32: return std::forward<F>(f)(Elements<std::uint32_t, std::uint32_t>{});
    case Dtype::bf16: return std::forward<F>(f)(Elements<bfloat16, float>{});
    case Dtype::f16: return std::forward<F>(f)(Elements<float16, float>{});
    default: __builtin_unreachable();
  }
}

/// Calls f with the Elements<In, Out> of a dtype, as in visit(dtype, [&]<class In, class
/// Out>(Elements<In, Out>) {…}).
template <class F>
decltype(auto) visit(Dtype dtype, F&& f) {
  switch (dtype) {
    case Dtype::tf32: return std::forward<F>(f)(Elements<tfloat32, float>{});
    case Dtype::i8: return std::forward<F>(f)(Elements<std::int8_t, std::uint32_t>{});
    case Dtype::e4m3: return std::forward<F>(f)(Elements<float8_e4m3, float>{});
    case Dtype::e5m2: return std::forward<F>(f)(Elements<float8_e5m2, float>{});
    case Dtype::bf16_bf16: return std::forward<F>(f)(Elements<bfloat16, bfloat16>{});
    case Dtype::f16_f16: return std::forward<F>(f)(Elements<float16, float16>{});
    default: return visit_dot(dtype, std::forward<F>(f));
  }
}

/// The dtype of an input and a result type. By default, Out is the widest result type for In.
template <class In, class Out = void>
constexpr Dtype dtype_of() {
  if constexpr (std::is_same_v<In, float>) return Dtype::f32;
  if constexpr (std::is_same_v<In, double>) return Dtype::f64;
  if constexpr (std::is_same_v<In, std::uint32_t>) return Dtype::i32;
  if constexpr (std::is_same_v<In, bfloat16>) {
    return std::is_same_v<Out, bfloat16> ? Dtype::bf16_bf16 : Dtype::bf16;
  }
  if constexpr (std::is_same_v<In, float16>) {
    return std::is_same_v<Out, float16> ? Dtype::f16_f16 : Dtype::f16;
  }
  if constexpr (std::is_same_v<In, tfloat32>) return Dtype::tf32;
  if constexpr (std::is_same_v<In, std::int8_t>) return Dtype::i8;
  if constexpr (std::is_same_v<In, float8_e4m3>) return Dtype::e4m3;
  if constexpr (std::is_same_v<In, float8_e5m2>) return Dtype::e5m2;
}

inline std::size_t input_bytes(Dtype dtype) {
  return visit(dtype, []<class In, class Out>(Elements<In, Out>) { return sizeof(In); });
}

inline std::size_t output_bytes(Dtype dtype) {
  return visit(dtype, []<class In, class Out>(Elements<In, Out>) { return sizeof(Out); });
}

}  // namespace rung
