#include "backends/metal/metal.hpp"

#include <fmt/format.h>

#include <utility>

#include "backends/metal/apple/apple_gpu.hpp"
#include "backends/metal/dot_call.hpp"
#include "backends/metal/gemm_call.hpp"
#include "backends/metal/virtual_device.hpp"
#include "backends/rungs/metal.hpp"

namespace rung {
namespace {

class MetalBackend final : public Backend {
 public:
  /// `absent` is the reason if `device` is null.
  MetalBackend(std::string_view name, std::unique_ptr<metal::Device> device, std::string absent)
      : name_(name), device_(std::move(device)), absent_(std::move(absent)) {}

  std::string_view name() const override { return name_; }

  std::string device() const override {
    return device_ == nullptr ? std::string(name_)
                              : fmt::format("{} {}", name_, device_->describe());
  }

  std::optional<std::string> absent() const override {
    return device_ == nullptr ? std::optional(absent_) : std::nullopt;
  }

  std::optional<std::string> why_not(const RungInfo& rung, Dtype dtype) const override {
    const auto* gemm = find_rung(metal::gemm_rungs, rung.id);
    const auto* dot = find_rung(metal::dot_rungs, rung.id);
    if (gemm == nullptr && dot == nullptr) return "a " + rung.backend + " rung";
    const metal::Types types = gemm != nullptr ? gemm->types : metal::Types();
    if (!metal::has(types, dtype)) return no_dtype(dtype);
    if (device_ == nullptr) return absent_;
    if (device_->code(rung.id).empty()) return "not compiled: clang 17 or later was not found";
    return std::nullopt;
  }

  std::optional<std::string> why_not(const RungInfo& rung, const GemmCall& call) const override {
    if (const auto reason = why_not(rung, call.dtype)) return reason;
    if (const auto reason = why_not_kind(rung, call)) return reason;
    const metal::GemmRung& gemm = *find_rung(metal::gemm_rungs, rung.id);
    const int multiple = gemm.multiple;
    if (call.m % multiple != 0 || call.n % multiple != 0 || call.k % multiple != 0) {
      return fmt::format("m, n and k must be multiples of {}; they are {}, {} and {}", multiple,
                         call.m, call.n, call.k);
    }
    return device_->why_not(gemm.launch(call.m, call.n));
  }

  std::optional<std::string> why_not(const RungInfo& rung, const DotCall& call) const override {
    if (const auto reason = why_not(rung, call.dtype)) return reason;
    return device_->why_not(find_rung(metal::dot_rungs, rung.id)->launch(call.n));
  }

  std::string code(const RungInfo& rung) const override {
    return device_ == nullptr ? "" : device_->code(rung.id);
  }

  BoundCall bind(const RungInfo& rung, const GemmCall& call, int threads) const override {
    return batch(std::make_shared<metal::GemmCallOnDevice>(
        *device_, rung.id, *find_rung(metal::gemm_rungs, rung.id), call, threads));
  }

  BoundCall bind(const RungInfo& rung, const DotCall& call, int threads,
                 void* result) const override {
    return batch(std::make_shared<metal::DotCallOnDevice>(
        *device_, rung.id, *find_rung(metal::dot_rungs, rung.id), call, threads, result));
  }

  std::int64_t cache_bytes() const override { return device_->cache_bytes(); }

  metal::Device* metal_device() const { return device_.get(); }

 private:
  template <class Call>
  static BoundCall batch(std::shared_ptr<Call> bound) {
    return {[bound](std::int64_t calls) { bound->enqueue(calls); }, [bound] { bound->wait(); },
            [bound] { bound->download(); }, [bound] { return bound->device_seconds(); }};
  }

  std::string_view name_;
  std::unique_ptr<metal::Device> device_;
  std::string absent_;
};

}  // namespace

metal::VirtualDevice* metal_virtual_device_of(const Backend& backend) {
  const auto* metal = dynamic_cast<const MetalBackend*>(&backend);
  return metal == nullptr ? nullptr : dynamic_cast<metal::VirtualDevice*>(metal->metal_device());
}

std::unique_ptr<Backend> make_metal_gpu_backend() {
  metal::AppleGpu gpu = metal::open_apple_gpu();
  return std::make_unique<MetalBackend>("gpu", std::move(gpu.device), std::move(gpu.why_not));
}

std::unique_ptr<Backend> make_metal_virtual_backend(const DeviceOptions& options,
                                                    LaunchObserver observer) {
  if (!options.code.empty() && options.code != "clang") {
    return std::make_unique<MetalBackend>("virtual", nullptr, "clang alone compiles Metal here");
  }
  const std::string gpu = options.gpu.empty() ? "m1pro" : options.gpu;
  return std::make_unique<MetalBackend>(
      "virtual",
      std::make_unique<metal::VirtualDevice>(vgpu::parse_device(gpu), options.observe,
                                             std::move(observer)),
      "");
}

}  // namespace rung
