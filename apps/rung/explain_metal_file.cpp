#include "explain_metal_file.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "backends/metal/metal.hpp"
#include "core/case.hpp"
#include "emu/reports/launch_json.hpp"
#include "tools/analysis/explain_metal.hpp"
#include "tools/analysis/kernel_trace.hpp"
#include "tools/analysis/launch_watch.hpp"
#include "tools/kernel_file/metal_file.hpp"
#include "tools/report/explanation.hpp"
#include "tools/report/page/explanation_page.hpp"
#include "tools/report/table.hpp"
#include "vgpu/ptx/parser.hpp"

namespace rung {
namespace {

/// Calls the kernel once, on one CPU thread, so that threadgroups run one after the other:
/// footprints are per threadgroup.
void call_once(const MetalFile& loaded, const Signature& signature, const ProgramSize& size) {
  const auto require = [](const Bound& bound) {
    if (!bound) throw KernelFileError(bound.why_not);
    bound.batch.call();
  };
  if (signature.op == "gemm") {
    GemmSpec spec;
    spec.dtype = signature.dtype;
    spec.m = size.m;
    spec.n = size.n;
    spec.k = size.k;
    const MatrixLayout layout = signature.layout.row_major();
    spec.a_transposed = layout.a_transposed;
    spec.b_transposed = layout.b_transposed;
    const GemmCase problem(spec);
    require(loaded.bind(problem.call(), 1));
    return;
  }
  DotSpec spec;
  spec.dtype = signature.dtype;
  spec.n = size.n;
  spec.sum = signature.op == "sum";
  const DotCase problem(spec);
  std::array<std::byte, sizeof(double)> result;  // large enough for every type
  require(loaded.bind(problem.call(), 1, result.data()));
}

Json as_json(const KernelFile& file, const analysis::WatchedLaunch& seen,
             const analysis::Explanation& explanation, const std::string& device) {
  Json json = {{"file", file.path.string()}, {"device", "virtual " + device}};
  Json kernel = {{"kernel", seen.report.kernel}};
  kernel.update(to_json(explanation));
  json["kernels"].push_back(kernel);
  json["hazards"] = Json::array();
  for (const vgpu::Hazard& hazard : seen.report.hazards) {
    json["hazards"].push_back(emu::to_json(hazard));
  }
  return json;
}

}  // namespace

ExitCode explain_metal_file(const KernelFile& file, const ProgramSize& size,
                            const analysis::ExplainOptions& options,
                            const std::optional<OutputFile>& output,
                            const std::optional<OutputFile>& page) {
  std::optional<analysis::WatchedLaunch> seen;
  analysis::LaunchWatch watch(page.has_value());
  DeviceOptions device;
  device.gpu = options.gpu;
  const auto backend = make_metal_virtual_backend(
      device, [&](const vgpu::LaunchReport& report, const vgpu::Kernel& kernel) {
        seen = watch.take(report, kernel);
      });
  const auto kernel = std::make_shared<const MetalKernel>(file, *metal_virtual_device_of(*backend));
  call_once(MetalFile(kernel), file.signature, size);
  for (const vgpu::Hazard& hazard : seen->report.hazards) {
    fmt::print(stderr, "hazard: {}\n", emu::with_readable_names(hazard.message));
  }
  const vgpu::ptx::Module text = vgpu::ptx::parse(kernel->ptx(), file.name());
  analysis::Explanation explanation = analysis::explain_kernel(
      seen->report.kernel,
      {{analysis::make_trace(seen->report, seen->sites, text), seen->footprint}}, kernel->ptx(),
      options);
  analysis::put_in_metal(explanation, options.device);
  const auto is_stdout = [](const auto& of) { return of && of->is_stdout(); };
  std::FILE* out = is_stdout(output) || is_stdout(page) ? stderr : stdout;
  const std::string problem = fmt::format("of {} on {}", file.path.string(), options.device.name);
  fmt::print(out, "{}{}{}", wrap(seen->report.kernel + " " + problem, 0), wrap(metal_rates, 0),
             explanation_text(explanation));
  if (page) {
    page->write(explanation_page(
        {seen->report.kernel, problem, nullptr, file.text}, explanation, {},
        {{seen->report.kernel, "its first dispatch", file.name(), file.text, seen->steps}}));
  }
  if (output) output->write(dump(as_json(file, *seen, explanation, options.device.name)));
  return seen->report.hazards.empty() ? exit_right : exit_wrong;
}

}  // namespace rung
