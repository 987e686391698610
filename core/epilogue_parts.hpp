#pragma once
// Selects the parts of an epilogue, or the scales, that the bench measures.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/call.hpp"
#include "rung/epilogue_kinds.hpp"
#include "rung/packed_weights.hpp"

namespace rung {

/// A column bias, the values before the activation as an output (aux), and a residual matrix that
/// is added after the activation. All have the type of C.
struct EpilogueParts {
  bool bias = false, aux = false, residual = false;
  Activation activation = Activation::none;

  bool operator==(const EpilogueParts&) const = default;
};

/// Names of activations on the command line.
struct NamedActivation {
  std::string_view name;
  Activation activation;
};
inline constexpr std::array named_activations = {
    NamedActivation{"relu", Activation::relu}, NamedActivation{"gelu", Activation::gelu_tanh},
    NamedActivation{"gelu-erf", Activation::gelu_erf}, NamedActivation{"silu", Activation::silu}};

/// The parts as in --epilogue: "bias,gelu,aux". Empty without parts.
inline std::string name(const EpilogueParts& parts) {
  std::string text;
  const auto add = [&](bool has, std::string_view part) {
    if (has) text += (text.empty() ? "" : ",") + std::string(part);
  };
  add(parts.bias, "bias");
  for (const auto& [activation, value] : named_activations) {
    add(parts.activation == value, activation);
  }
  add(parts.aux, "aux");
  add(parts.residual, "residual");
  return text;
}

/// Adds the part with that name. Returns false if there is no such part, or if it conflicts with an
/// earlier one.
inline bool add_part(EpilogueParts& parts, std::string_view part) {
  const auto set = [](bool& has) { return !has && (has = true); };
  if (part == "bias") return set(parts.bias);
  if (part == "aux") return set(parts.aux);
  if (part == "residual") return set(parts.residual);
  for (const auto& [activation, value] : named_activations) {
    if (part != activation || parts.activation != Activation::none) continue;
    parts.activation = value;
    return true;
  }
  return false;
}

/// A product with an epilogue. `bias` has n elements; aux and residual have C's shape and strides.
/// Operands that are not used have no data.
struct CallWithEpilogue {
  GemmCall call;
  EpilogueParts parts;
  AnyMatrix<const void*> bias = {};
  AnyMatrix<void*> aux = {};
  AnyMatrix<const void*> residual = {};
  /// Instead of epilogue parts: float scales of e4m3 operands, m x ceil(k / 128) for A and ceil(k /
  /// 128) x ceil(n / 128) for B, as in rung::gemm_block_scaled().
  AnyMatrix<const void*> a_scales = {}, b_scales = {};
  /// Instead of B: packed weights, stored in `packed`.
  AnyMatrix<const void*> packed = {};
  PackedWeights weights = {};
};

}  // namespace rung
