#pragma once
// A backend runs rungs on a device. Verification, bench and command line use only this interface.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backends/batch.hpp"
#include "core/call.hpp"
#include "core/compute_mode.hpp"
#include "core/kernel_error.hpp"
#include "core/rung.hpp"

namespace rung {

/// Backend::why_not() for a dtype that a rung supports on no device.
inline std::string no_dtype(Dtype dtype) { return "no " + std::string(name(dtype)); }

/// Backend::why_not() for a call that a rung supports on no device: of another compute mode, or of
/// a batch where it computes one product.
inline std::optional<std::string> why_not_kind(const RungInfo& rung, const GemmCall& call,
                                               bool computes_batches = false) {
  if (rung.compute_mode != call.compute_mode) {
    return "computes in mode " + std::string(name(rung.compute_mode)) + ", not in " +
           std::string(name(call.compute_mode));
  }
  if (call.batch == 1 || computes_batches) return std::nullopt;
  return "computes one product, not a batch of " + std::to_string(call.batch);
}

class Backend {
 public:
  virtual ~Backend() = default;

  /// "cpu", "gpu" or "virtual".
  virtual std::string_view name() const = 0;
  /// The name and a description: "cpu Intel Xeon (AVX-512)".
  virtual std::string device() const = 0;
  /// Why the device is not available, in a few words; empty if it is.
  virtual std::optional<std::string> absent() const { return std::nullopt; }

  /// Empty if the rung can run on this device with this dtype, otherwise the reason in a few words.
  virtual std::optional<std::string> why_not(const RungInfo& rung, Dtype dtype) const = 0;
  /// The same for one problem: for example, a rung may need unit strides.
  virtual std::optional<std::string> why_not(const RungInfo& rung, const GemmCall& call) const = 0;
  virtual std::optional<std::string> why_not(const RungInfo& rung, const DotCall& call) const = 0;

  /// The form in which the device loads the rung, if it is not part of this program: "PTX by clang
  /// 19.1.7", "machine code for sm_90 by nvcc 13.0.88".
  virtual std::string code(const RungInfo& /*rung*/) const { return ""; }

  /// The operands must outlive the batch. `threads` is the most to use on this machine.
  /// Preconditions: why_not() is empty; threads >= 1.
  virtual Batch bind(const RungInfo& rung, const GemmCall& call, int threads) const = 0;
  /// Each call writes its sum to *result: float for f32, bf16 and f16, double for f64,
  /// std::uint32_t for i32. On a device with its own memory, download() does.
  virtual Batch bind(const RungInfo& rung, const DotCall& call, int threads,
                     void* result) const = 0;

  /// Size of the last-level cache: larger operands come from device memory.
  virtual std::int64_t cache_bytes() const = 0;
  /// `calls` calls of a batch bound by this backend, recorded as a graph, which the device runs
  /// without the host. Each call of the graph runs all of them. An empty batch if the device has no
  /// graphs. Throws KernelError if the calls cannot be recorded.
  virtual Batch record(const Batch& /*batch*/, std::int64_t /*calls*/) const { return {}; }
};

/// One call from start to end. A dot product's sum is returned as double for every type; for i32,
/// the unsigned sum.
void run(const Backend& backend, const RungInfo& rung, const GemmCall& call, int threads);
double run(const Backend& backend, const RungInfo& rung, const DotCall& call, int threads);

/// Options for creating backends.
struct DeviceOptions {
  // The GPU model to simulate: see vgpu::parse_device(). Empty: an H200 for CUDA rungs, an M1 Pro
  // for Metal rungs.
  std::string gpu;
  std::string code;     // of the CUDA rungs: "clang", "nvcc" or "cubin"; empty: what fits best
  bool observe = true;  // the virtual GPU counts memory traffic and detects hazards
  int ordinal = 0;      // of the GPU, in the CUDA driver's numbering
};

inline constexpr std::array<std::string_view, 3> device_names = {"cpu", "gpu", "virtual"};

/// The backend with a device name, whether or not the device is available; null for an unknown
/// name. On "gpu" and "virtual", Metal rungs have a backend of their own: `language` is
/// RungInfo::backend. Throws std::invalid_argument for an invalid option, stating what is allowed.
std::unique_ptr<Backend> make_backend(std::string_view device, const DeviceOptions& options,
                                      std::string_view language = "cuda");

/// The same with default options, created once; null for an unknown name.
const Backend* find_backend(std::string_view device, std::string_view language = "cuda");

/// The devices that a rung runs on: "cpu", or "gpu" and "virtual".
bool is_for(const RungInfo& rung, std::string_view device);

}  // namespace rung
