#include "tools/analysis/operand_copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <stdexcept>

#include "backends/cuda/prepared_gemm.hpp"
#include "core/dtype.hpp"
#include "core/integers.hpp"
#include "tools/analysis/device_zeros.hpp"
#include "tools/analysis/extrapolation.hpp"
#include "vgpu/driver/virtual_driver.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::analysis {
namespace {

// Rows of A, and columns of B: enough for full blocks of each kernel, and small enough to be fast.
constexpr std::int64_t traced_rows = 64;

cuda::ConfiguredGemm gemm_of(const GemmSetting& setting) {
  return cuda::configured_gemm(setting.info->id, setting.config);
}

cuda::Launch launch_of(const GemmSetting& setting, const GemmCall& call) {
  return cuda::fitted(cuda::launch_of(gemm_of(setting), call), setting.device.multiprocessors);
}

/// Calls f(kernel, launch, parameter) for each launch of a call except the rung's own. `room` is
/// the workspace for copies.
template <class F>
void for_each_copy(const GemmSetting& setting, const GemmCall& call, void* room, const F& f) {
  cuda::PreparedGemm prepared(vgpu::virtual_driver(), gemm_of(setting), call,
                              launch_of(setting, call), setting.device.multiprocessors,
                              {nullptr, room});
  prepared.for_each_launch([&](const cuda::KernelName& kernel, const cuda::Launch& copy,
                               void** parameters, std::size_t) {
    if (kernel.id == setting.info->id) return;
    f(kernel, copy, static_cast<const std::byte*>(parameters[0]));
  });
}

vgpu::Dim3 narrowed(const cuda::Dim3& extent) {
  const auto narrow = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  return {narrow(extent.x), narrow(extent.y), narrow(extent.z)};
}

// An aligned address other than null.
constexpr std::uintptr_t some_address = 1 << 20;

GemmCall call_at(std::uintptr_t address, Dtype dtype, const cuda::GemmSize& size) {
  GemmCall call = call_without_data(dtype, size);
  call.a.data = call.b.data = reinterpret_cast<const void*>(address);
  return call;
}

/// Runs the kernel on the virtual GPU.
CopyLaunch traced(const GemmSetting& setting, const cuda::KernelName& kernel,
                  const cuda::Launch& launch, const std::byte* parameter,
                  vgpu::DeviceMemory& memory) {
  CopyLaunch copy;
  copy.id = kernel.id;
  copy.ptx = cuda::unpacked(select_ptx(kernel.id, setting.device, "")->unit(kernel.dtype));
  const vgpu::ptx::Module& text = parsed(copy.ptx, copy.id);
  const auto module = vgpu::Module::load(copy.ptx, copy.id, memory);
  const vgpu::Kernel* const loaded = module->kernel(kernel.text());
  vgpu::LaunchOptions options;
  options.grid = narrowed(launch.grid);
  options.block = narrowed(launch.block);
  options.dynamic_shared = launch.shared_bytes;
  options.threads = 1;  // required by footprints
  vgpu::FootprintRecorder recorder;
  options.watcher = [&](const vgpu::WarpAccess& access) { recorder.see(access); };
  const auto bytes = static_cast<std::size_t>(text.find(kernel.text())->parameters.front().bytes());
  const vgpu::LaunchReport report =
      vgpu::launch(*loaded, options, {parameter, bytes}, memory, setting.device);
  if (!report.hazards.empty()) {
    throw std::runtime_error(fmt::format("{}: {}", kernel.id, report.hazards.front().message));
  }
  const std::vector<vgpu::Site>& sites = vgpu::sites(*loaded);
  copy.trace = make_trace(report, site_counts(report, sites), text);
  copy.trace.footprint = recorder.take(sites);
  return copy;
}

}  // namespace

std::vector<CopyLaunch> trace_copies(const GemmSetting& setting) {
  if (!setting.rung->maps && !setting.config.packs()) return {};
  // The copied operands and their grids depend only on extents and alignment.
  const GemmCall whole = call_at(some_address, setting.dtype, setting.size);
  if (cuda::packed_bytes(launch_of(setting, whole)) == 0) return {};
  const cuda::GemmSize& size = setting.size;
  const std::int64_t times = std::max<std::int64_t>(1, std::min(size.m, size.n) / traced_rows);
  const cuda::GemmSize few = {ceil_div(size.m, times), ceil_div(size.n, times), size.k};
  vgpu::DeviceMemory memory(std::size_t{1} << 33);
  DeviceZeros zeros(memory);
  GemmCall part = call_at(some_address, setting.dtype, few);
  const std::int64_t room_bytes = cuda::packed_bytes(launch_of(setting, part));
  const auto element = static_cast<std::int64_t>(input_bytes(setting.dtype));
  part.a.data = reinterpret_cast<void*>(zeros.allocate(few.m * few.k * element));
  part.b.data = reinterpret_cast<void*>(zeros.allocate(few.k * few.n * element));
  void* const room = reinterpret_cast<void*>(zeros.allocate(room_bytes));
  std::vector<CopyLaunch> copies;
  for_each_copy(setting, part, room, [&](const auto& kernel, const auto& launch, const auto* with) {
    copies.push_back(traced(setting, kernel, launch, with, memory));
  });
  std::size_t at = 0;
  for_each_copy(setting, whole, room, [&](const auto&, const auto& launch, const auto*) {
    KernelTrace& trace = copies[at++].trace;
    trace = extrapolated(trace, trace, {.step = 0, .times = static_cast<double>(times)});
    trace.grid = narrowed(launch.grid);
    trace.footprint.max_of_block = trace.footprint.max_of_warp = 0;
  });
  return copies;
}

}  // namespace rung::analysis
