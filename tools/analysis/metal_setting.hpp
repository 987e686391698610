#pragma once
// Runs one tile of a Metal GEMM rung on the virtual GPU, with the strides of a problem that would
// take too long as a whole. The counterpart of trace_rung.hpp for CUDA.

#include <string>

#include "backends/metal/images.hpp"
#include "device/metal/descriptor.hpp"
#include "tools/analysis/samples.hpp"

namespace rung::analysis {

/// A Metal GEMM rung, configured for a problem and a device.
struct MetalSetting {
  const RungInfo* info;
  const metal::GemmRung* rung;
  const metal::Image* image;
  Dtype dtype;
  cuda::GemmSize size;
  vgpu::DeviceDescription device;

  /// The grid and threadgroup size of the whole problem.
  metal::Launch launch() const { return rung->launch(size.m, size.n); }
};

/// The PTX of a Metal rung. `code` is "clang" or empty. Throws std::invalid_argument with a
/// one-line message for other values, if the device is not by Apple, and if the build has no PTX.
const metal::Image* select_metal_ptx(const RungInfo& info, const vgpu::DeviceDescription& device,
                                     const std::string& code);

/// Throws std::invalid_argument with a one-line message if the rung does not support the arguments,
/// and like select_metal_ptx().
MetalSetting metal_setting(const RungInfo& info, Dtype dtype, const cuda::GemmSize& size,
                           const vgpu::DeviceDescription& device, const std::string& code);

/// Runs the first tile of C for two values of k. Throws std::runtime_error if the virtual GPU
/// detects a hazard.
Samples sample(const MetalSetting& setting);

}  // namespace rung::analysis
