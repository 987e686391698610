#pragma once
// From rung_tensors, whose types are known at run time, to a canonical call.

#include "library/canonical.hpp"
#include "rung/rung.h"

namespace rung {

/// C = alpha * A * B + beta * C, checked: types, device, extents, strides and pointers, but not
/// whether the device has a kernel for the types. Throws rung::Error (Status::invalid_argument).
CanonicalCall canonical(const rung_tensor* a, const rung_tensor* b, const rung_tensor* c,
                        double alpha, double beta);

}  // namespace rung
