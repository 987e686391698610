#pragma once
// The state of a handle: of the real cuBLAS if there is one, otherwise our own.

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

/// Empty if the handle is null or rejected by cuBLAS.
std::optional<State> state_of(Handle handle);

}  // namespace rung::cublas
