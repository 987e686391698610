#include "tools/analysis/trace_rung.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "backends/cuda/tensor_maps.hpp"
#include "backends/rungs/cuda.hpp"
#include "backends/rungs/kernel_name.hpp"
#include "core/dtype.hpp"
#include "rung/types.hpp"
#include "tools/analysis/device_zeros.hpp"
#include "vgpu/driver/virtual_driver.hpp"
#include "vgpu/ptx/parser.hpp"

namespace rung::analysis {
namespace {

// A newer version than that of any toolkit that generated the PTX: no driver is involved here.
constexpr int any_driver = 99000;

template <class In, class Out>
Gemm<In, Out> without_data(const cuda::GemmSize& size) {
  const std::int64_t lda = bounded_stride(size.k);
  const std::int64_t ldb = bounded_stride(size.n);
  return {
      size.m,        size.n,           size.k, Scalar<Out>{1}, {nullptr, lda, 1}, {nullptr, ldb, 1},
      Scalar<Out>{}, {nullptr, ldb, 1}};
}

/// The number of elements of a matrix up to the last used element.
std::int64_t extent(std::int64_t rows, std::int64_t columns, std::int64_t row_stride) {
  return rows == 0 ? 0 : (rows - 1) * row_stride + columns;
}

struct Parameters {
  std::vector<std::byte> bytes;
  cuda::Launch launch;
};

cuda::PreparedMaps maps_of(const cuda::Launch& launch, DeviceZeros& zeros) {
  auto* const room = reinterpret_cast<void*>(zeros.allocate(cuda::packed_bytes(launch)));
  cuda::PreparedMaps maps(vgpu::virtual_driver(), launch, room);
  if (maps.result() != cuda::Result::success) {
    throw std::runtime_error(vgpu::virtual_driver_message());
  }
  return maps;
}

template <class In, class Out>
Parameters parameters(const GemmSetting& setting, const cuda::GemmSize& tile, DeviceZeros& zeros) {
  Gemm<In, Out> g = without_data<In, Out>(setting.size);
  g.m = tile.m;
  g.n = tile.n;
  g.k = tile.k;
  const auto array = [&]<class T>(std::int64_t count, T*& data) {
    data = reinterpret_cast<T*>(zeros.allocate(count * static_cast<std::int64_t>(sizeof(T))));
  };
  array(extent(g.m, g.k, g.a.row_stride), g.a.data);
  array(extent(g.k, g.n, g.b.row_stride), g.b.data);
  array(extent(g.m, g.n, g.c.row_stride), g.c.data);
  Parameters made;
  made.launch = cuda::fitted(setting.rung->launches.of<In, Out>()(g, setting.config),
                             setting.device.multiprocessors);
  auto* const workspace = reinterpret_cast<void*>(zeros.allocate(made.launch.workspace_bytes));
  const cuda::PreparedMaps maps = maps_of(made.launch, zeros);
  const cuda::KernelArgs<In, Out> args = {g,
                                          {setting.config.splits, setting.config.whole,
                                           maps.room() == nullptr ? workspace : maps.room()},
                                          maps.maps(),
                                          maps.scales()};
  made.bytes.resize(sizeof args);
  std::memcpy(made.bytes.data(), &args, sizeof args);
  return made;
}

vgpu::Dim3 narrowed(const cuda::Dim3& extent) {
  const auto narrow = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  return {narrow(extent.x), narrow(extent.y), narrow(extent.z)};
}

}  // namespace

GemmCall call_without_data(Dtype dtype, const cuda::GemmSize& size) {
  const auto matrix = [](std::int64_t ld) { return AnyMatrix<const void*>{nullptr, ld, 1}; };
  return {
      dtype, size.m, size.n, size.k, 1, matrix(size.k), matrix(size.n), 0, {nullptr, size.n, 1}};
}

std::int64_t bounded_stride(std::int64_t stride) {
  constexpr std::int64_t most = 16384;
  constexpr std::int64_t alignment = 64;  // in elements; exceeds that of all accesses
  return stride <= most ? stride : most + stride % alignment;
}

const vgpu::ptx::Module& parsed(std::string_view ptx, std::string_view id) {
  static std::mutex mutex;
  static std::map<const char*, std::unique_ptr<const vgpu::ptx::Module>> modules;
  const std::lock_guard lock(mutex);
  auto& module = modules[ptx.data()];
  if (!module) module = std::make_unique<const vgpu::ptx::Module>(vgpu::ptx::parse(ptx, id));
  return *module;
}

cuda::Tiling GemmSetting::tiling() const { return cuda::tiling(*rung, dtype, config.tile); }

GemmSetting::Extent GemmSetting::sample() const {
  const cuda::Tiling tile = tiling();
  return {std::min<std::int64_t>(size.m, std::int64_t{tile.BM} * launch().cluster),
          std::min<std::int64_t>(size.n, tile.BN)};
}

std::string GemmSetting::entry() const {
  return cuda::kernel_of(cuda::configured_gemm(info->id, config), dtype).text();
}

cuda::Launch GemmSetting::launch() const {
  return visit(dtype, [&]<class In, class Out>(Elements<In, Out>) {
    return rung->launches.of<In, Out>()(without_data<In, Out>(size), config);
  });
}

const cuda::Image* select_ptx(std::string_view id, const vgpu::DeviceDescription& device,
                              const std::string& code) {
  cuda::Target target;
  target.arch = device.arch();
  target.driver_version = any_driver;
  target.takes_cubin = false;
  if (!code.empty()) target.wanted = cuda::parse_code(code);
  const cuda::Image* image = cuda::select_image(id, target);
  if (image == nullptr) {
    throw std::invalid_argument(fmt::format("{} has no {} for sm_{}{}", id,
                                            code.empty() ? "PTX" : code + " code",
                                            device.compute_major, device.compute_minor));
  }
  return image;
}

Dtype usual_dtype(const RungInfo& rung) {
  const cuda::GemmRung* gemm = cuda::find_gemm_rung(rung.id);
  if (gemm == nullptr || gemm->launches.f32 != nullptr) return Dtype::f32;
  return gemm->launches.bf16 != nullptr ? Dtype::bf16 : Dtype::f64;
}

GemmSetting gemm_setting(const RungInfo& info, Dtype dtype, const cuda::GemmSize& size,
                         const vgpu::DeviceDescription& device, const std::string& code) {
  const cuda::GemmRung* rung = cuda::find_gemm_rung(info.id);
  if (rung == nullptr) throw std::invalid_argument(info.id + " is no gemm rung of cuda");
  const bool has = visit(dtype, [&]<class In, class Out>(Elements<In, Out>) {
    return rung->launches.of<In, Out>() != nullptr;
  });
  if (!has) throw std::invalid_argument(fmt::format("{}: no {}", info.id, name(dtype)));
  const cuda::Image* image = select_ptx(info.id, device, code);
  const cuda::Limits limits = {device.shared_per_block_optin, device.multiprocessors};
  const cuda::GemmConfig config = cuda::TunedConfigs::of_device(device.name)
                                      .best(*rung, info.id, call_without_data(dtype, size), limits);
  const GemmSetting setting = {&info, rung, image, dtype, size, config, device};
  if (setting.tiling().BM <= 0) {
    throw std::invalid_argument(fmt::format("{} does not say its tile", info.id));
  }
  return setting;
}

TileRunner::TileRunner(const GemmSetting& setting)
    : setting_(setting),
      memory_(std::size_t{1} << 33),
      module_(vgpu::Module::load(setting.ptx(), setting.info->id, memory_)),
      kernel_(module_->kernel(setting.entry())) {}

KernelTrace TileRunner::run(std::int64_t k) {
  const GemmSetting::Extent sample = setting_.sample();
  const cuda::GemmSize tile = {sample.rows, sample.columns, k};
  DeviceZeros zeros(memory_);
  const Parameters made = visit(setting_.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    return parameters<In, Out>(setting_, tile, zeros);
  });
  vgpu::LaunchOptions options;
  options.grid = narrowed(made.launch.grid);
  options.block = narrowed(made.launch.block);
  options.cluster = {static_cast<std::uint32_t>(made.launch.cluster)};
  options.dynamic_shared = made.launch.shared_bytes;
  options.threads = 1;  // required by footprints
  vgpu::FootprintRecorder recorder;
  options.watcher = [&](const vgpu::WarpAccess& access) { recorder.see(access); };
  const vgpu::LaunchReport report = launch(*kernel_, options, made.bytes, memory_, setting_.device);
  if (!report.hazards.empty()) {
    throw std::runtime_error(
        fmt::format("{}: {}", setting_.info->id, report.hazards.front().message));
  }
  const std::vector<vgpu::Site>& sites = vgpu::sites(*kernel_);
  KernelTrace trace = make_trace(report, site_counts(report, sites), parsed(setting_));
  trace.footprint = recorder.take(sites);
  return trace;
}

}  // namespace rung::analysis
