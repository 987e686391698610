#include "backends/backend.hpp"

#include <map>
#include <utility>

#include "backends/cpu/cpu.hpp"
#include "backends/cuda/cuda.hpp"
#include "backends/metal/metal.hpp"
#include "core/dtype.hpp"

namespace rung {

std::string no_dtype(Dtype dtype) { return "no " + std::string(name(dtype)); }

void run(const Backend& backend, const RungInfo& rung, const GemmCall& call, int threads) {
  backend.bind(rung, call, threads).call();
}

double run(const Backend& backend, const RungInfo& rung, const DotCall& call, int threads) {
  return visit_dot(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    Out sum{};
    backend.bind(rung, call, threads, &sum).call();
    return static_cast<double>(sum);
  });
}

std::unique_ptr<Backend> make_backend(std::string_view device, const DeviceOptions& options,
                                      std::string_view language) {
  if (device == "cpu") return make_cpu_backend();
  const bool metal = language == "metal";
  if (device == "gpu" && metal) return make_metal_gpu_backend();
  if (device == "virtual" && metal) return make_metal_virtual_backend(options);
  if (device == "gpu") return make_gpu_backend(options);
  if (device == "virtual") return make_virtual_backend(options);
  return nullptr;
}

const Backend* find_backend(std::string_view device, std::string_view language) {
  using Name = std::pair<std::string_view, std::string_view>;
  static const auto backends = [] {
    std::map<Name, std::unique_ptr<Backend>> made;
    for (const std::string_view name : device_names) {
      for (const std::string_view of : {"cuda", "metal"}) {
        made.emplace(Name(name, of), make_backend(name, {}, of));
      }
    }
    return made;
  }();
  const auto found = backends.find(Name(device, language == "metal" ? "metal" : "cuda"));
  return found == backends.end() ? nullptr : found->second.get();
}

bool is_for(const RungInfo& rung, std::string_view device) {
  return (rung.backend == "cpu") == (device == "cpu");
}

}  // namespace rung
