#include "tools/analysis/metal_setting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <stdexcept>

#include "backends/metal/virtual_device.hpp"
#include "backends/rungs/metal.hpp"
#include "rung/types.hpp"
#include "tools/analysis/launch_watch.hpp"
#include "tools/analysis/machine.hpp"

namespace rung::analysis {
namespace {

/// Zero matrices, row-major, on a separate virtual device.
class MetalTileRunner {
 public:
  explicit MetalTileRunner(const MetalSetting& setting)
      : setting_(setting),
        device_(setting.device, true,
                [this](const vgpu::LaunchReport& report, const vgpu::Kernel& kernel) {
                  refuse_hazards(report, kernel);
                  const WatchedLaunch seen = watch_.take(report, kernel);
                  trace_ = make_trace(seen.report, seen.sites,
                                      parsed(setting_.image->ptx, setting_.image->id));
                  trace_.footprint = seen.footprint;
                }) {}

  KernelTrace run(std::int64_t k) {
    visit_dot(setting_.dtype,
              [&]<class In, class Out>(Elements<In, Out>) { dispatch<In, Out>(k); });
    return std::move(trace_);
  }

 private:
  template <class In, class Out>
  void dispatch(std::int64_t k) {
    const std::int64_t m = std::min<std::int64_t>(setting_.size.m, setting_.rung->tiling.BM);
    const std::int64_t n = std::min<std::int64_t>(setting_.size.n, setting_.rung->tiling.BN);
    const std::int64_t lda = bounded_stride(setting_.size.k);
    const std::int64_t ldb = bounded_stride(setting_.size.n);
    const GemmScalars<Out> scalars = {.m = m,
                                      .n = n,
                                      .k = k,
                                      .a_row_stride = lda,
                                      .a_col_stride = 1,
                                      .b_row_stride = ldb,
                                      .b_col_stride = 1,
                                      .c_row_stride = ldb,
                                      .alpha = 1,
                                      .beta = 0,
                                      .a_is_aligned = lda % 4 == 0,
                                      .b_is_aligned = ldb % 4 == 0,
                                      .c_is_aligned = ldb % 4 == 0};
    const auto a = zeros<In>(m, k, lda);
    const auto b = zeros<In>(k, n, ldb);
    const auto c = zeros<Out>(m, n, ldb);
    const metal::Argument arguments[] = {{.bytes = std::as_bytes(std::span(&scalars, 1))},
                                         {{}, a.get(), 0},
                                         {{}, b.get(), 0},
                                         {{}, c.get(), 0}};
    const std::string kernel = metal::kernel_name(setting_.rung->entry, setting_.dtype);
    device_.dispatch(device_.pipeline(setting_.info->id, kernel), setting_.rung->launch(m, n),
                     arguments, 1);
  }

  template <class T>
  std::unique_ptr<metal::Buffer> zeros(std::int64_t rows, std::int64_t columns, std::int64_t ld) {
    const std::int64_t elements = rows == 0 ? 0 : (rows - 1) * ld + columns;
    const std::int64_t bytes = std::max<std::int64_t>(elements, 4) * std::int64_t{sizeof(T)};
    auto buffer = device_.allocate(bytes);
    device_.set_to_zero(*buffer, 0, bytes);
    return buffer;
  }

  const MetalSetting& setting_;
  LaunchWatch watch_{false};
  metal::VirtualDevice device_;
  KernelTrace trace_;
};

}  // namespace

const metal::Image* select_metal_ptx(const RungInfo& info, const vgpu::DeviceDescription& device,
                                     const std::string& code) {
  if (!is_apple(device)) {
    throw std::invalid_argument(
        fmt::format("{} is for Apple GPUs, such as m1pro; {} is not one", info.id, device.name));
  }
  if (!code.empty() && code != "clang") {
    throw std::invalid_argument(fmt::format("{}: clang alone compiles Metal here", info.id));
  }
  for (const metal::Image& image : metal::images()) {
    if (image.id == info.id) return &image;
  }
  throw std::invalid_argument(
      fmt::format("{} was not compiled: clang 17 or later was not found", info.id));
}

MetalSetting metal_setting(const RungInfo& info, Dtype dtype, const cuda::GemmSize& size,
                           const vgpu::DeviceDescription& device, const std::string& code) {
  const metal::GemmRung* rung = find_rung(metal::gemm_rungs, info.id);
  if (rung == nullptr) throw std::invalid_argument(info.id + " is no gemm rung of metal");
  if (!metal::has(rung->types, dtype)) {
    throw std::invalid_argument(fmt::format("{}: no {}", info.id, name(dtype)));
  }
  if (size.m % rung->multiple != 0 || size.n % rung->multiple != 0 ||
      size.k % rung->multiple != 0) {
    throw std::invalid_argument(
        fmt::format("{}: m, n and k must be multiples of {}; they are {}, {} and {}", info.id,
                    rung->multiple, size.m, size.n, size.k));
  }
  return {&info, rung, select_metal_ptx(info, device, code), dtype, size, device};
}

namespace {

/// The number of elements that threads store to shared memory individually: floats or single 16-bit
/// elements. clang may give their type as untyped bits.
double shared_store_elements(const KernelTrace& trace) {
  double elements = 0;
  for (const Access& access : trace.accesses) {
    if (access.space != Space::shared || access.is_load) continue;
    const int element = access.element_bytes > 0 ? access.element_bytes : std::min(access.bytes, 4);
    elements += access.moved_bytes() / element;
  }
  return elements;
}

}  // namespace

Samples sample(const MetalSetting& setting) {
  const metal::Tiling& tiling = setting.rung->tiling;
  MetalTileRunner runner(setting);
  Samples samples =
      sample_at(setting.size.k, std::max(tiling.BK, 8), setting.dtype,
                static_cast<double>(std::min<std::int64_t>(setting.size.m, tiling.BM)) *
                    static_cast<double>(std::min<std::int64_t>(setting.size.n, tiling.BN)),
                [&](std::int64_t k) { return runner.run(k); });
  // Only A and B are loaded, and simdgroups store them and their results to shared memory,
  // regardless of the types that clang gives these accesses: a pair of bf16 and a float are both
  // words.
  const auto in = static_cast<double>(input_bytes(setting.dtype));
  const double result_bytes = samples.elements * static_cast<double>(output_bytes(setting.dtype));
  for (const auto& [q, trace] :
       {std::pair(&samples.at_k1, &samples.trace1), std::pair(&samples.at_k2, &samples.trace2)}) {
    q->global_load_elements = q->global_load_bytes / in;
    q->shared_store_elements = tiling.WM > 0
                                   ? (q->shared_store_bytes - result_bytes) / in + samples.elements
                                   : shared_store_elements(*trace);
  }
  return samples;
}

}  // namespace rung::analysis
