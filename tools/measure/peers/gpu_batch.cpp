#include "tools/measure/peers/gpu_batch.hpp"

#include <utility>

namespace rung {

BoundCall batch_on_gpu(std::string name, std::shared_ptr<cuda::Operands> operands,
                       std::function<void()> launch) {
  const auto enqueue = [name, operands, launch = std::move(launch)](std::int64_t calls) {
    operands->gpu().make_current();
    operands->require_present(name);
    for (std::int64_t i = 0; i < calls; ++i) launch();
  };
  const auto wait = [name, operands] {
    operands->gpu().make_current();
    operands->gpu().wait(name);
  };
  return {enqueue, wait, [operands] { operands->download(); }};
}

}  // namespace rung
