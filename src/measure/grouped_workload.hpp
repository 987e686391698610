#pragma once
// Ragged groups with their operands, on which contenders are verified and timed.

#include <memory>

#include "measure/workload.hpp"

namespace rung {

/// options.groups products of n x k matrices with parts of the rows of A, size.m in all: as many for
/// each, or with options.zipf in proportion to 1, 1/2, 1/3 … in a random order. Throws
/// std::bad_alloc and whatever Operand throws.
std::unique_ptr<Workload> make_grouped_workload(const Size& size, const WorkloadOptions& options,
                                                const Backend& backend);

}  // namespace rung
