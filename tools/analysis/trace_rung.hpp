#pragma once
// Runs one tile of a GEMM rung on the virtual GPU, with the configuration and strides of a problem
// that would take too long as a whole.

#include <memory>
#include <string>

#include "backends/cuda/select_image.hpp"
#include "core/call.hpp"
#include "core/element_types.hpp"
#include "core/rung.hpp"
#include "select/cuda/tuned.hpp"
#include "tools/analysis/kernel_trace.hpp"
#include "tools/analysis/usual_dtype.hpp"
#include "vgpu/model/device.hpp"

namespace rung::analysis {

/// A CUDA GEMM rung, configured for a problem and a device.
struct GemmSetting {
  const RungInfo* info;
  const cuda::GemmRung* rung;
  const cuda::Image* image;  // PTX
  Dtype dtype;
  cuda::GemmSize size;
  cuda::GemmConfig config;
  vgpu::DeviceDescription device;

  /// The module that contains the entry point.
  std::string_view ptx() const { return cuda::unpacked(image->unit(dtype)); }
  cuda::Tiling tiling() const;
  /// The part of C that is run: a tile, or the tiles of a cluster, adjacent in m.
  struct Extent {
    std::int64_t rows, columns;
  };
  Extent sample() const;
  std::string entry() const;
  /// The grid and block size of the whole problem.
  cuda::Launch launch() const;
};

/// Configures the rung for a call with contiguous operands. `code` is "clang", "nvcc", or empty for
/// the best one. Throws std::invalid_argument with a one-line message if the rung is not in
/// gemm/cuda or does not support the dtype or the device.
GemmSetting gemm_setting(const RungInfo& info, Dtype dtype, const cuda::GemmSize& size,
                         const vgpu::DeviceDescription& device, const std::string& code);

/// Runs tiles of a setting, which must outlive the object.
class TileRunner {
 public:
  explicit TileRunner(const GemmSetting& setting);

  /// Runs the first tile of C with k reduced to `k`; leading dimensions are those of the whole
  /// problem. Throws std::runtime_error if the virtual GPU detects a hazard.
  KernelTrace run(std::int64_t k);

 private:
  const GemmSetting& setting_;
  vgpu::DeviceMemory memory_;
  std::unique_ptr<vgpu::Module> module_;
  const vgpu::Kernel* kernel_;
};

/// The PTX of a rung or another kernel of the library, for a device. `code`: as for gemm_setting().
/// Throws std::invalid_argument with a one-line message if there is no PTX.
const cuda::Image* select_ptx(std::string_view id, const vgpu::DeviceDescription& device,
                              const std::string& code);

/// A rung's PTX. Parsed only once.
const vgpu::ptx::Module& parsed(std::string_view ptx, std::string_view id);
inline const vgpu::ptx::Module& parsed(const GemmSetting& setting) {
  return parsed(setting.ptx(), setting.info->id);
}

/// A call with contiguous row-major operands and null pointers.
GemmCall call_without_data(Dtype dtype, const cuda::GemmSize& size);

/// A leading dimension with the same alignment, limited so that matrices fit in this machine's
/// memory.
std::int64_t bounded_stride(std::int64_t stride);

}  // namespace rung::analysis
