// rung report: results as one page, and as pictures.

#include <fmt/format.h>

#include <memory>
#include <optional>

#include "arguments.hpp"
#include "command_line.hpp"
#include "devices.hpp"
#include "report/page/page.hpp"
#include "report_files.hpp"

namespace rung {
namespace {

struct ReportArguments : DeviceArguments {
  std::vector<std::string> files;
  std::string output;
  std::string pictures;
  bool trace = true;
};

Results read_files(const ReportArguments& arguments) {
  try {
    return read_results(arguments.files);
  } catch (const std::runtime_error& error) {
    throw UsageError(std::string("FILE: ") + error.what());
  }
}

ExitCode run(const ReportArguments& arguments) {
  if (arguments.output.empty() && arguments.pictures.empty()) {
    throw UsageError("-o: a file is needed, such as report.html, or --pictures; see --help");
  }
  const Results results = read_files(arguments);
  const DeviceOptions options = read_device_options(arguments);
  const auto output = read_output("-o", arguments.output);
  const Traces traces = arguments.trace ? trace_rungs(results, options) : Traces();
  if (output) output->write(report_page(results, traces));
  if (!arguments.pictures.empty()) write_pictures(arguments.pictures, results, traces);
  return exit_right;
}

}  // namespace

Action add_report(Options& app) {
  auto arguments = std::make_shared<ReportArguments>();
  app.add_option("FILE", arguments->files, "What rung bench --json wrote")
      ->type_name("")
      ->required();
  app.add_option("-o,--output", arguments->output, "The page; - for standard output")
      ->type_name("FILE");
  app.add_option("--pictures", arguments->pictures, "Write each plot to a folder as well, as SVG")
      ->type_name("FOLDER");
  app.add_flag_callback(
      "--no-trace", [arguments] { arguments->trace = false; },
      "Run nothing on the virtual GPU: no counters and no access maps");
  arguments->add_gpu_and_code(app);
  app.footer(
      "One page that needs nothing else: tables, plots, and each rung's source with what its\n"
      "lines did on the virtual GPU.\n\n"
      "Examples:\n"
      "  rung report results/nvidia-h200/gemm-f32*.json -o report.html\n"
      "  rung report gemm.json --pictures pictures");
  return [arguments] { return run(*arguments); };
}

}  // namespace rung
