#include "explain_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

#include "core/temporary_folder.hpp"
#include "emu/compile/process.hpp"
#include "emu/compile/toolchain.hpp"
#include "emu/reports/conclusion.hpp"
#include "emu/reports/launch_json.hpp"
#include "emu/reports/summary.hpp"
#include "emu/runtime/options.hpp"
#include "progress.hpp"
#include "tools/analysis/toolkit.hpp"
#include "tools/kernel_file/kernel_file.hpp"
#include "tools/report/explanation.hpp"
#include "tools/report/explanation_changes.hpp"
#include "tools/report/page/explanation_page.hpp"
#include "tools/report/table.hpp"
#include "vgpu/ptx/parser.hpp"

namespace rung {
namespace {

namespace fs = std::filesystem;

/// nvcc if it is here: ptxas gets its PTX when the program is built as usual. The text that calls a rung's kernel is
/// clang's, like the rungs.
std::string compiler_of(const FileToExplain& file) {
  if (file.options.code == "nvcc") return emu::find_nvcc();
  if (file.options.code == "clang" || !file.program.empty()) return "";
  try {
    return emu::find_nvcc();
  } catch (const emu::MissingTool&) {
    return "";
  }
}

fs::path compile(const FileToExplain& file, const fs::path& folder) {
  const vgpu::DeviceDescription& device = file.options.device;
  emu::CompileOptions options;
  options.sources = {file.program.empty() ? file.source : file.program};
  options.passed = file.compiled_with;
  options.architecture = architecture_for(10 * device.compute_major + device.compute_minor);
  try {
    options.nvcc = compiler_of(file);
    if (!options.nvcc.empty() && file.options.code != "nvcc") {
      try {
        return emu::compile(options, emu::find_installation(), emu::find_clang(), folder);
      } catch (const emu::CompileError&) {
        fmt::print(stderr, "rung: nvcc does not compile {}: the code is clang's\n", file.source);
        options.nvcc.clear();
      }
    }
    return emu::compile(options, emu::find_installation(), emu::find_clang(), folder);
  } catch (const emu::MissingTool& error) {
    throw UnavailableError(error.what());
  }
}

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// True if `name` names the kernel: "reduce" also names "reduce<256>".
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

using Launches = std::vector<analysis::KernelLaunch>;

/// The launches of each kernel, or of the kernel `asked`, in the order of their first launches.
std::vector<std::pair<std::string, Launches>> launches_of(const emu::Records& records,
                                                          const std::string& asked,
                                                          const std::string& ptx) {
  const vgpu::ptx::Module text = vgpu::ptx::parse(ptx, "the program's PTX");
  std::vector<std::pair<std::string, Launches>> kernels;
  std::set<std::string> names;
  for (const emu::Json& launch : records.launches) {
    const std::string name = launch.at("name");
    names.insert(name);
    const bool meant = asked.empty() || is_called(name, asked);
    // The PTX of modules that the program loads at run time is unknown.
    const bool is_here = text.find(launch.at("symbol").get<std::string>()) != nullptr;
    if (!meant || !is_here || !launch.contains("sites") || !launch.contains("footprint")) continue;
    auto kernel = std::find_if(kernels.begin(), kernels.end(),
                               [&](const auto& known) { return known.first == name; });
    if (kernel == kernels.end()) kernel = kernels.insert(kernels.end(), {name, {}});
    kernel->second.push_back({analysis::make_trace(report_of(launch), sites_of(launch), text),
                              emu::footprint(launch.at("footprint"))});
  }
  if (!kernels.empty()) return kernels;
  if (asked.empty()) throw UsageError("FILE: the program launched no kernel of this file");
  throw UsageError(
      fmt::format("KERNEL: '{}' was not launched; {}", asked,
                  names.empty() ? "no kernel was"
                                : fmt::format("the program launched {}", fmt::join(names, ", "))));
}

/// The launches of the whole product, from those of the sample's calls one after the other. Empty if
/// they do not follow.
Launches whole_launches(const Launches& launches, const analysis::SampledProduct& product) {
  constexpr std::size_t calls = 3;
  const std::size_t of_call = launches.size() / calls;
  if (launches.size() != calls * of_call) return {};
  const auto trace = [&](std::size_t at) {
    analysis::KernelTrace of = launches[at].trace;
    of.footprint = launches[at].footprint;
    return of;
  };
  Launches all;
  for (std::size_t i = 0; i < of_call; ++i) {
    const auto whole =
        analysis::whole_launch(product, trace(i), trace(of_call + i), trace(2 * of_call + i));
    if (!whole) return {};
    all.push_back({*whole, whole->footprint});
  }
  return all;
}

std::string describe_sample(const analysis::SampledProduct& product) {
  return fmt::format("products of {}x{}, at k = {} and {}", product.first.m, product.first.n,
                     product.first.k, product.deeper.k);
}

struct ExplainedKernel {
  std::string name;
  analysis::Explanation explanation;

  double seconds() const { return explanation.diagnosis->time.seconds; }
};

/// True if the kernels of the file's sample show those of its call.
bool sample_suffices(const FileToExplain& file, const emu::Records& records,
                     const std::string& ptx) {
  return std::ranges::none_of(launches_of(records, file.kernel, ptx), [&](const auto& kernel) {
    return whole_launches(kernel.second, *file.sample).empty();
  });
}

std::vector<ExplainedKernel> explained(const FileToExplain& file, const emu::Records& records,
                                       const std::string& ptx) {
  std::vector<ExplainedKernel> kernels;
  for (const auto& [name, run] : launches_of(records, file.kernel, ptx)) {
    const Launches launches = file.sample ? whole_launches(run, *file.sample) : run;
    kernels.push_back({name, analysis::explain_kernel(name, launches, ptx, file.options)});
    if (file.sample) kernels.back().explanation.sample = describe_sample(*file.sample);
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const auto& a, const auto& b) { return a.seconds() > b.seconds(); });
  return kernels;
}

/// Repeats the number of hazards on standard output: standard error may be redirected.
std::string hazards_line(const emu::Reports& reports) {
  const std::size_t found = reports.failing();
  return found == 0 ? "hazards: none\n" : fmt::format("hazards: {}, on standard error\n", found);
}

/// If there are several kernels, a line for each: its time, and the most expensive cause.
std::string summary(const std::vector<ExplainedKernel>& kernels) {
  if (kernels.size() < 2) return "";
  constexpr std::size_t width = 36;
  std::string text = fmt::format("{} kernels, the longest first\n\n{:>10}  {:{}}  first cause\n",
                                 kernels.size(), "predicted", "kernel", width);
  for (const auto& [name, explanation] : kernels) {
    const analysis::diagnosis::Diagnosis& diagnosis = *explanation.diagnosis;
    const std::string cause = diagnosis.findings.empty()
                                  ? "none that costs much"
                                  : fmt::format("{}, {:.0f} %", diagnosis.findings.front().name,
                                                100 * diagnosis.findings.front().cost);
    const std::string shown = name.size() <= width ? name : name.substr(0, width - 3) + "...";
    text += fmt::format("{:>10}  {:{}}  {}\n", format_seconds(diagnosis.time.with_launch()), shown,
                        width, cause);
  }
  return text + "\n";
}

/// The recorded steps of the kernel's first launch.
std::vector<Stepped> stepped(const FileToExplain& file, const std::string& kernel,
                             const emu::Records& records, const std::string& source) {
  for (const emu::Json& launch : records.launches) {
    if (launch.at("name") != kernel || !launch.contains("steps")) continue;
    return {{kernel, "its first launch", fs::path(file.source).filename().string(), source,
             launch.at("steps")}};
  }
  return {};
}

/// The counters of each line, summed over the kernel's launches.
std::vector<vgpu::LineCounters> lines_of(const std::string& kernel, const emu::Records& records) {
  std::map<std::string, vgpu::LineCounters> lines;
  for (const emu::Json& launch : records.launches) {
    if (launch.at("name") != kernel || !launch.contains("lines")) continue;
    for (const emu::Json& json : launch.at("lines")) {
      const vgpu::LineCounters line = emu::line_counters(json);
      const auto [at, is_new] = lines.try_emplace(line.where, line);
      if (!is_new) at->second += line;
    }
  }
  std::vector<vgpu::LineCounters> all;
  for (const auto& [where, line] : lines) all.push_back(line);
  return all;
}

std::vector<std::string> failing(const emu::Reports& reports) {
  std::vector<std::string> messages;
  for (const emu::Report& report : reports.all()) {
    if (report.fails) messages.push_back(emu::describe(report));
  }
  return messages;
}

void write_page(const FileToExplain& file, const std::vector<ExplainedKernel>& kernels,
                const emu::Records& records, const emu::Reports& reports) {
  if (!file.page) return;
  if (kernels.size() > 1) {
    throw UsageError(fmt::format("--html: a page shows one kernel; name one of the {} as {}:{}",
                                 kernels.size(), file.source, kernels.front().name));
  }
  const auto& [name, explanation] = kernels.front();
  const std::string problem = fmt::format("of {} on {}", file.source, file.options.device.name);
  const std::string source = contents(file.source);
  file.page->write(
      explanation_page({name, problem, nullptr, source, failing(reports),
                        fs::path(file.source).filename().string(), lines_of(name, records)},
                       explanation, {}, stepped(file, name, records, source)));
}

/// A kernel that the user has named is at the top level; otherwise, "kernels" lists all.
Json json_of(const FileToExplain& file, const std::vector<ExplainedKernel>& kernels,
             const emu::Reports& reports) {
  Json json = {{"file", file.source}};
  if (!file.kernel.empty()) json["kernel"] = file.kernel;
  json["device"] = fmt::format("virtual {}", file.options.device.name);
  if (!file.kernel.empty()) {
    json.update(to_json(kernels.front().explanation));
  } else {
    for (const auto& [name, explanation] : kernels) {
      Json kernel = {{"kernel", name}};
      kernel.update(to_json(explanation));
      json["kernels"].push_back(kernel);
    }
  }
  json["hazards"] = Json::parse(dump(emu::to_json(reports)));
  return json;
}

/// The baseline; null without one. Read it before the program runs, so that a wrong file is
/// reported at once.
Json read_baseline(const std::string& path) {
  if (path.empty()) return nullptr;
  if (!fs::is_regular_file(path)) {
    throw UsageError(fmt::format("--baseline: '{}' is not a readable file", path));
  }
  Json json = Json::parse(contents(path), nullptr, false);
  if (!json.is_object()) {
    throw UsageError(
        fmt::format("--baseline: {}: is not what rung explain FILE.cu --json writes", path));
  }
  return json;
}

std::string changes(const FileToExplain& file, const Json& baseline, const Json& now) {
  if (baseline.is_null()) return "";
  try {
    return "\n" + changes_text(baseline, now, file.baseline);
  } catch (const std::runtime_error& error) {
    throw UsageError(fmt::format("--baseline: {}", error.what()));
  }
}

/// The error of a failed call, if the program launched no kernel; otherwise empty.
std::string call_that_failed(const emu::Records& records, const emu::Reports& reports) {
  if (!records.launches.empty()) return {};
  for (const emu::Report& report : reports.all()) {
    if (report.kind == name(vgpu::HazardKind::failed_call)) return report.message;
  }
  return records.errors.empty() ? "" : records.errors.front();
}

/// Runs the program, which writes its records to `report`. Returns its exit code.
int run_program(const FileToExplain& file, const fs::path& program, const fs::path& report) {
  std::vector<std::string> command = {program.string()};
  command.insert(command.end(), file.arguments.begin(), file.arguments.end());
  if (file.sample) {
    command.push_back(fmt::format("{}", file.sample->whole.n));
    for (const auto& [m, n, k] : {file.sample->first, file.sample->deeper, file.sample->taller}) {
      for (const std::int64_t extent : {m, n, k}) command.push_back(fmt::format("{}", extent));
    }
  }
  // One CPU thread, so that blocks run one after the other: footprints are by block.
  const emu::ExitStatus status = emu::run(command, {{emu::gpu_variable, file.options.gpu},
                                                    {emu::threads_variable, "1"},
                                                    {emu::sites_variable, "1"},
                                                    {emu::footprint_variable, "1"},
                                                    {emu::steps_variable, file.page ? "1" : "0"},
                                                    {emu::lines_variable, file.page ? "1" : "0"},
                                                    {emu::report_variable, report.string()}});
  if (const int signal = emu::HeldSignals::received(); signal != 0) throw emu::Interrupted{signal};
  return status.signal != 0 ? 128 + status.signal : status.code;
}

ExitCode explain(const FileToExplain& file) {
  if (!fs::is_regular_file(file.source)) {
    throw UsageError(fmt::format("FILE: '{}' is not a readable file", file.source));
  }
  const Json baseline = read_baseline(file.baseline);
  const TemporaryFolder folder;
  fs::path program;
  try {
    program = compile(file, folder.path());
  } catch (const emu::CompileError& error) {
    if (*error.what() != '\0') fmt::print(stderr, "rung: {}\n", error.what());
    return exit_wrong;
  }
  const auto is_stdout = [](const auto& output) { return output && output->is_stdout(); };
  std::FILE* out = is_stdout(file.output) || is_stdout(file.page) ? stderr : stdout;
  if (!file.call.empty()) fmt::print(out, "{}\n", file.call);
  std::fflush(out);  // show it now: a large product takes minutes
  const fs::path report = folder.path() / "report.jsonl";
  Progress progress;
  // A program with main() may write to the same terminal.
  if (!file.call.empty())
    progress.show("running on the virtual GPU, on one thread; --n sets a smaller size");
  const int exit_code = run_program(file, program, report);
  progress.clear();
  const emu::Records records = emu::read_records(report);
  const std::string ptx = contents(program.string() + ".ptx");
  if (file.sample && !records.launches.empty() && !sample_suffices(file, records, ptx)) {
    FileToExplain shorter = file;
    shorter.sample.reset();
    shorter.call = fmt::format("{} instead: its blocks are no tiles of C", file.shorter_call);
    return explain(shorter);
  }
  emu::Reports reports = emu::merge(records);
  emu::ReportOptions judgement;
  judgement.print_leaks = false;
  emu::judge(reports, judgement);
  // Print hazards first: the figures of an incorrect program mean little.
  fmt::print(stderr, "{}{}", emu::reports_text(reports, judgement),
             emu::reports_summary(reports, judgement));
  if (const std::string call = call_that_failed(records, reports); !call.empty()) {
    fmt::print(stderr, "rung: no kernel ran: {}\n", call);
    return exit_wrong;
  }
  const auto kernels = explained(file, records, ptx);
  fmt::print(out, "{}\n{}", hazards_line(reports), summary(kernels));
  for (const auto& [name, explanation] : kernels) {
    const std::string head =
        fmt::format("{} of {} on {}", name, file.source, file.options.device.name);
    fmt::print(out, "{}{}{}", &name == &kernels.front().name ? "" : "\n", wrap(head, 0),
               explanation_text(explanation));
  }
  write_page(file, kernels, records, reports);
  const Json json = json_of(file, kernels, reports);
  fmt::print(out, "{}", changes(file, baseline, json));
  if (file.output) file.output->write(dump(json));
  if (exit_code != 0) fmt::print(stderr, "rung: the program ended with exit code {}\n", exit_code);
  return exit_code != 0 || reports.any_wrong() ? exit_wrong : exit_right;
}

}  // namespace

ExitCode explain_file(const FileToExplain& file) {
  return emu::with_signals_held([&] { return explain(file); });
}

}  // namespace rung
