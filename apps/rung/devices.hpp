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

/// Opened as they are asked for.
class Devices {
 public:
  /// Throws UsageError for arguments that are none, UnavailableError if a device is named and not
  /// here.
  explicit Devices(const DeviceArguments& arguments);

  /// The device that was named. If none was: the CPU for its rungs, and for the others the GPU
  /// where one is here, the virtual GPU elsewhere.
  const Backend& of(const RungInfo& rung) const;

 private:
  const Backend& open(std::string_view name, std::string_view language) const;

  std::string named_;
  DeviceOptions options_;
  // By name, and whether for the rungs of Metal.
  mutable std::map<std::pair<std::string_view, bool>, std::unique_ptr<Backend>> opened_;
};

}  // namespace rung
