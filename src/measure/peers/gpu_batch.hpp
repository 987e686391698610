#pragma once
// Common to the libraries that run on a GPU: their calls use the rungs' queue.

#include <functional>
#include <memory>
#include <string>

#include "backends/batch.hpp"
#include "backends/cuda/operands.hpp"

namespace rung {

/// `launch` enqueues one call.
Batch batch_on_gpu(std::string name, std::shared_ptr<cuda::Operands> operands,
                   std::function<void()> launch);

}  // namespace rung
