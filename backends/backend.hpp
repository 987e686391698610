#pragma once
// The interface to devices that run rungs. Verification, bench and command line use only this
// interface.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backends/bound_call.hpp"
#include "core/call.hpp"
#include "core/compute_mode.hpp"
#include "core/kernel_error.hpp"
#include "core/rung.hpp"

namespace rung {

/// Backend::why_not() for a dtype that a rung supports on no device.
std::string no_dtype(Dtype dtype);

/// The Backend::why_not() of a call that a rung does not support on any device: the compute mode
/// differs, or the call is a batch and the rung computes single products.
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
  /// The reason why the device is not available, in a few words; empty if it is.
  virtual std::optional<std::string> absent() const { return std::nullopt; }

  /// Empty if the rung can run on this device with this dtype, otherwise the reason in a few words.
  virtual std::optional<std::string> why_not(const RungInfo& rung, Dtype dtype) const = 0;
  /// The same check for one problem: for example, a rung may need unit strides.
  virtual std::optional<std::string> why_not(const RungInfo& rung, const GemmCall& call) const = 0;
  virtual std::optional<std::string> why_not(const RungInfo& rung, const DotCall& call) const = 0;

  /// The form in which the device loads the rung, such as "PTX by clang 19.1.7" or "machine code
  /// for sm_90 by nvcc 13.0.88". Empty if the rung is compiled into this program.
  virtual std::string code(const RungInfo& /*rung*/) const { return ""; }

  /// Binds a rung to a call. The operands must outlive the batch. `threads` is the maximum number
  /// of host threads. Preconditions: why_not() is empty; threads >= 1.
  virtual BoundCall bind(const RungInfo& rung, const GemmCall& call, int threads) const = 0;
  /// Binds a rung to a dot product. Each call writes its sum to *result: float for f32, bf16 and
  /// f16, double for f64, std::uint32_t for i32. On a device with its own memory, download() writes
  /// it.
  virtual BoundCall bind(const RungInfo& rung, const DotCall& call, int threads,
                         void* result) const = 0;

  /// The size of the last-level cache in bytes: larger operands are read from device memory.
  virtual std::int64_t cache_bytes() const = 0;
  /// Records `calls` calls of a batch bound by this backend as a graph, which the device runs
  /// without the host. One call of the result runs the whole graph. Returns an empty batch if the
  /// device has no graphs. Throws KernelError if the calls cannot be recorded.
  virtual BoundCall record(const BoundCall& /*batch*/, std::int64_t /*calls*/) const { return {}; }
};

/// Runs one call. A dot product's sum is returned as double for every type; for i32, as the
/// unsigned sum.
void run(const Backend& backend, const RungInfo& rung, const GemmCall& call, int threads);
double run(const Backend& backend, const RungInfo& rung, const DotCall& call, int threads);

/// Options for creating backends.
struct DeviceOptions {
  // The GPU model to simulate: see vgpu::parse_device(). Empty (default): an H200 for CUDA rungs,
  // an M1 Pro for Metal rungs.
  std::string gpu;
  std::string code;     // form of CUDA rungs: "clang", "nvcc", "cubin"; empty: the best
  bool observe = true;  // the virtual GPU counts memory traffic and detects hazards
  int ordinal = 0;      // the CUDA driver's device number
};

inline constexpr std::array<std::string_view, 3> device_names = {"cpu", "gpu", "virtual"};

/// Creates the backend with a device name, even if the device is not available; null for an unknown
/// name. On "gpu" and "virtual", CUDA and Metal rungs have separate backends: `language` is
/// RungInfo::backend. Throws std::invalid_argument for an invalid option, stating the allowed
/// values.
std::unique_ptr<Backend> make_backend(std::string_view device, const DeviceOptions& options,
                                      std::string_view language = "cuda");

/// The backend with default options, created once; null for an unknown name.
const Backend* find_backend(std::string_view device, std::string_view language = "cuda");

/// True if a rung runs on a device: "cpu" for CPU rungs, "gpu" and "virtual" for others.
bool is_for(const RungInfo& rung, std::string_view device);

}  // namespace rung
