#pragma once
// Mode reproducible on the CPU, bit for bit as gemm/cuda/33 computes it (docs/accuracy.md).

#include "core/problem.hpp"

namespace rung {

/// C = alpha A B + beta C. k and alpha are not 0. Throws std::bad_alloc.
void reproducible_gemm(const Gemm<float>& g, int threads);

}  // namespace rung
