#pragma once
// Compares the descriptor of a matrix with the TMA boxes that filled it.

#include "vgpu/engine/tensor_memory/tensor_operands.hpp"

namespace rung::vgpu {

/// Reports a descriptor by which elements are read from other positions of a box than the layout means:
/// neighbouring lines of a K-major matrix are rows of the box, and so are steps of k in an MN-major one.
void check_descriptor(const TensorIssue& issue, const TensorSource& source);

}  // namespace rung::vgpu
