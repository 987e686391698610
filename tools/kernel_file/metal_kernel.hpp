#pragma once
// A kernel in a user's Metal file, compiled and loaded for the virtual GPU. A CUDA file contains
// the C++ code that launches its kernels; a Metal file contains constants instead
// (backends/metal/dispatch_constants.hpp).

#include <cstdint>
#include <string>

#include "backends/metal/dispatch_constants.hpp"
#include "backends/metal/virtual_device.hpp"
#include "tools/kernel_file/kernel_file.hpp"

namespace rung {

class MetalKernel {
 public:
  /// `file` and `device` must outlive the object. Throws emu::MissingTool, emu::CompileError or
  /// KernelFileError. Compiler messages go to standard error.
  MetalKernel(const KernelFile& file, metal::VirtualDevice& device);

  const KernelFile& file() const { return file_; }
  metal::VirtualDevice& device() const { return device_; }
  metal::Pipeline& pipeline() const { return *pipeline_; }
  const std::string& ptx() const { return ptx_; }
  /// "PTX by clang++-19"
  const std::string& code() const { return code_; }
  const vgpu::KernelInfo& info() const { return *info_; }
  /// The launch for a result of m x n, or for n terms. Throws KernelFileError if the constants are
  /// inconsistent.
  metal::Launch launch(std::int64_t m, std::int64_t n) const;

 private:
  const KernelFile& file_;
  metal::VirtualDevice& device_;
  std::string ptx_, code_;
  metal::Pipeline* pipeline_ = nullptr;
  const vgpu::KernelInfo* info_ = nullptr;
  metal::DispatchConstants constants_ = {};
};

}  // namespace rung
