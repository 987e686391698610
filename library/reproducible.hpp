#pragma once
// Mode reproducible on the CPU, bitwise identical to gemm/cuda/digits (docs/accuracy.md).

#include <cstddef>
#include <cstdint>

#include "core/problem.hpp"

namespace rung {

/// The memory for products of at most that size, in bytes. Throws std::bad_alloc if the size
/// overflows.
std::size_t reproducible_bytes(std::int64_t m, std::int64_t n, std::int64_t k);

/// Computes C = alpha A B + beta C. k and alpha must not be 0. `memory` has reproducible_bytes(m,
/// n, k) bytes with the alignment of operator new. The thread must have reserved its last resort
/// (device/cpu/workspace.hpp).
void reproducible_gemm(const Gemm<float>& g, int threads, std::byte* memory);

}  // namespace rung
