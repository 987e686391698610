#pragma once
// A product with an epilogue and its operands, for verification and timing of contenders.

#include <memory>

#include "tools/measure/workload.hpp"

namespace rung {

/// Uses the epilogue in options.epilogue. Throws std::bad_alloc and exceptions of Operand.
std::unique_ptr<Workload> make_epilogue_workload(const Size& size, const WorkloadOptions& options,
                                                 const Backend& backend);

}  // namespace rung
