#pragma once
// Published measurements, shown next to Rung's, with their source.

#include <optional>
#include <string>
#include <string_view>

#include "core/element_types.hpp"
#include "vgpu/model/device.hpp"

namespace rung::analysis {

struct Reference {
  double flops = 0;   // FLOP/s
  std::string whose;  // the source: "the seed's own kernel of this idea, …"
};

/// The measurement in one of the project's seed documents for a kernel with the same idea as the
/// rung, on this device.
std::optional<Reference> reference_of(std::string_view rung, Dtype dtype,
                                      const vgpu::DeviceDescription& device);

}  // namespace rung::analysis
