#pragma once
// Products with an epilogue: argument checks, canonical form, and the CPU implementation.

#include <cstddef>

#include "core/epilogue.hpp"
#include "library/canonical.hpp"
#include "rung/epilogue.hpp"

namespace rung {

struct EpilogueCall {
  /// The product alone: alpha is 1, beta is 0, and C has no data; its type is that of the sums.
  CanonicalCall product;
  EpilogueArgs epilogue;
};

/// Throws rung::Error (Status::invalid_argument).
EpilogueCall canonical(double alpha, const InputMatrix& a, const InputMatrix& b, double beta,
                       const OutputMatrix& c, const Epilogue& epilogue);

/// The product for rows [row, row + count), with sums stored contiguously at `sums`.
GemmCall rows_of(const GemmCall& product, std::int64_t row, std::int64_t count, void* sums);

namespace cpu {

/// Applies an epilogue to sums in host memory with leading dimension `ld`; null `sums` are zeros.
/// The sums may be in C if it has their type and need not be read. Throws nothing.
void apply(const EpilogueArgs& epilogue, Dtype product, const void* sums, std::int64_t ld,
           int threads);
/// The memory that gemm_epilogue() needs for sums. Throws std::bad_alloc if the size overflows.
std::size_t bytes_of_sums(const EpilogueCall& call);
/// Throws rung::Error (Status::unavailable) if no CPU rung supports the types, and std::bad_alloc.
void gemm_epilogue(const EpilogueCall& call, const GemmOptions& options);
/// Uses the given memory for sums, at least bytes_of_sums() bytes.
void gemm_epilogue(const EpilogueCall& call, const GemmOptions& options, std::byte* memory);

}  // namespace cpu
}  // namespace rung
