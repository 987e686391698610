#include "emulated_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "arguments.hpp"
#include "core/temporary_folder.hpp"
#include "emu/compile/process.hpp"
#include "emu/reports/summary.hpp"
#include "emu/runtime/options.hpp"
#include "emu_orders.hpp"
#include "help.hpp"
#include "tools/report/json.hpp"

namespace rung {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t max_limit = std::int64_t{1} << 50;
constexpr std::int64_t max_exit_code = 255;
constexpr std::int64_t max_threads = 1024;
constexpr std::int64_t max_devices = 16;

vgpu::DeviceDescription read_gpu(const std::string& text) {
  try {
    return vgpu::parse_device(text.empty() ? "h200" : text);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--gpu: {}", error.what()));
  }
}

std::vector<std::pair<std::string, std::string>> variables(const EmulationArguments& arguments,
                                                           std::uint64_t order,
                                                           const fs::path& report) {
  return {
      {emu::gpu_variable, arguments.gpu},
      {emu::check_variable, arguments.no_check ? "0" : "1"},
      // The usual order is the same in each run on one CPU thread, with which others are compared.
      {emu::threads_variable, arguments.schedule.empty() ? arguments.threads : "1"},
      {emu::limit_variable, arguments.limit},
      {emu::launches_variable, arguments.launches},
      {emu::ci_variable, arguments.ci ? "1" : "0"},
      {emu::devices_variable, arguments.devices},
      {emu::lines_variable, arguments.lines ? "1" : "0"},
      {emu::order_variable, arguments.no_order ? "0" : "1"},
      {emu::allow_unchecked_errors_variable, arguments.allow_unchecked_errors ? "1" : ""},
      {emu::each_launch_variable, arguments.json.empty() ? "0" : "1"},
      {emu::schedule_variable, arguments.any() ? std::to_string(order) : ""},
      {emu::report_variable, report.string()}};
}

emu::ReportOptions report_options(const EmulationArguments& arguments) {
  emu::ReportOptions options;
  options.leak_check = arguments.leak_check;
  options.gen_suppressions = arguments.gen_suppressions;
  for (const std::string& path : arguments.suppressions) {
    try {
      for (auto& entry : emu::read_suppressions(path)) options.suppressions.push_back(entry);
    } catch (const std::invalid_argument& error) {
      throw UsageError(fmt::format("--suppressions: {}", error.what()));
    }
  }
  if (!arguments.fail_on.empty()) {
    const auto severity = emu::severity_named(arguments.fail_on);
    if (!severity) {
      throw UsageError(
          fmt::format("--fail-on: '{}' is not error, warning or note", arguments.fail_on));
    }
    options.fail_on = *severity;
  }
  if (!arguments.error_exit_code.empty()) {
    options.error_exit_code = static_cast<int>(
        read_integer("--error-exitcode", arguments.error_exit_code, 0, max_exit_code));
  }
  return options;
}

void check_numbers(const EmulationArguments& arguments) {
  if (!arguments.threads.empty()) read_integer("--threads", arguments.threads, 1, max_threads);
  if (!arguments.limit.empty()) read_integer("--limit", arguments.limit, 1, max_limit);
  if (!arguments.launches.empty()) read_integer("--launches", arguments.launches, 1, max_limit);
  if (!arguments.devices.empty()) read_integer("--device-count", arguments.devices, 1, max_devices);
}

void print_end(const emu::ExitStatus& status, const emu::Records& records,
               const emu::Reports& reports, const emu::ReportOptions& options) {
  if (status.signal != 0) {
    const emu::Json ended = {{"signal", status.signal}};
    fmt::print(stderr, "rung emu: the program was ended by {}\n",
               emu::interruption(records.interrupted.is_null() ? ended : records.interrupted));
  } else if (status.code != 0) {
    fmt::print(stderr, "rung emu: the program ended with exit code {}\n", status.code);
  }
  fmt::print(stderr, "{}", reports_summary(reports, options));
  const bool has_launched = !records.launches.empty() || records.interrupted.contains("kernel");
  if (!has_launched) fmt::print(stderr, "rung emu: no kernel was launched\n");
}

}  // namespace

EmulatedProgram::EmulatedProgram(const EmulationArguments& arguments)
    : arguments_(arguments), gpu_(read_gpu(arguments.gpu)), orders_(arguments.orders()) {
  check_numbers(arguments);
  options_ = report_options(arguments);
  json_ = read_json(arguments.json);
  junit_ = read_output("--junit", arguments.junit);
  sarif_ = read_output("--sarif", arguments.sarif);
  check_apart(
      {{"--json", arguments.json}, {"--junit", arguments.junit}, {"--sarif", arguments.sarif}});
}

ExitCode EmulatedProgram::run(const std::vector<std::string>& command, const std::string& source,
                              std::vector<std::pair<std::string, std::string>> given) const {
  const TemporaryFolder folder("rung-emu-");
  const fs::path report = folder.path() / "report.jsonl";
  const auto run_in = [&](std::uint64_t order, const std::string& output) {
    fs::remove(report);
    auto all = given;
    for (auto& each : variables(arguments_, order, report)) all.push_back(std::move(each));
    const emu::ExitStatus ended = emu::run(command, all, output);
    return ProgramOutcome{ended, emu::read_records(report), {}};
  };
  OrderResults results(orders_);
  ProgramOutcome outcome = run_orders(orders_, run_in, folder.path(), results);
  const emu::ExitStatus& status = outcome.status;
  emu::Records& records = outcome.records;
  const int asked_to_end = emu::HeldSignals::received();

  if (arguments_.lines) emu::add_text(records, source);
  emu::Reports reports = merge(records);
  judge(reports, options_);
  const std::string text = reports_text(reports, options_);
  fmt::print(stderr, "\n{}{}{}{}{}", launch_tables(records), text.empty() ? "" : "\n", text,
             failed_calls(records), summarize_lines(records, terminal_width(STDERR_FILENO)));
  fmt::print(stderr, "{}", results.text("rung emu: "));
  print_end(status, records, reports, options_);

  if (json_) {
    emu::Json json = to_json(records, reports);
    if (arguments_.any()) json["schedule"] = results.json();
    json_->write(dump(json));
  }
  emu::ProgramRun run;
  run.program = fs::path(source).filename().string();
  run.command.assign(command.begin() + 1, command.end());
  if (status.signal == 0) run.exit_code = status.code;
  run.signal = status.signal;
  run.root = emu::report_root(fs::current_path());
  run.first_source = source;
  if (junit_) junit_->write(to_junit(reports, run));
  if (sarif_) sarif_->write(dump(to_sarif(reports, run)));
  // A program that has ended well in spite of a signal takes it for something else.
  if (asked_to_end != 0 && status.signal != 0) throw emu::Interrupted{asked_to_end};
  const int own = status.signal != 0 ? exit_wrong : status.code;
  return static_cast<ExitCode>(judged_exit_code(own, reports, options_));
}

void add_emulation_options(Options& app, EmulationArguments& arguments) {
  app.add_option(
         "--gpu", arguments.gpu,
         "GPU model to simulate: h200, h100, a100, t4, rtx3090, rtx4090, b200 or rtx5090 (default: "
         "b200 for code of sm_100a, rtx5090 for sm_120a, otherwise h200); override properties as "
         "in h200,multiprocessors=4")
      ->type_name("GPU")
      ->offers(gpu_words);
  app.add_alias("--devices", "--device-count");
  app.add_option("--device-count", arguments.devices,
                 "Show the program N devices of this model, 1 to 16, which are peers of each other "
                 "(default: 1)")
      ->type_name("N");
  app.add_flag("--no-check", arguments.no_check,
               "Disable counters and hazard detection, to run faster");
  app.add_flag("--no-order", arguments.no_order,
               "Do not check the order of kernels, copies and host accesses across streams, events "
               "and graphs");
  app.add_flag("--lines", arguments.lines, "Print counters for each source line, hottest first");
  app.add_option("--threads", arguments.threads, "Use at most N CPU threads")->type_name("N");
  app.add_option("--limit", arguments.limit, "Abort a launch after N warp instructions")
      ->type_name("N");
  app.add_option("--launches", arguments.launches,
                 "Run the first N launches of each kernel and skip the others, for programs that "
                 "repeat a kernel to measure it (default: all run)")
      ->type_name("N");
  app.add_flag("--ci", arguments.ci,
               "Check and count the first three launches of each kernel and configuration, and run "
               "the others without");
  arguments.add_orders(app);
  app.add_option("--json", arguments.json, "Write the counters and hazards of each launch as JSON")
      ->type_name("FILE");
  app.add_flag("--leak-check", arguments.leak_check,
               "Also fail a program that does not free its device memory");
  app.add_flag("--allow-unchecked-errors", arguments.allow_unchecked_errors,
               "Accept CUDA calls and launches that fail although the program neither uses their "
               "result nor calls cudaGetLastError (default: they are hazards)");
  app.add_option("--suppressions", arguments.suppressions,
                 "Ignore the reports that this file lists; may be repeated")
      ->type_name("FILE");
  app.add_flag("--gen-suppressions", arguments.gen_suppressions,
               "After the reports, print an entry for --suppressions for each");
  app.add_option("--error-exitcode", arguments.error_exit_code,
                 "Exit code if hazards were found, 1 to 255; 0 for the program's own in any case "
                 "(default: the program's own, or 1 if that is 0)")
      ->type_name("N");
  app.add_option("--fail-on", arguments.fail_on,
                 "Least severity of the reports that fail the program: error, warning or note "
                 "(default: warning)")
      ->type_name("LEVEL");
  app.add_option("--junit", arguments.junit, "Write a test case for each kernel as JUnit XML")
      ->type_name("FILE");
  app.add_option("--sarif", arguments.sarif,
                 "Write the hazards with their source lines as SARIF 2.1.0")
      ->type_name("FILE");
}

}  // namespace rung
