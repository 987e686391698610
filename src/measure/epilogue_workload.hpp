#pragma once
// A product with an epilogue and their operands, on which contenders are verified and timed.

#include <memory>

#include "measure/workload.hpp"

namespace rung {

/// The parts of options.epilogue. Throws std::bad_alloc and whatever Operand throws.
std::unique_ptr<Workload> make_epilogue_workload(const Size& size, const WorkloadOptions& options,
                                                 const Backend& backend);

}  // namespace rung
