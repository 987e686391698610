#pragma once
// Common to peers on a GPU: they use the same stream as the rungs.

#include <functional>
#include <memory>
#include <string>

#include "backends/bound_call.hpp"
#include "backends/cuda/operands.hpp"

namespace rung {

/// `launch` enqueues one call.
BoundCall batch_on_gpu(std::string name, std::shared_ptr<cuda::Operands> operands,
                       std::function<void()> launch);

}  // namespace rung
