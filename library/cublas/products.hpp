#pragma once
// Computes calls of cuBLAS with Rung's kernels.

#include <cstdint>

#include "library/cublas/api.hpp"
#include "library/cublas/handle.hpp"
#include "rung/rung.h"

namespace rung::cublas {

/// The cuBLAS status for a status of Rung. Returns `unanswered` if Rung has no kernel, or rejects
/// the arguments: the real cuBLAS then decides.
inline constexpr int unanswered = -1;
int answer(rung_status status);

/// A matrix of a product, with its distance in elements to the next one of a batch.
struct Operand {
  const void* data;
  int type;
  std::int64_t ld;
  std::int64_t stride = 0;
};

struct Product {
  int op_a, op_b;
  std::int64_t m, n, k;
  const void* alpha;
  Operand a, b;
  const void* beta;
  Operand c;  // output
  int compute;
  std::int64_t batch = 1;
  rung_order order = RUNG_COL_MAJOR;  // of all three matrices
};

/// Computes cublasGemmEx and similar functions. Returns `unanswered` or a cuBLAS status.
int multiply(Handle handle, const Product& product);

/// Computes a product with the given state of a handle.
int multiply(const State& state, const Product& product);

}  // namespace rung::cublas
