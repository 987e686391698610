#pragma once
// What a handle says about a call: of the real cuBLAS if there is one, otherwise of our own.

#include <cstddef>
#include <optional>

#include "library/cublas/api.hpp"

namespace rung::cublas {

struct State {
  void* stream = nullptr;
  int pointer_mode = host_pointers;
  int math_mode = 0;

  bool allows_tf32() const { return (math_mode & 0xF) == tf32_math; }
};

/// Empty for a handle that is null, or that cuBLAS refuses.
std::optional<State> state_of(Handle handle);

}  // namespace rung::cublas
