#pragma once
// Ragged groups and their operands, for verification and timing of contenders.

#include <memory>

#include "tools/measure/workload.hpp"

namespace rung {

/// options.groups products of parts of A's rows with n x k matrices. The parts have size.m rows in
/// total: equally distributed or, with options.zipf, in proportion to 1, 1/2, 1/3, … in random
/// order. Throws std::bad_alloc and exceptions of Operand.
std::unique_ptr<Workload> make_grouped_workload(const Size& size, const WorkloadOptions& options,
                                                const Backend& backend);

}  // namespace rung
