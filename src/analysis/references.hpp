#pragma once
// Measurements by others that stand beside ours, named as theirs.

#include <optional>
#include <string>
#include <string_view>

#include "core/dtype.hpp"
#include "vgpu/model/device.hpp"

namespace rung::analysis {

struct Reference {
  double flops = 0;   // a second
  std::string whose;  // "the seed's own kernel of this idea, …"
};

/// What one of the documents that the project comes from measured with a kernel of the rung's idea,
/// on that device.
std::optional<Reference> reference_of(std::string_view rung, Dtype dtype,
                                      const vgpu::DeviceDescription& device);

}  // namespace rung::analysis
