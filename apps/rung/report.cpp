// rung report: renders results as a page, and as pictures.

#include <fmt/format.h>

#include <filesystem>
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
    throw UsageError("-o: expected an output file, such as report.html, or --pictures FOLDER");
  }
  const Results results = read_files(arguments);
  const DeviceOptions options = read_device_options(arguments);
  const bool is_folder =
      arguments.output.ends_with('/') || std::filesystem::is_directory(arguments.output);
  const auto output = read_output("-o", is_folder ? "" : arguments.output);
  const Traces traces = arguments.trace ? trace_rungs(results, options) : Traces();
  if (output) output->write(report_page(results, traces));
  if (is_folder) write_site(arguments.output, results, traces);
  if (!arguments.pictures.empty()) write_pictures(arguments.pictures, results, traces);
  return exit_right;
}

}  // namespace

Action add_report(Options& app) {
  auto arguments = std::make_shared<ReportArguments>();
  app.add_option("FILE", arguments->files, "Results written by rung bench --json")
      ->type_name("")
      ->required();
  app.add_option(
         "-o,--output", arguments->output,
         "Write the page to FILE, - for standard output; or to FOLDER/ an index, and a page "
         "for each rung and each type")
      ->type_name("FILE");
  app.add_option("--pictures", arguments->pictures, "Also write each plot to FOLDER, as SVG")
      ->type_name("FOLDER");
  app.add_flag_callback(
      "--no-trace", [arguments] { arguments->trace = false; },
      "Do not run the rungs on the virtual GPU: omit counters and access maps");
  arguments->add_gpu_and_code(app);
  app.footer(
      "Writes one self-contained page, or a folder of them: tables, plots, and each rung's source\n"
      "with its counters per line, from the virtual GPU.\n\n"
      "Examples:\n"
      "  rung report results/nvidia-h200/*.json -o report/\n"
      "  rung report results/nvidia-h200/gemm-f32*.json -o report.html\n"
      "  rung report gemm.json --pictures pictures");
  return [arguments] { return run(*arguments); };
}

}  // namespace rung
