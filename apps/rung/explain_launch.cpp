// Explains a launch of one kernel.

#include <fmt/format.h>

#include <optional>

#include "arguments.hpp"
#include "emu/reports/launch_json.hpp"
#include "explain_metal_file.hpp"
#include "launch_report.hpp"
#include "run.hpp"
#include "tools/analysis/explain_metal.hpp"
#include "tools/analysis/kernel_trace.hpp"
#include "tools/analysis/launch_watch.hpp"
#include "tools/analysis/toolkit.hpp"
#include "tools/report/explanation.hpp"
#include "tools/report/page/explanation_page.hpp"
#include "tools/report/table.hpp"
#include "vgpu/ptx/parser.hpp"

namespace rung {

analysis::Explanation explanation_of(const any_kernel::Program& program, const std::string& kernel,
                                     const analysis::WatchedLaunch& seen,
                                     const analysis::ExplainOptions& options) {
  const vgpu::ptx::Module text = vgpu::ptx::parse(program.ptx, program.file_name());
  const analysis::KernelLaunch traced = {analysis::make_trace(seen.report, seen.sites, text),
                                         seen.footprint};
  analysis::Explanation explanation =
      analysis::explain_kernel(kernel, {traced}, program.ptx, options);
  if (program.is_metal) analysis::put_in_metal(explanation, options.device);
  return explanation;
}

namespace {

Json as_json(const KernelLaunch& launch, const any_kernel::Outcome& outcome,
             const analysis::Explanation& explanation) {
  Json kernel = {{"kernel", launch.kernel().name}};
  kernel.update(to_json(explanation));
  Json hazards = Json::array();
  for (const vgpu::Hazard& hazard : outcome.report.hazards) hazards.push_back(emu::to_json(hazard));
  return {{"file", launch.program().path.string()},
          {"device", "virtual " + launch.device().name},
          {"kernels", Json::array({std::move(kernel)})},
          {"hazards", std::move(hazards)}};
}

}  // namespace

ExitCode explain_launch(const LaunchedFile& file, const LaunchArguments& arguments,
                        const analysis::ExplainOptions& options, const std::string& json,
                        const std::string& html) {
  const auto output = read_json(json), page = read_output("--html", html);
  KernelLaunch launch(file, arguments);
  std::optional<analysis::WatchedLaunch> seen;
  analysis::LaunchWatch watch(page.has_value());
  launch.request().cpu_threads = 1;  // footprints are of blocks one after the other
  launch.request().observer = [&](const vgpu::LaunchReport& report, const vgpu::Kernel& kernel) {
    seen = watch.take(report, kernel);
  };
  const any_kernel::Outcome outcome = launch.run();
  for (const vgpu::Hazard& hazard : outcome.report.hazards) {
    fmt::print(stderr, "hazard: {}\n", hazard.message);
  }
  const analysis::Explanation explanation =
      explanation_of(launch.program(), launch.kernel().name, *seen, options);
  const auto is_stdout = [](const auto& of) { return of && of->is_stdout(); };
  std::FILE* out = is_stdout(output) || is_stdout(page) ? stderr : stdout;
  fmt::print(out, "{}", launch.head());
  if (launch.program().is_metal) fmt::print(out, "{}", wrap(metal_rates, 0));
  fmt::print(out, "{}", explanation_text(explanation));
  const std::string name = launch.kernel().name;
  if (page) {
    const any_kernel::Program& program = launch.program();
    const std::string problem =
        fmt::format("of {} on {}", program.path.string(), launch.device().name);
    page->write(
        explanation_page({name, problem, nullptr, program.text}, explanation, {},
                         {{name, "the launch", program.file_name(), program.text, seen->steps}}));
  }
  if (output) output->write(dump(as_json(launch, outcome, explanation)));
  return outcome.is_right() ? exit_right : exit_wrong;
}

}  // namespace rung
