// rung report: renders results as a page, as pictures, and as tables in Markdown.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "arguments.hpp"
#include "command_line.hpp"
#include "devices.hpp"
#include "report_files.hpp"
#include "tools/report/markdown.hpp"
#include "tools/report/page/page.hpp"

namespace rung {
namespace {

struct ReportArguments : DeviceArguments {
  std::vector<std::string> files;
  std::string output;
  std::string pictures;
  std::string markdown;
  bool trace = true;
};

Results read_files(const ReportArguments& arguments, Results::Forms forms) {
  try {
    return read_results(arguments.files, forms);
  } catch (const std::runtime_error& error) {
    throw UsageError(std::string("FILE: ") + error.what());
  }
}

ExitCode write_markdown(const ReportArguments& arguments) {
  const std::string& kind = arguments.markdown;
  if (std::ranges::find(markdown_kinds, kind) == markdown_kinds.end()) {
    throw UsageError(
        fmt::format("--markdown: '{}' is not one of {}", kind, fmt::join(markdown_kinds, ", ")));
  }
  if (!arguments.pictures.empty())
    throw UsageError("--markdown: cannot be combined with --pictures");
  if (arguments.files.size() > 1 && !takes_several_files(kind)) {
    throw UsageError(fmt::format("--markdown: the table '{}' is of one file, not of {}", kind,
                                 arguments.files.size()));
  }
  const Results results = read_files(arguments, Results::Forms::all);
  const auto output = read_output("-o", arguments.output.empty() ? "-" : arguments.output);
  std::string table;
  try {
    table = markdown_table(kind, results);
  } catch (const std::runtime_error& error) {
    throw UsageError(fmt::format("--markdown: {}", error.what()));
  }
  output->write(table);
  return exit_right;
}

ExitCode run(const ReportArguments& arguments) {
  if (!arguments.markdown.empty()) return write_markdown(arguments);
  if (arguments.output.empty() && arguments.pictures.empty()) {
    throw UsageError("-o: expected an output file, such as report.html, or --pictures FOLDER");
  }
  const Results results = read_files(arguments, Results::Forms::single_products);
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
  app.add_option("FILE", arguments->files, "Results written by rung bench --json, in either form")
      ->type_name("")
      ->required();
  app.add_option(
         "-o,--output", arguments->output,
         "Write the page to FILE, - for standard output; or to FOLDER/ an index, and a page "
         "for each rung and each type")
      ->type_name("FILE");
  app.add_option("--pictures", arguments->pictures, "Also write each plot to FOLDER, as SVG")
      ->type_name("FOLDER");
  app.add_option(
         "--markdown", arguments->markdown,
         fmt::format("Print one table in Markdown instead: {}", fmt::join(markdown_kinds, ", ")))
      ->type_name("KIND");
  app.add_flag_callback(
      "--no-trace", [arguments] { arguments->trace = false; },
      "Do not run the rungs on the virtual GPU: omit counters and access maps");
  arguments->add_gpu_and_code(app);
  app.footer(
      "Writes one self-contained page, or a folder of them: tables, plots, and each rung's source\n"
      "with its counters per line, from the virtual GPU.\n\n"
      "Examples:\n"
      "  rung report results/nvidia-h200/*.jsonl -o report/\n"
      "  rung report results/nvidia-h200/gemm-f32*.jsonl -o report.html\n"
      "  rung report results/nvidia-h200/gemm-f32.jsonl --markdown library\n"
      "  rung report gemm.json --pictures pictures");
  return [arguments] { return run(*arguments); };
}

}  // namespace rung
