#pragma once
// A backend runs rungs on a device. Everything above it (verification, bench, command line) sees
// only this.

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

/// Backend::why_not() for a dtype that a rung has on no device.
inline std::string no_dtype(Dtype dtype) { return "no " + std::string(name(dtype)); }
/// Nothing if a rung of one compute mode computes the call, else the reason.
inline std::optional<std::string> why_not_mode(ComputeMode rung, const GemmCall& call) {
  if (rung == call.compute_mode) return std::nullopt;
  return "computes in mode " + std::string(name(rung)) + ", not in " +
         std::string(name(call.compute_mode));
}

class Backend {
 public:
  virtual ~Backend() = default;

  /// "cpu", "gpu" or "virtual".
  virtual std::string_view name() const = 0;
  /// The name, then what it is: "cpu Intel Xeon (AVX-512)".
  virtual std::string device() const = 0;
  /// Why the device is not here, in a few words; nothing if it is.
  virtual std::optional<std::string> absent() const { return std::nullopt; }

  /// Nothing if the rung can run on this device at this dtype, else the reason in a few words.
  virtual std::optional<std::string> why_not(const RungInfo& rung, Dtype dtype) const = 0;
  /// The same for one problem: a rung may need unit strides, say.
  virtual std::optional<std::string> why_not(const RungInfo& rung, const GemmCall& call) const = 0;
  virtual std::optional<std::string> why_not(const RungInfo& rung, const DotCall& call) const = 0;

  /// In what form the rung reaches the device, if not as a part of this program: "PTX by clang
  /// 19.1.7", "machine code for sm_90 by nvcc 13.0.88".
  virtual std::string code(const RungInfo& /*rung*/) const { return ""; }

  /// The operands must outlive the batch. `threads` is the most that may be used of this machine.
  /// Preconditions: why_not() gives nothing; threads >= 1.
  virtual Batch bind(const RungInfo& rung, const GemmCall& call, int threads) const = 0;
  /// Each call writes its sum to *result: float for f32, bf16 and f16, double for f64,
  /// std::uint32_t for i32. On a device with memory of its own, download() does.
  virtual Batch bind(const RungInfo& rung, const DotCall& call, int threads,
                     void* result) const = 0;

  /// Of the last cache before the device's memory: operands that exceed it come from memory.
  virtual std::int64_t cache_bytes() const = 0;
  /// `calls` calls of a batch that was bound here, as one piece of work that the device does
  /// without the host: a graph. Each call of it runs all. An empty batch where there is no such
  /// thing. Throws KernelError if the calls are none that can be recorded.
  virtual Batch record(const Batch& /*batch*/, std::int64_t /*calls*/) const { return {}; }
};

/// One call, start to end. The dot product's sum is returned as double, whatever its type; of i32,
/// the unsigned one.
void run(const Backend& backend, const RungInfo& rung, const GemmCall& call, int threads);
double run(const Backend& backend, const RungInfo& rung, const DotCall& call, int threads);

/// What the makers of backends are told.
struct DeviceOptions {
  // Which one the virtual GPU is: vgpu::parse_device(). Empty: an H200 for the rungs of CUDA, an M1
  // Pro for those of Metal.
  std::string gpu;
  std::string code;     // of the CUDA rungs: "clang", "nvcc" or "cubin"; empty: what fits best
  bool observe = true;  // the virtual GPU counts memory traffic and looks for hazards
  int ordinal = 0;      // of the GPU, as the CUDA driver counts them
};

inline constexpr std::array<std::string_view, 3> device_names = {"cpu", "gpu", "virtual"};

/// The backend of a device name, whether the device is here or not; null for a name that is none.
/// On "gpu" and "virtual" the rungs of Metal have one of their own: `language` is
/// RungInfo::backend. Throws std::invalid_argument for an option that is none, saying what is
/// allowed.
std::unique_ptr<Backend> make_backend(std::string_view device, const DeviceOptions& options,
                                      std::string_view language = "cuda");

/// The same with default options, made once; nothing for a name that is none.
const Backend* find_backend(std::string_view device, std::string_view language = "cuda");

/// The devices that a rung is for: "cpu", or "gpu" and "virtual".
bool is_for(const RungInfo& rung, std::string_view device);

}  // namespace rung
