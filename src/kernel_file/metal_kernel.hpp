#pragma once
// A kernel in a Metal file of the user's, compiled and loaded on the virtual GPU. A CUDA file says in
// C++ how its kernels are launched; here, constants of the file do (backends/metal/dispatch_constants.hpp).

#include <cstdint>
#include <string>

#include "backends/metal/dispatch_constants.hpp"
#include "backends/metal/virtual_device.hpp"
#include "kernel_file/kernel_file.hpp"

namespace rung {

class MetalKernel {
 public:
  /// `file` and `device` must outlive this. Throws emu::MissingTool, emu::CompileError and
  /// KernelFileError. The compiler prints its messages on standard error.
  MetalKernel(const KernelFile& file, metal::VirtualDevice& device);

  const KernelFile& file() const { return file_; }
  metal::VirtualDevice& device() const { return device_; }
  metal::Pipeline& pipeline() const { return *pipeline_; }
  const std::string& ptx() const { return ptx_; }
  /// "PTX by clang++-19"
  const std::string& code() const { return code_; }
  const vgpu::KernelInfo& info() const { return *info_; }
  /// For results of m x n, or n terms. Throws KernelFileError for constants that do not fit together.
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
