#pragma once
// A backend runs rungs on a device. Everything above it (verification, bench, command line) sees
// only this.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/call.hpp"
#include "core/rung.hpp"

namespace rung {

/// Runs one bound call that many times, back to back, and returns when all are done.
using Batch = std::function<void(std::int64_t calls)>;

class Backend {
 public:
  virtual ~Backend() = default;

  /// "cpu", "gpu" or "virtual", then what it is: "cpu Intel Xeon (AVX-512)".
  virtual std::string device() const = 0;

  /// Nothing if the rung can run on this device at this dtype, else the reason in a few words.
  virtual std::optional<std::string> why_not(const RungInfo& rung, Dtype dtype) const = 0;
  /// The same for one problem: a rung may need unit strides, say.
  virtual std::optional<std::string> why_not(const RungInfo& rung, const GemmCall& call) const = 0;
  virtual std::optional<std::string> why_not(const RungInfo& rung, const DotCall& call) const = 0;

  /// The operands must outlive the batch. Preconditions: why_not() gives nothing; threads >= 1.
  virtual Batch bind(const RungInfo& rung, const GemmCall& call, int threads) const = 0;
  /// Each call writes its sum to *result (float for f32, bf16 and f16; double for f64).
  virtual Batch bind(const RungInfo& rung, const DotCall& call, int threads,
                     void* result) const = 0;
};

/// One call, start to end. The dot product's sum is returned as double, whatever its type.
void run(const Backend& backend, const RungInfo& rung, const GemmCall& call, int threads);
double run(const Backend& backend, const RungInfo& rung, const DotCall& call, int threads);

/// The backend of a device name (`cpu`), or nothing if this program has none of that name.
const Backend* find_backend(std::string_view device);

}  // namespace rung
