#include "backends/cuda/virtual_gpu.hpp"

#include <fmt/format.h>

#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/cuda_driver/error.hpp"
#include "vgpu/driver/virtual_driver.hpp"
#include "vgpu/schedule.hpp"

namespace rung::cuda {
namespace {

struct SeenLaunch {
  vgpu::LaunchReport report;
  const vgpu::Kernel* kernel;
};

/// Records the launches of this thread during its lifetime, and those of threads without their own
/// Watch, which user code may have started. The virtual driver has only one observer.
class Watch {
 public:
  Watch() {
    const std::lock_guard lock(mutex);
    of_thread = this;
    all.push_back(this);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
    const std::lock_guard lock(mutex);
    of_thread = nullptr;
    std::erase(all, this);
  }

  static void see(const vgpu::LaunchReport& report, const vgpu::Kernel& kernel) {
    const std::lock_guard lock(mutex);
    Watch* const watch = of_thread != nullptr || all.empty() ? of_thread : all.back();
    if (watch != nullptr) watch->seen_.push_back({report, &kernel});
  }

  std::vector<SeenLaunch> seen() const {
    const std::lock_guard lock(mutex);
    return seen_;
  }

 private:
  static inline std::mutex mutex;
  static inline std::vector<Watch*> all;
  static inline thread_local Watch* of_thread = nullptr;

  std::vector<SeenLaunch> seen_;
};

void watch_launches() {
  static std::once_flag watching;
  std::call_once(watching, [] { vgpu::set_launch_observer(Watch::see); });
}

}  // namespace

VirtualGpu::VirtualGpu(const DriverApi& api, std::optional<Code> wanted, bool observe,
                       Observer observer)
    : Gpu(api, wanted), observe_(observe), observer_(std::move(observer)) {
  target_.takes_cubin = false;
  watch_launches();
}

void VirtualGpu::observe(const std::function<void()>& launches, int threads) {
  vgpu::LaunchDefaults defaults;
  defaults.observe = observe_;
  defaults.threads = static_cast<unsigned>(threads);
  vgpu::set_launch_defaults(defaults);

  const Watch watch;
  launches();
  vgpu::run_pending_operations();
  // Call the observer here instead of in the driver, so that it may throw and use the driver
  // itself.
  for (const SeenLaunch& seen : watch.seen()) {
    try {
      observer_(seen.report, *seen.kernel);
    } catch (...) {
      if (seen.report.fault) reset();
      throw;
    }
  }
}

Result VirtualGpu::start(Function function, const Launch& launch, void** arguments, int threads) {
  Result result = Result::success;
  observe([&] { result = Gpu::start(function, launch, arguments, threads); }, threads);
  return result;
}

const DriverApi& open_virtual_driver(const vgpu::DeviceDescription& description) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  static bool is_open = false;
  if (!is_open) vgpu::set_virtual_device(description);
  if (const vgpu::DeviceDescription& there = vgpu::virtual_device();
      there.name != description.name) {
    throw std::invalid_argument(
        fmt::format("the virtual GPU of this process is {}, not {}", there.name, description.name));
  }
  is_open = true;
  const DriverApi& api = vgpu::virtual_driver();
  check(api, api.cuInit(0), "cuInit");
  return api;
}

}  // namespace rung::cuda
