#pragma once
// Runs one tile of a Metal gemm rung on the virtual GPU, with the strides of a problem that would
// take too long as a whole; the counterpart of trace_rung.hpp for CUDA.

#include <string>

#include "analysis/samples.hpp"
#include "backends/metal/images.hpp"
#include "device/metal/descriptor.hpp"

namespace rung::analysis {

/// A Metal gemm rung, set up as for a problem on a device.
struct MetalSetting {
  const RungInfo* info;
  const metal::GemmRung* rung;
  const metal::Image* image;
  Dtype dtype;
  cuda::GemmSize size;
  vgpu::DeviceDescription device;

  /// Threadgroups and threads of the whole problem.
  metal::Launch launch() const { return rung->launch(size.m, size.n); }
};

/// The PTX of a Metal rung. `code` is "clang" or empty. Throws std::invalid_argument, in one line,
/// for other values, for a device that is not Apple's, and if the build has no PTX.
const metal::Image* select_metal_ptx(const RungInfo& info, const vgpu::DeviceDescription& device,
                                     const std::string& code);

/// Throws std::invalid_argument, in one line, for arguments that the rung does not support, and as
/// above.
MetalSetting metal_setting(const RungInfo& info, Dtype dtype, const cuda::GemmSize& size,
                           const vgpu::DeviceDescription& device, const std::string& code);

/// Runs the first tile of C for two values of k. Throws std::runtime_error if the rung has a hazard
/// there.
Samples sample(const MetalSetting& setting);

}  // namespace rung::analysis
