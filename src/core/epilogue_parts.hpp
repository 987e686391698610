#pragma once
// Which parts of an epilogue, or scales, the bench measures.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/call.hpp"
#include "rung/epilogue_kinds.hpp"
#include "rung/weight_only.hpp"

namespace rung {

/// A bias of columns, the values before the activation as an output, and a matrix that is added behind
/// the activation. All have the type of C.
struct EpilogueParts {
  bool bias = false, aux = false, residual = false;
  Activation activation = Activation::none;

  bool operator==(const EpilogueParts&) const = default;
};

/// Their names, in the order of the operations.
struct NamedActivation {
  std::string_view name;
  Activation activation;
};
inline constexpr std::array named_activations = {
    NamedActivation{"relu", Activation::relu}, NamedActivation{"gelu", Activation::gelu_tanh},
    NamedActivation{"gelu-erf", Activation::gelu_erf}, NamedActivation{"silu", Activation::silu}};

/// As in --epilogue: "bias,gelu,aux". Empty without parts.
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

/// Adds the part of that name. False if there is none, or if it excludes one before it.
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

/// A product with these parts. `bias` has n elements; aux and residual have C's shape and strides.
/// What is not a part has no data.
struct CallWithEpilogue {
  GemmCall call;
  EpilogueParts parts;
  AnyMatrix<const void*> bias = {};
  AnyMatrix<void*> aux = {};
  AnyMatrix<const void*> residual = {};
  /// Instead of parts, float scales of e4m3: of A, m x k / 128, and of B, k / 128 x n / 128, both rounded
  /// up, as rung::gemm_block_scaled() has them.
  AnyMatrix<const void*> a_scales = {}, b_scales = {};
  /// Instead of B, packed weights, whose memory is `packed`.
  AnyMatrix<const void*> packed = {};
  PackedWeights weights = {};
};

}  // namespace rung
