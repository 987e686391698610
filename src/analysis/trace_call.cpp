#include "analysis/trace_call.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "analysis/metal_setting.hpp"
#include "backends/cuda/cuda.hpp"
#include "backends/metal/metal.hpp"
#include "core/case.hpp"

namespace rung::analysis {

namespace {

struct SelectedCode {
  std::string_view ptx;
  std::string name, described;
};

SelectedCode select_code(const RungInfo& rung, const vgpu::DeviceDescription& device,
                         const std::string& code) {
  if (rung.backend == "metal") {
    return {select_metal_ptx(rung, device, code)->ptx, "clang",
            fmt::format("PTX by clang {}", metal::clang_version())};
  }
  const cuda::Image* image = select_ptx(rung, device, code);
  return {image->data, image->code == cuda::Code::clang_ptx ? "clang" : "nvcc",
          cuda::describe(*image)};
}

}  // namespace

CallTrace trace_call(const RungInfo& rung, Dtype dtype, std::int64_t n, const std::string& gpu,
                     const std::string& code) {
  const SelectedCode selected = select_code(rung, vgpu::parse_device(gpu), code);
  CallTrace trace = {{}, rung.id, selected.ptx, selected.described};
  const auto observe = [&](const vgpu::LaunchReport& report, const vgpu::Kernel& kernel) {
    refuse_hazards(report, kernel);
    trace.launches.push_back(
        make_trace(report, site_counts(report, vgpu::sites(kernel)), parsed(trace.ptx, trace.id)));
  };
  const auto make = rung.backend == "metal" ? make_metal_virtual_backend : make_virtual_backend;
  const auto backend = make({gpu, selected.name}, observe);
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
