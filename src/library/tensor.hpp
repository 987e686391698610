#pragma once
// From rung_tensors, whose types are known at run time, to a canonical call.

#include <cstdint>

#include "library/block_scaled.hpp"
#include "library/canonical.hpp"
#include "library/canonical_grouped.hpp"
#include "library/mixed.hpp"
#include "rung/epilogue.hpp"
#include "rung/rung.h"

namespace rung {

/// C = alpha * A * B + beta * C, checked: types, device, extents, strides and pointers, but not
/// whether the device has a kernel for the types. Throws rung::Error (Status::invalid_argument).
CanonicalCall canonical(const rung_tensor* a, const rung_tensor* b, const rung_tensor* c,
                        double alpha, double beta);

/// Whether A or B is of bf16, and the other one of f32.
bool is_mixed(const rung_tensor* a, const rung_tensor* b);
/// The same for these.
MixedCall canonical_mixed(const rung_tensor* a, const rung_tensor* b, const rung_tensor* c,
                          double alpha, double beta);

/// The same for a batch: tensors of 3 dimensions; or, if `count` is not negative, of 2, whose data
/// are arrays of so many pointers.
CanonicalCall canonical_batch(const rung_tensor* a, const rung_tensor* b, const rung_tensor* c,
                              double alpha, double beta, std::int64_t count = -1);

/// The same for ragged groups: c has 3 dimensions if they cut k, else b has.
CanonicalGroups canonical_groups(const rung_tensor* a, const rung_tensor* b, const rung_tensor* c,
                                 const std::int32_t* offsets, double alpha, double beta);

/// The same for blocks with scales; b and b_scales have 3 dimensions if there are offsets.
BlockScaledCall canonical_block_scaled(const rung_tensor* a, const rung_tensor* a_scales,
                                       const rung_tensor* b, const rung_tensor* b_scales,
                                       const rung_tensor* c, const std::int32_t* offsets,
                                       double alpha, double beta);

/// A tensor of 2 dimensions, or of 1, on the device of `c`. `name` is for messages. They throw as above.
OutputMatrix matrix_of(const char* name, const rung_tensor* tensor, const rung_tensor* c);
InputVector vector_of(const char* name, const rung_tensor* tensor, const rung_tensor* c);

}  // namespace rung
