#pragma once
// Calls of cuBLAS, by Rung's kernels.

#include <cstdint>

#include "library/cublas/api.hpp"
#include "library/cublas/handle.hpp"
#include "rung/rung.h"

namespace rung::cublas {

/// What one of Rung's calls answers to cuBLAS's caller; `unanswered` for what it has no kernel for, or
/// finds wrong: the real cuBLAS has a say then.
inline constexpr int unanswered = -1;
int answer(rung_status status);

/// A matrix of a product: with the distance to the next one of a batch in elements.
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
  Operand c;  // written
  int compute;
  std::int64_t batch = 1;
  rung_order order = RUNG_COL_MAJOR;  // of the three matrices
};

/// cublasGemmEx and its like: `unanswered`, or a status.
int multiply(Handle handle, const Product& product);

/// The same with what a handle says.
int multiply(const State& state, const Product& product);

}  // namespace rung::cublas
