#pragma once
// Kernels that are wrong on purpose, each with one bug that is common in this field.

#include <span>
#include <string_view>

#include "core/call.hpp"

namespace rung {

struct GemmMutant {
  std::string_view bug;
  void (*run)(const Gemm<float>&);
};

struct DotMutant {
  std::string_view bug;
  float (*run)(const Dot<float>&);
};

/// The first of each list is correct: verification must accept it.
std::span<const GemmMutant> gemm_mutants();
std::span<const DotMutant> dot_mutants();

/// Correct as long as every offset into A fits into 32 bits.
void gemm_with_32_bit_offsets(const Gemm<bfloat16, float>& g);

}  // namespace rung
