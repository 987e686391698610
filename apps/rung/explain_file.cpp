#include "explain_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "analysis/toolkit.hpp"
#include "emu/launch_json.hpp"
#include "emu/options.hpp"
#include "emu/process.hpp"
#include "emu/summary.hpp"
#include "emu/toolchain.hpp"
#include "report/explanation.hpp"
#include "report/page/explanation_page.hpp"
#include "vgpu/ptx/parser.hpp"

namespace rung {
namespace {

namespace fs = std::filesystem;

fs::path compile(const FileToExplain& file, const fs::path& folder) {
  const vgpu::DeviceDescription& device = file.options.device;
  emu::CompileOptions options;
  options.sources = {file.source};
  options.architecture = fmt::format("sm_{}{}", device.compute_major, device.compute_minor);
  try {
    return emu::compile(options, emu::find_installation(), emu::find_clang(), folder);
  } catch (const emu::MissingTool& error) {
    throw UnavailableError(error.what());
  }
}

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// "reduce<256>" also matches "reduce".
bool is_called(const std::string& kernel, const std::string& name) {
  return kernel == name || kernel.substr(0, kernel.find('<')) == name;
}

vgpu::LaunchReport report_of(const emu::Json& launch) {
  const auto extent = [&](const char* what) {
    const emu::Json& of = launch.at(what);
    return vgpu::Dim3{of.at(0), of.at(1), of.at(2)};
  };
  vgpu::LaunchReport report;
  report.kernel = launch.at("symbol");
  report.grid = extent("grid");
  report.block = extent("block");
  report.shared = launch.at("shared");
  report.counters = emu::counters(launch.at("counters"));
  return report;
}

std::vector<analysis::SiteCount> sites_of(const emu::Json& launch) {
  std::vector<analysis::SiteCount> sites;
  for (const emu::Json& site : launch.at("sites")) {
    sites.push_back({site.at(0), site.at(1), site.at(2), site.at(3)});
  }
  return sites;
}

std::vector<analysis::KernelTrace> traces_of(const emu::Records& records, const std::string& name,
                                             const std::string& ptx) {
  const vgpu::ptx::Module text = vgpu::ptx::parse(ptx, name);
  std::vector<analysis::KernelTrace> traces;
  std::set<std::string> names;
  for (const emu::Json& launch : records.launches) {
    names.insert(launch.at("name").get<std::string>());
    if (!is_called(launch.at("name"), name) || !launch.contains("sites")) continue;
    traces.push_back(analysis::make_trace(report_of(launch), sites_of(launch), text));
  }
  if (!traces.empty()) return traces;
  std::string launched;
  for (const std::string& one : names)
    launched += fmt::format("{}{}", launched.empty() ? "" : ", ", one);
  throw UsageError(fmt::format(
      "KERNEL: '{}' was not launched; {}", name,
      names.empty() ? "no kernel was" : fmt::format("the program launched {}", launched)));
}

ExitCode explain(const FileToExplain& file) {
  if (!fs::is_regular_file(file.source)) {
    throw UsageError(fmt::format("FILE: '{}' is not a readable file", file.source));
  }
  const analysis::ScratchFolder folder;
  fs::path program;
  try {
    program = compile(file, folder.path());
  } catch (const emu::CompileError& error) {
    if (*error.what() != '\0') fmt::print(stderr, "rung: {}\n", error.what());
    return exit_wrong;
  }
  const fs::path report = folder.path() / "report.jsonl";
  std::vector<std::string> command = {program.string()};
  command.insert(command.end(), file.arguments.begin(), file.arguments.end());
  const emu::ExitStatus status = emu::run(command, {{emu::gpu_variable, file.options.gpu},
                                                    {emu::sites_variable, "1"},
                                                    {emu::report_variable, report.string()}});
  if (const int signal = emu::HeldSignals::received(); signal != 0) throw emu::Interrupted{signal};
  const std::string ptx = contents(program.string() + ".ptx");
  const emu::Records records = emu::read_records(report);
  const analysis::Explanation explanation = analysis::explain_kernel(
      file.kernel, traces_of(records, file.kernel, ptx), ptx, file.options);
  const auto is_stdout = [](const auto& output) { return output && output->is_stdout(); };
  std::FILE* out = is_stdout(file.output) || is_stdout(file.page) ? stderr : stdout;
  fmt::print(out, "{} of {} on {}\n{}", file.kernel, file.source, file.options.device.name,
             explanation_text(explanation));
  if (file.page) {
    const std::string problem = fmt::format("of {} on {}", file.source, file.options.device.name);
    file.page->write(
        explanation_page({file.kernel, problem, nullptr, contents(file.source)}, explanation, {}));
  }
  if (file.output) {
    Json json = {{"file", file.source},
                 {"kernel", file.kernel},
                 {"device", fmt::format("virtual {}", file.options.device.name)}};
    json.update(to_json(explanation));
    file.output->write(dump(json));
  }
  if (status.signal != 0 || status.code != 0) {
    fmt::print(stderr, "rung: the program ended with exit code {}\n",
               status.signal != 0 ? 128 + status.signal : status.code);
    return exit_wrong;
  }
  return exit_right;
}

}  // namespace

ExitCode explain_file(const FileToExplain& file) {
  return emu::with_signals_held([&] { return explain(file); });
}

}  // namespace rung
