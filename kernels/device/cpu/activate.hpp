#pragma once
// Activations of contiguous elements, for this machine.

#include <cstdint>

#include "rung/epilogue_kinds.hpp"

namespace rung::cpu {

/// to[i] = result_factor * activation(factor * from[i] + bias[i]) for i < count. `to` may be `from`.
template <class T>
struct ActivationSpan {
  const T* from = nullptr;
  const T* bias = nullptr;  // null: 0
  T* to = nullptr;
  std::int64_t count = 0;
  T factor = 1, result_factor = 1;
};

/// gelu and silu of x have |error| <= 2^-20 |x| in float, and 2^-48 |x| in double.
void activate(Activation activation, const ActivationSpan<float>& span);
void activate(Activation activation, const ActivationSpan<double>& span);

}  // namespace rung::cpu
