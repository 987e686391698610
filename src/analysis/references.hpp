#pragma once
// Measurements by others that are shown beside ours, with their source.

#include <optional>
#include <string>
#include <string_view>

#include "core/dtype.hpp"
#include "vgpu/model/device.hpp"

namespace rung::analysis {

struct Reference {
  double flops = 0;   // FLOP/s
  std::string whose;  // "the seed's own kernel of this idea, …"
};

/// The measurement in one of the project's seed documents for a kernel with the rung's idea, on
/// that device.
std::optional<Reference> reference_of(std::string_view rung, Dtype dtype,
                                      const vgpu::DeviceDescription& device);

}  // namespace rung::analysis
