#pragma once
// What the libraries that run on a GPU have in common: their calls go into the queue of the rungs.

#include <functional>
#include <memory>
#include <string>

#include "backends/batch.hpp"
#include "backends/cuda/operands.hpp"

namespace rung {

/// `launch` puts one call into the device's queue.
Batch batch_on_gpu(std::string name, std::shared_ptr<cuda::Operands> operands,
                   std::function<void()> launch);

}  // namespace rung
