// Stands in for what only the complete program has: GPUs, the virtual GPU, pages and files of the user's.
// Throws ElsewhereError, so that the complete program continues. Where it is not built, a device says so
// instead, and commands go on without it.

#include "apps/rung/bench_extras.hpp"
#include "apps/rung/bench_gpu.hpp"
#include "apps/rung/bench_kernel_file.hpp"
#include "apps/rung/bench_random.hpp"
#include "apps/rung/devices.hpp"
#include "apps/rung/ladder/complete.hpp"
#include "backends/cuda/cuda.hpp"
#include "backends/metal/metal.hpp"
#include "tools/analysis/usual_dtype.hpp"
#include "tools/measure/contenders.hpp"
#include "tools/measure/epilogue_workload.hpp"
#include "tools/measure/grouped_workload.hpp"
#include "tools/measure/on_gpu.hpp"
#include "tools/measure/peers/open.hpp"
#include "tools/measure/verify_weights.hpp"

namespace rung {
namespace {

[[noreturn]] void continue_elsewhere(std::string what) { throw ElsewhereError(std::move(what)); }

class AbsentBackend final : public Backend {
 public:
  explicit AbsentBackend(std::string_view name) : name_(name) {}

  std::string_view name() const override { return name_; }
  std::string device() const override { return name_; }
  std::optional<std::string> absent() const override { return reason(); }
  std::optional<std::string> why_not(const RungInfo& rung, Dtype /*dtype*/) const override {
    if (rung.backend == "cpu") return "a cpu rung";
    return reason();
  }
  std::optional<std::string> why_not(const RungInfo& /*rung*/,
                                     const GemmCall& /*call*/) const override {
    return reason();
  }
  std::optional<std::string> why_not(const RungInfo& /*rung*/,
                                     const DotCall& /*call*/) const override {
    return reason();
  }
  BoundCall bind(const RungInfo& rung, const GemmCall& /*call*/, int /*threads*/) const override {
    continue_elsewhere(rung.id);
  }
  BoundCall bind(const RungInfo& rung, const DotCall& /*call*/, int /*threads*/,
                 void* /*result*/) const override {
    continue_elsewhere(rung.id);
  }
  std::int64_t cache_bytes() const override { return 0; }

 private:
  std::string reason() const {
    if (is_complete_built()) continue_elsewhere(name_);
    return not_built;
  }

  std::string name_;
};

}  // namespace

std::unique_ptr<Backend> make_gpu_backend(const DeviceOptions& /*options*/) {
  return std::make_unique<AbsentBackend>("gpu");
}
std::unique_ptr<Backend> make_virtual_backend(const DeviceOptions& /*options*/,
                                              LaunchObserver /*observer*/) {
  return std::make_unique<AbsentBackend>("virtual");
}
std::unique_ptr<Backend> make_metal_gpu_backend() { return std::make_unique<AbsentBackend>("gpu"); }
std::unique_ptr<Backend> make_metal_virtual_backend(const DeviceOptions& /*options*/,
                                                    LaunchObserver /*observer*/) {
  return std::make_unique<AbsentBackend>("virtual");
}
void refuse_hazards(const vgpu::LaunchReport& /*report*/, const vgpu::Kernel& /*kernel*/) {}
cuda::Gpu* gpu_of(const Backend& /*backend*/) { return nullptr; }

DeviceOptions read_device_options(const DeviceArguments& arguments) {
  if (!arguments.gpu.empty()) continue_elsewhere("--gpu");
  if (!arguments.code.empty()) continue_elsewhere("--code");
  return {{}, {}, arguments.observe};
}

std::unique_ptr<Contender> library_on_gpu(const Backend& /*backend*/, ComputeMode /*mode*/,
                                          bool /*is_mixed*/) {
  return nullptr;
}
std::string choice_on_gpu(const Backend& /*backend*/, const GemmCall& /*call*/) { return {}; }
std::string choice_on_gpu(const Backend& /*backend*/, const DotCall& /*call*/) { return {}; }
WorkloadCeiling gpu_multiply_add_ceiling(const Backend& /*backend*/, Dtype /*dtype*/) { return {}; }
WorkloadCeiling gpu_read_ceiling(const Backend& /*backend*/, std::int64_t /*bytes*/) { return {}; }
std::optional<GpuEnvironment> measure_gpu(const std::vector<const Backend*>& /*backends*/,
                                          std::FILE* /*out*/) {
  return std::nullopt;
}

Dtype analysis::usual_dtype(const RungInfo& rung) { continue_elsewhere(rung.id); }
bool takes_packed_weights(std::string_view /*id*/) { return false; }
void verify_packed_weights(std::string_view id, Dtype /*dtype*/, const Backend& /*backend*/,
                           int /*threads*/, const std::function<void(const Verdict&)>& /*judge*/) {
  continue_elsewhere(std::string(id));
}

std::unique_ptr<Peer> open_cublas(const Backend& /*backend*/, std::string& /*why_not*/) {
  continue_elsewhere("cublas");
}
std::unique_ptr<Peer> open_cublaslt(const Backend& /*backend*/, std::string& /*why_not*/) {
  continue_elsewhere("cublaslt");
}
std::unique_ptr<Peer> open_cub(const Backend& /*backend*/, std::string& /*why_not*/) {
  continue_elsewhere("cub");
}

// Before anything is opened or printed.
std::unique_ptr<BenchExtras> read_extras(const BenchArguments& arguments) {
  if (!arguments.html.empty()) continue_elsewhere("--html");
  if (!arguments.baseline.empty()) continue_elsewhere("--baseline");
  if (!arguments.groups.empty()) continue_elsewhere("--groups");
  if (!arguments.epilogue.empty()) continue_elsewhere("--epilogue");
  if (!arguments.scales.empty()) continue_elsewhere("--scales");
  if (!arguments.weights.empty()) continue_elsewhere("--weights");
  if (arguments.family == "mixed") continue_elsewhere("--family mixed");
  return nullptr;
}
ExitCode run_random(const BenchArguments& arguments) {
  continue_elsewhere(arguments.random.count.empty() ? "--regret" : "--random");
}
ExitCode run_kernel_file(const BenchArguments& given) {
  continue_elsewhere(given.selectors.front());
}

// Never called: read_extras() has seen their options.
std::unique_ptr<Workload> make_grouped_workload(const Size& /*size*/,
                                                const WorkloadOptions& /*options*/,
                                                const Backend& /*backend*/) {
  continue_elsewhere("--groups");
}
std::unique_ptr<Workload> make_epilogue_workload(const Size& /*size*/,
                                                 const WorkloadOptions& /*options*/,
                                                 const Backend& /*backend*/) {
  continue_elsewhere("--epilogue");
}
Bound LibraryContender::bind_groups(const GroupedCall& /*call*/, int /*threads*/) const {
  continue_elsewhere("--groups");
}
Bound LibraryContender::bind_scaled_groups(const GroupedCall& /*call*/,
                                           const GroupScales& /*scales*/, int /*threads*/) const {
  continue_elsewhere("--scales");
}
Bound LibraryContender::bind_epilogue(const CallWithEpilogue& /*call*/, int /*threads*/) const {
  continue_elsewhere("--epilogue");
}
Bound LibraryContender::bind_mixed(const GemmCall& /*call*/, int /*threads*/) const {
  continue_elsewhere("--family mixed");
}

}  // namespace rung
