#pragma once
// Products with an epilogue: their checks, their canonical form, and the CPU's way to compute them.

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

/// The product of `count` rows from `row` on, with sums at `sums`, whose rows follow each other.
GemmCall rows_of(const GemmCall& product, std::int64_t row, std::int64_t count, void* sums);

namespace cpu {

/// What becomes of the sums, in host memory with `ld` from row to row, or null if all are 0. They may be
/// in C, if it has their type and is not read. Throws nothing.
void apply(const EpilogueArgs& epilogue, Dtype product, const void* sums, std::int64_t ld,
           int threads);
/// Throws rung::Error (Status::unavailable) if no CPU rung has the types, and std::bad_alloc.
void gemm_epilogue(const EpilogueCall& call, const GemmOptions& options);

}  // namespace cpu
}  // namespace rung
