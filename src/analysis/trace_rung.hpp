#pragma once
// Runs one tile of a gemm rung on the virtual GPU, with the configuration and strides of a problem
// that would take too long as a whole.

#include <memory>
#include <string>

#include "analysis/kernel_trace.hpp"
#include "backends/cuda/select_image.hpp"
#include "backends/cuda/tuned.hpp"
#include "core/call.hpp"
#include "core/dtype.hpp"
#include "core/rung.hpp"
#include "vgpu/model/device.hpp"

namespace rung::analysis {

/// A CUDA gemm rung, set up as for a problem on a device.
struct GemmSetting {
  const RungInfo* info;
  const cuda::GemmRung* rung;
  const cuda::Image* image;  // PTX
  Dtype dtype;
  cuda::GemmSize size;
  cuda::GemmConfig config;
  vgpu::DeviceDescription device;

  /// The module that has the entry.
  std::string_view ptx() const { return cuda::unpacked(image->unit(dtype)); }
  cuda::Tiling tiling() const;
  /// The part of C that runs: a tile, or those of a cluster, stacked in m.
  struct Extent {
    std::int64_t rows, columns;
  };
  Extent sample() const;
  std::string entry() const;
  /// Blocks and threads of the whole problem.
  cuda::Launch launch() const;
};

/// The configuration is that of a call with contiguous operands. `code` is "clang", "nvcc", or empty for
/// the best one. Throws std::invalid_argument, in one line, for a rung that is not in gemm/cuda, or
/// does not support the dtype or the device.
GemmSetting gemm_setting(const RungInfo& info, Dtype dtype, const cuda::GemmSize& size,
                         const vgpu::DeviceDescription& device, const std::string& code);

/// f32, or bf16 for tensor-core rungs, which have no f32.
Dtype usual_dtype(const RungInfo& rung);

/// Runs tiles of a setting, which must outlive it.
class TileRunner {
 public:
  explicit TileRunner(const GemmSetting& setting);

  /// Runs the first tile of C with k reduced to `k`; leading dimensions are those of the whole
  /// problem. Throws std::runtime_error if the rung has a hazard there.
  KernelTrace run(std::int64_t k);

 private:
  const GemmSetting& setting_;
  vgpu::DeviceMemory memory_;
  std::unique_ptr<vgpu::Module> module_;
  const vgpu::Kernel* kernel_;
};

/// The PTX of a rung, or of another of the library's kernels, for a device. `code`: see
/// gemm_setting(). Throws std::invalid_argument, in one line, if there is none.
const cuda::Image* select_ptx(std::string_view id, const vgpu::DeviceDescription& device,
                              const std::string& code);

/// A rung's PTX, parsed once.
const vgpu::ptx::Module& parsed(std::string_view ptx, std::string_view id);
inline const vgpu::ptx::Module& parsed(const GemmSetting& setting) {
  return parsed(setting.ptx(), setting.info->id);
}

/// Contiguous row-major operands at null.
GemmCall call_without_data(Dtype dtype, const cuda::GemmSize& size);

/// A leading dimension with the same alignment that needs no more memory than this machine has.
std::int64_t bounded_stride(std::int64_t stride);

}  // namespace rung::analysis
