#include "backends/backend.hpp"

#include <map>

#include "backends/cpu/cpu.hpp"
#include "backends/cuda/cuda.hpp"

namespace rung {
void run(const Backend& backend, const RungInfo& rung, const GemmCall& call, int threads) {
  backend.bind(rung, call, threads).call();
}

double run(const Backend& backend, const RungInfo& rung, const DotCall& call, int threads) {
  return visit(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    Out sum{};
    backend.bind(rung, call, threads, &sum).call();
    return static_cast<double>(sum);
  });
}

std::unique_ptr<Backend> make_backend(std::string_view device, const DeviceOptions& options) {
  if (device == "cpu") return make_cpu_backend();
  if (device == "gpu") return make_gpu_backend(options);
  if (device == "virtual") return make_virtual_backend(options);
  return nullptr;
}

const Backend* find_backend(std::string_view device) {
  static const auto backends = [] {
    std::map<std::string_view, std::unique_ptr<Backend>> made;
    for (const std::string_view name : device_names) made.emplace(name, make_backend(name, {}));
    return made;
  }();
  const auto found = backends.find(device);
  return found == backends.end() ? nullptr : found->second.get();
}

bool is_for(const RungInfo& rung, std::string_view device) {
  return (rung.backend == "cpu") == (device == "cpu");
}

}  // namespace rung
