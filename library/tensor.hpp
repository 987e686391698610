#pragma once
// Converts rung_tensors, whose types are known at run time, to a canonical call.

#include <cstdint>

#include "library/block_scaled.hpp"
#include "library/canonical.hpp"
#include "library/canonical_grouped.hpp"
#include "library/mixed.hpp"
#include "rung/epilogue.hpp"
#include "rung/rung.h"

namespace rung {

/// Checks and converts C = alpha * A * B + beta * C: types, device, extents, strides and pointers,
/// but not whether the device has a kernel for the types. Throws rung::Error
/// (Status::invalid_argument).
CanonicalCall canonical(const rung_tensor* a, const rung_tensor* b, const rung_tensor* c,
                        double alpha, double beta);

/// True if one of A and B is bf16 and the other f32.
bool is_mixed(const rung_tensor* a, const rung_tensor* b);
/// Checks and converts a product for which is_mixed() holds.
MixedCall canonical_mixed(const rung_tensor* a, const rung_tensor* b, const rung_tensor* c,
                          double alpha, double beta);

/// Checks and converts a batch: tensors of 3 dimensions or, if `count` is not negative, of 2, whose
/// data are arrays of `count` pointers.
CanonicalCall canonical_batch(const rung_tensor* a, const rung_tensor* b, const rung_tensor* c,
                              double alpha, double beta, std::int64_t count = -1);

/// Checks and converts grouped products: c has 3 dimensions if offsets group k, otherwise b does.
CanonicalGroups canonical_groups(const rung_tensor* a, const rung_tensor* b, const rung_tensor* c,
                                 const std::int32_t* offsets, double alpha, double beta);

/// Checks and converts a product with block scales; with offsets, b and b_scales have 3 dimensions.
BlockScaledCall canonical_block_scaled(const rung_tensor* a, const rung_tensor* a_scales,
                                       const rung_tensor* b, const rung_tensor* b_scales,
                                       const rung_tensor* c, const std::int32_t* offsets,
                                       double alpha, double beta);

/// The view of a tensor of 2 dimensions, or of 1, on the device of `c`. `name` is for messages.
/// Throw like canonical().
OutputMatrix matrix_of(const char* name, const rung_tensor* tensor, const rung_tensor* c);
InputVector vector_of(const char* name, const rung_tensor* tensor, const rung_tensor* c);

}  // namespace rung
