#include "tools/analysis/trace_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "backends/cuda/cuda.hpp"
#include "backends/metal/metal.hpp"
#include "backends/rungs/cuda.hpp"
#include "backends/rungs/metal.hpp"
#include "core/case.hpp"
#include "core/exact_sum.hpp"
#include "rung/types.hpp"
#include "tools/analysis/metal_setting.hpp"
#include "vgpu/driver/virtual_driver.hpp"
#include "vgpu/footprint.hpp"

namespace rung::analysis {
namespace {

/// Records the accesses of the virtual GPU's launches during its lifetime.
class WatchedFootprints {
 public:
  WatchedFootprints() {
    vgpu::set_access_watcher([this](const vgpu::WarpAccess& access) { recorder_.see(access); });
  }
  WatchedFootprints(const WatchedFootprints&) = delete;
  WatchedFootprints& operator=(const WatchedFootprints&) = delete;
  ~WatchedFootprints() { vgpu::set_access_watcher({}); }

  /// The footprint of the launches since the last call.
  vgpu::Footprint take(const std::vector<vgpu::Site>& sites) { return recorder_.take(sites); }

 private:
  vgpu::FootprintRecorder recorder_;
};

/// The method of combining the sums of blocks, on a device with this number of SMs.
cuda::DotLaunch launch_of(const RungInfo& rung, const DotCall& call, int multiprocessors) {
  return visit_dot(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    return cuda::find_dot_rung(rung.id)->rung->launches.of<In>()(call.typed<In>(), multiprocessors);
  });
}

/// The number of incorrect leading bits of `value`, at most `precision`.
double wrong_bits_of(double value, double exact, int precision) {
  const double error = std::abs(value - exact) / std::abs(exact);
  if (!(error < 1)) return precision;
  return std::max(0.0, precision + std::log2(std::max(error, std::ldexp(1, -precision))));
}

double exact_dot(const DotCall& call) {
  return visit_dot(call.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    const Dot<In> d = call.typed<In>();
    ExactSum sum;
    for (std::int64_t i = 0; i < d.n; ++i) {
      sum.add_product(static_cast<Out>(d.x[i]), static_cast<Out>(d.y[i]));
    }
    return sum.value();
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
  std::optional<WatchedFootprints> footprints;
  const auto observe = [&](const vgpu::LaunchReport& report, const vgpu::Kernel& kernel) {
    refuse_hazards(report, kernel);
    const std::vector<vgpu::Site>& sites = vgpu::sites(kernel);
    KernelTrace launch =
        make_trace(report, site_counts(report, sites), parsed(trace.ptx, trace.id));
    if (footprints) launch.footprint = footprints->take(sites);
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
  if (watched) footprints.emplace();
  run(*backend, rung, problem.call(), 1);
  add_finish(trace, rung, problem.call(), device.multiprocessors);
  return trace;
}

int precision_of(Dtype dtype) { return dtype == Dtype::f64 ? 53 : 24; }

double hard_condition(Dtype dtype) { return std::exp2(1.5 * precision_of(dtype)); }

std::optional<double> wrong_bits(const RungInfo& rung, Dtype dtype, const std::string& gpu,
                                 const std::string& code) {
  if (rung.op != "dot" || (dtype != Dtype::f32 && dtype != Dtype::f64)) return std::nullopt;
  DotSpec spec;
  spec.dtype = dtype;
  spec.n = 4096;
  spec.condition = hard_condition(dtype);
  const DotCase problem(spec);
  const auto backend = make_backend(rung, gpu, code, [](const auto&, const auto&) {});
  const double value = run(*backend, rung, problem.call(), 1);
  return wrong_bits_of(value, exact_dot(problem.call()), precision_of(dtype));
}

}  // namespace rung::analysis
