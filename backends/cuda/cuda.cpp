#include "backends/cuda/cuda.hpp"

#include <fmt/format.h>

#include <mutex>
#include <stdexcept>
#include <utility>

#include "backends/cuda/dot_call.hpp"
#include "backends/cuda/gemm_call.hpp"
#include "backends/cuda/graph.hpp"
#include "backends/cuda/virtual_gpu.hpp"
#include "backends/rungs/cuda.hpp"
#include "core/cuda_driver/error.hpp"
#include "core/cuda_driver/real_driver.hpp"
#include "core/kernel_error.hpp"
#include "select/cuda/tuned.hpp"
#include "vgpu/model/device.hpp"

namespace rung {
namespace {

using cuda::Gpu;
using cuda::Image;

std::optional<cuda::Code> read_code(const std::string& code) {
  if (code.empty()) return std::nullopt;
  return cuda::parse_code(code);
}

/// The part common to the real and the virtual device. The Gpu is created at its first use.
class CudaBackend : public Backend {
 public:
  Gpu& gpu() const { return *found().gpu; }
  bool is_here() const { return !found().why_not; }

  std::optional<std::string> absent() const override { return found().why_not; }

  std::optional<std::string> why_not(const RungInfo& rung, Dtype dtype) const override {
    if (!is_known(rung.id)) return "a " + rung.backend + " rung";
    if (!has(rung.id, dtype)) return no_dtype(dtype);
    if (const auto& why_not = found().why_not) return why_not;
    if (select_image(rung.id, gpu().target()) != nullptr) return std::nullopt;
    return no_image(rung.id);
  }

  std::optional<std::string> why_not(const RungInfo& rung, const GemmCall& call) const override {
    if (const auto reason = why_not(rung, call.dtype)) return reason;
    if (rung.op != "gemm") return "not a gemm rung";
    const bool computes_batches = cuda::find_gemm_rung(rung.id)->batches;
    if (const auto reason = why_not_kind(rung, call, computes_batches)) return reason;
    return cuda::why_not_grid(configured(rung.id, call), call);
  }

  std::optional<std::string> why_not(const RungInfo& rung, const DotCall& call) const override {
    if (const auto reason = why_not(rung, call.dtype)) return reason;
    const std::string_view op = call.y == nullptr ? "sum" : "dot";
    if (rung.op != op) return fmt::format("not a {} rung", op);
    return cuda::why_not_grid(*cuda::find_dot_rung(rung.id)->rung, call, gpu().limits());
  }

  std::int64_t cache_bytes() const override {
    return gpu().attribute(cuda::DeviceAttribute::l2_cache_size);
  }

  BoundCall record(const BoundCall& batch, std::int64_t calls) const override {
    std::shared_ptr<cuda::RecordedCalls> recorded;
    try {
      recorded = std::make_shared<cuda::RecordedCalls>(gpu(), [&] { batch.enqueue(calls); });
    } catch (const cuda::DriverError& error) {
      throw KernelError(error.what());
    }
    // The graph's launches use the batch's operands, so the lambda keeps the batch alive.
    const auto enqueue = [recorded, batch](std::int64_t times) {
      for (std::int64_t i = 0; i < times; ++i) recorded->enqueue();
    };
    return {enqueue, [recorded] { recorded->wait(); }, [] {}};
  }

  std::string code(const RungInfo& rung) const override {
    const Image* image = is_here() ? select_image(rung.id, gpu().target()) : nullptr;
    return image == nullptr ? "" : describe(*image);
  }

  BoundCall bind(const RungInfo& rung, const GemmCall& call, int threads) const override {
    gpu().make_current();
    const auto bound =
        std::make_shared<cuda::GemmCallOnGpu>(gpu(), configured(rung.id, call), call, threads);
    return {[bound](std::int64_t calls) { bound->enqueue(calls); }, [bound] { bound->wait(); },
            [bound] { bound->download(); }};
  }

  BoundCall bind(const RungInfo& rung, const DotCall& call, int threads,
                 void* result) const override {
    gpu().make_current();
    const auto bound = std::make_shared<cuda::DotCallOnGpu>(gpu(), rung.id, call, threads, result);
    return {[bound](std::int64_t calls) { bound->enqueue(calls); }, [bound] { bound->wait(); },
            [bound] { bound->download(); }};
  }

 protected:
  struct Found {
    std::unique_ptr<Gpu> gpu;
    std::optional<std::string> why_not;
    cuda::TunedConfigs tuned = {};
  };

  /// Opens the device, once.
  virtual Found open() const = 0;

 private:
  const Found& found() const {
    std::call_once(opened_, [&] {
      found_ = open();
      if (found_.gpu) found_.tuned = cuda::TunedConfigs::of_device(found_.gpu->name());
    });
    return found_;
  }

  /// A rung with the configuration that is fastest on the device.
  cuda::ConfiguredGemm configured(std::string_view id, const GemmCall& call) const {
    cuda::ConfiguredGemm gemm = cuda::configured_gemm(id);
    gemm.config = found().tuned.best(*gemm.rung, id, call, gpu().limits());
    return gemm;
  }

  static bool is_known(std::string_view id) {
    return cuda::find_gemm_rung(id) != nullptr || cuda::find_dot_rung(id) != nullptr;
  }

  static bool has(std::string_view id, Dtype dtype) {
    if (const cuda::GemmRung* const gemm = cuda::find_gemm_rung(id)) return cuda::has(*gemm, dtype);
    return visit(dtype, [&]<class In, class Out>(Elements<In, Out>) {
      return cuda::find_dot_rung(id)->rung->launches.of<In, Out>() != nullptr;
    });
  }

  std::string no_image(std::string_view id) const {
    const cuda::Target& target = gpu().target();
    if (target.wanted) return fmt::format("no such code of it for sm_{}", target.arch);
    int least = 0;
    for (const Image& image : cuda::images()) {
      if (image.id == id && (least == 0 || image.arch < least)) least = image.arch;
    }
    if (least == 0) return "this program has no code of it; a build from source does";
    return fmt::format("needs sm_{}; this device is sm_{}", least, target.arch);
  }

  mutable std::once_flag opened_;
  mutable Found found_;
};

class GpuBackend final : public CudaBackend {
 public:
  explicit GpuBackend(const DeviceOptions& options)
      : code_(read_code(options.code)), ordinal_(options.ordinal) {}

  std::string_view name() const override { return "gpu"; }

  std::string device() const override {
    if (!is_here()) return "gpu";
    const cuda::Target& target = gpu().target();
    return fmt::format("gpu {} (sm_{}, driver for CUDA {}.{})", gpu().name(), target.arch,
                       target.driver_version / 1000, target.driver_version % 1000 / 10);
  }

 private:
  Found open() const override {
    const auto [api, why_not] = cuda::real_driver();
    if (api == nullptr) return {nullptr, why_not};
    try {
      return {std::make_unique<Gpu>(*api, code_, ordinal_), std::nullopt};
    } catch (const cuda::DriverError& error) {
      return {nullptr, error.what()};
    }
  }

  std::optional<cuda::Code> code_;
  int ordinal_;
};

class VirtualBackend final : public CudaBackend {
 public:
  VirtualBackend(const DeviceOptions& options, LaunchObserver observer)
      : description_(vgpu::parse_device(options.gpu.empty() ? "h200" : options.gpu)),
        code_(read_code(options.code)),
        observe_(options.observe),
        observer_(std::move(observer)) {}

  std::string_view name() const override { return "virtual"; }

  std::string device() const override {
    return fmt::format("virtual {} (sm_{}{}, {} multiprocessors, simulated by this CPU)",
                       description_.name, description_.compute_major, description_.compute_minor,
                       description_.multiprocessors);
  }

 private:
  Found open() const override {
    try {
      const cuda::DriverApi& api = cuda::open_virtual_driver(description_);
      return {std::make_unique<cuda::VirtualGpu>(api, code_, observe_, observer_), std::nullopt};
    } catch (const std::exception& error) {
      return {nullptr, error.what()};
    }
  }

  vgpu::DeviceDescription description_;
  std::optional<cuda::Code> code_;
  bool observe_;
  LaunchObserver observer_;
};

}  // namespace

void refuse_hazards(const vgpu::LaunchReport& report, const vgpu::Kernel& /*kernel*/) {
  if (report.hazards.empty()) return;
  const std::size_t others = report.hazards.size() - 1;
  throw KernelError(report.hazards.front().message +
                    (others == 0 ? "" : fmt::format(" (and {} more)", others)));
}

cuda::Gpu* gpu_of(const Backend& backend) {
  const auto* on_gpu = dynamic_cast<const CudaBackend*>(&backend);
  return on_gpu != nullptr && on_gpu->is_here() ? &on_gpu->gpu() : nullptr;
}

std::unique_ptr<Backend> make_virtual_backend(const DeviceOptions& options,
                                              LaunchObserver observer) {
  return std::make_unique<VirtualBackend>(options, std::move(observer));
}

std::unique_ptr<Backend> make_gpu_backend(const DeviceOptions& options) {
  return std::make_unique<GpuBackend>(options);
}

}  // namespace rung
