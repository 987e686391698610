#pragma once
// The devices of one command.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "arguments.hpp"
#include "backends/backend.hpp"

namespace rung {

/// Throws UsageError.
DeviceOptions read_device_options(const DeviceArguments& arguments);

/// Opened on demand.
class Devices {
 public:
  /// Throws UsageError for invalid arguments, UnavailableError if a named device is not available.
  explicit Devices(const DeviceArguments& arguments);

  /// The named device. The default is the CPU for its rungs; for others the GPU or, without a GPU, the
  /// virtual GPU.
  const Backend& of(const RungInfo& rung) const;

 private:
  const Backend& open(std::string_view name, std::string_view language) const;

  std::string named_;
  DeviceOptions options_;
  // By name, and whether for Metal rungs.
  mutable std::map<std::pair<std::string_view, bool>, std::unique_ptr<Backend>> opened_;
};

}  // namespace rung
