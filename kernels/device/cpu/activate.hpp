#pragma once
// Activations of contiguous elements on the CPU.

#include <cstdint>

#include "rung/epilogue_kinds.hpp"

namespace rung::cpu {

/// Operands of to[i] = result_factor * activation(factor * from[i] + bias[i]) for i < count. `to`
/// may equal `from`.
template <class T>
struct ActivationSpan {
  const T* from = nullptr;
  const T* bias = nullptr;  // null: zeros
  T* to = nullptr;
  std::int64_t count = 0;
  T factor = 1, result_factor = 1;
};

/// Applies an activation. gelu and silu of x have |error| <= 2^-20 |x| in float and 2^-48 |x| in
/// double.
void activate(Activation activation, const ActivationSpan<float>& span);
void activate(Activation activation, const ActivationSpan<double>& span);

}  // namespace rung::cpu
