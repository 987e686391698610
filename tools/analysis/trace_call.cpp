#include "tools/analysis/trace_call.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <stdexcept>

#include "backends/cuda/cuda.hpp"
#include "backends/metal/metal.hpp"
#include "backends/rungs/cuda.hpp"
#include "backends/rungs/metal.hpp"
#include "core/case.hpp"
#include "rung/types.hpp"
#include "tools/analysis/launch_watch.hpp"
#include "tools/analysis/metal_setting.hpp"

namespace rung::analysis {
namespace {

/// The method of combining the sums of blocks, on a device with this number of SMs.
cuda::DotLaunch launch_of(const RungInfo& rung, const DotCall& call, int multiprocessors) {
  return visit_dot(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    return cuda::find_dot_rung(rung.id)->rung->launches.of<In>()(call.typed<In>(), multiprocessors);
  });
}

struct SelectedCode {
  std::string_view ptx;
  std::string name, described;
};

SelectedCode select_code(const RungInfo& rung, const vgpu::DeviceDescription& device, Dtype dtype,
                         const std::string& code) {
  if (rung.backend == "metal") {
    return {select_metal_ptx(rung, device, code)->ptx, "clang",
            fmt::format("PTX by clang {}", metal::clang_version())};
  }
  const cuda::Image* image = select_ptx(rung.id, device, code);
  return {cuda::unpacked(image->unit(dtype)),
          image->code == cuda::Code::clang_ptx ? "clang" : "nvcc", cuda::describe(*image)};
}

/// Adds the work that a rung leaves to separate launches or the CPU.
void add_finish(CallTrace& trace, const RungInfo& rung, const DotCall& call, int multiprocessors) {
  if (const metal::DotRung* of_metal = find_rung(metal::dot_rungs, rung.id)) {
    using metal::Finish;
    const Finish finish = of_metal->finish;
    trace.is_zeroed = finish == Finish::zeroed;
    if (finish == Finish::host || finish == Finish::host_terms) {
      trace.host_values = static_cast<double>(of_metal->sums(call.n));
    }
    return;
  }
  const cuda::DotLaunch launch = launch_of(rung, call, multiprocessors);
  trace.is_zeroed = launch.finish == cuda::Finish::zeroed;
  if (launch.finish == cuda::Finish::host) trace.host_values = static_cast<double>(launch.sums);
}

template <class Observe>
std::unique_ptr<Backend> make_backend(const RungInfo& rung, const std::string& gpu,
                                      const std::string& code, const Observe& observe) {
  const auto make = rung.backend == "metal" ? make_metal_virtual_backend : make_virtual_backend;
  return make({gpu, code}, observe);
}

}  // namespace

CallTrace trace_call(const RungInfo& rung, Dtype dtype, std::int64_t n, const std::string& gpu,
                     const std::string& code, bool watched) {
  const vgpu::DeviceDescription device = vgpu::parse_device(gpu);
  const SelectedCode selected = select_code(rung, device, dtype, code);
  CallTrace trace;
  trace.id = rung.id;
  trace.ptx = selected.ptx;
  trace.code = selected.described;
  std::optional<LaunchWatch> watch;
  const auto observe = [&](const vgpu::LaunchReport& report, const vgpu::Kernel& kernel) {
    refuse_hazards(report, kernel);
    KernelTrace launch =
        make_trace(report, site_counts(report, vgpu::sites(kernel)), parsed(trace.ptx, trace.id));
    if (watch) launch.footprint = watch->take(report, kernel).footprint;
    trace.launches.push_back(std::move(launch));
  };
  const auto backend = make_backend(rung, gpu, selected.name, observe);
  DotSpec spec;
  spec.dtype = dtype;
  spec.n = n;
  spec.sum = rung.op == "sum";
  const DotCase problem(spec);
  if (const auto reason = backend->why_not(rung, problem.call())) {
    throw std::invalid_argument(fmt::format("{}: {}", rung.id, *reason));
  }
  if (watched) watch.emplace(false);
  run(*backend, rung, problem.call(), 1);
  add_finish(trace, rung, problem.call(), device.multiprocessors);
  return trace;
}

}  // namespace rung::analysis
