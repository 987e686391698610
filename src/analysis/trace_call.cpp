#include "analysis/trace_call.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "analysis/trace_rung.hpp"
#include "backends/cuda/cuda.hpp"
#include "core/case.hpp"

namespace rung::analysis {

CallTrace trace_call(const RungInfo& rung, Dtype dtype, std::int64_t n, const std::string& gpu,
                     const std::string& code) {
  const vgpu::DeviceDescription device = vgpu::parse_device(gpu);
  CallTrace trace;
  trace.image = select_ptx(rung, device, code);
  const auto observe = [&](const vgpu::LaunchReport& report, const vgpu::Kernel& kernel) {
    refuse_hazards(report, kernel);
    trace.launches.push_back(
        make_trace(report, site_counts(report, vgpu::sites(kernel)), parsed(*trace.image)));
  };
  const std::string_view code_taken = trace.image->code == cuda::Code::clang_ptx ? "clang" : "nvcc";
  const auto backend = make_virtual_backend({gpu, std::string(code_taken)}, observe);
  DotSpec spec;
  spec.dtype = dtype;
  spec.n = n;
  spec.sum = rung.op == "sum";
  const DotCase problem(spec);
  if (const auto reason = backend->why_not(rung, problem.call())) {
    throw std::invalid_argument(fmt::format("{}: {}", rung.id, *reason));
  }
  run(*backend, rung, problem.call(), 1);
  return trace;
}

}  // namespace rung::analysis
