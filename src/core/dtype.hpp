#pragma once
// Element types: their names on the command line, and the C++ types behind them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "rung/types.hpp"

namespace rung {

/// Named after the inputs. bf16 and f16 inputs are summed and returned as f32.
enum class Dtype : std::uint8_t { f32, f64, i32, bf16, f16 };

inline constexpr std::array all_dtypes = {Dtype::f32, Dtype::f64, Dtype::i32, Dtype::bf16,
                                          Dtype::f16};

constexpr std::string_view name(Dtype dtype) {
  constexpr std::array<std::string_view, 5> names = {"f32", "f64", "i32", "bf16", "f16"};
  return names[static_cast<std::size_t>(dtype)];
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

/// Calls f with the Elements<In, Out> of a dtype: visit(dtype, [&]<class In, class
/// Out>(Elements<In, Out>) {…}).
template <class F>
decltype(auto) visit(Dtype dtype, F&& f) {
  switch (dtype) {
    case Dtype::f32: return std::forward<F>(f)(Elements<float, float>{});
    case Dtype::f64: return std::forward<F>(f)(Elements<double, double>{});
    case Dtype::i32: return std::forward<F>(f)(Elements<std::uint32_t, std::uint32_t>{});
    case Dtype::bf16: return std::forward<F>(f)(Elements<bfloat16, float>{});
    case Dtype::f16: return std::forward<F>(f)(Elements<float16, float>{});
  }
  __builtin_unreachable();
}

inline std::size_t input_bytes(Dtype dtype) {
  return visit(dtype, []<class In, class Out>(Elements<In, Out>) { return sizeof(In); });
}

inline std::size_t output_bytes(Dtype dtype) {
  return visit(dtype, []<class In, class Out>(Elements<In, Out>) { return sizeof(Out); });
}

}  // namespace rung
