#include "backends/backend.hpp"

#include "backends/cpu/cpu.hpp"

namespace rung {

void run(const Backend& backend, const RungInfo& rung, const GemmCall& call, int threads) {
  backend.bind(rung, call, threads)(1);
}

double run(const Backend& backend, const RungInfo& rung, const DotCall& call, int threads) {
  if (call.dtype == Dtype::f64) {
    double sum = 0;
    backend.bind(rung, call, threads, &sum)(1);
    return sum;
  }
  float sum = 0;
  backend.bind(rung, call, threads, &sum)(1);
  return sum;
}

const Backend* find_backend(std::string_view device) {
  return device == "cpu" ? &cpu_backend() : nullptr;
}

}  // namespace rung
