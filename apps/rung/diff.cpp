// rung diff: shows the changes from one rung to another.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "arguments.hpp"
#include "command_line.hpp"
#include "tools/analysis/explanation.hpp"
#include "tools/report/page/explanation_page.hpp"
#include "tools/report/unified_diff.hpp"

namespace rung {
namespace {

struct DiffArguments {
  std::vector<std::string> selectors;
  std::string html;
};

struct Text {
  std::string name, text;
  const RungInfo* rung = nullptr;  // null for a file
};

/// Reads the source of a rung, or a file of the user.
Text read_one(const std::string& selector) {
  if (selector.ends_with(".cu") || selector.ends_with(".metal")) {
    std::ifstream file(selector, std::ios::binary);
    if (!std::filesystem::is_regular_file(selector) || !file) {
      throw UsageError(fmt::format("RUNG: '{}' is not a readable file", selector));
    }
    return {selector, {std::istreambuf_iterator<char>(file), {}}};
  }
  const auto rungs = read_selectors({selector});
  if (rungs.size() != 1) {
    throw UsageError(fmt::format(
        "RUNG: '{}' selects {} rungs; diff takes two rungs, each selected by one argument",
        selector, rungs.size()));
  }
  return {rungs.front()->id, std::string(rungs.front()->source), rungs.front()};
}

/// True on a terminal, unless NO_COLOR is set (no-color.org).
bool is_coloured() {
  const char* refused = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && (refused == nullptr || *refused == '\0');
}

/// Traces one tile on the usual virtual GPU, like rung explain --html.
RungTrace trace_of(const Text& text) {
  if (text.rung == nullptr || is_for(*text.rung, "cpu")) {
    throw UsageError(fmt::format("--html: '{}' is not a rung for GPUs", text.name));
  }
  constexpr cuda::GemmSize measured = {4096, 4096, 4096};
  DeviceOptions device;
  device.gpu = usual_gpu(*text.rung);
  RungTrace trace =
      RungTracer(device).trace(*text.rung, analysis::usual_dtype(*text.rung), measured);
  if (!trace.why_not.empty()) {
    throw UnavailableError(fmt::format("{}: {}", text.name, trace.why_not));
  }
  return trace;
}

ExitCode run(const DiffArguments& arguments) {
  const Text from = read_one(arguments.selectors[0]);
  const Text to = read_one(arguments.selectors[1]);
  if (const auto page = read_output("--html", arguments.html)) {
    const RungTrace before = trace_of(from), after = trace_of(to);
    page->write(comparison_page(*from.rung, before, *to.rung, after));
    if (page->is_stdout()) return exit_right;
  }
  fmt::print("{}", unified_diff({from.name, from.text}, {to.name, to.text}, is_coloured()));
  return exit_right;
}

}  // namespace

Action add_diff(Options& app) {
  auto arguments = std::make_shared<DiffArguments>();
  app.add_option("RUNG", arguments->selectors,
                 "Two rungs, such as gemm/cuda/02 gemm/cuda/03, or files of yours")
      ->type_name("")
      ->required()
      ->expected(2)
      ->offers(selector_words);
  app.add_option("--html", arguments->html,
                 "Also write a page that steps through a warp of each, side by side; - for\n"
                 "standard output")
      ->type_name("FILE");
  app.footer(
      "Prints a unified diff of the two sources, as built into this program; coloured on a\n"
      "terminal, unless NO_COLOR is set.\n\n"
      "Examples:\n  rung diff gemm/cuda/05 gemm/cuda/06\n  rung diff gemm/cpu/03 gemm/cpu/04\n"
      "  rung diff gemm/cuda/04 my_gemm.cu\n  rung diff gemm/cuda/02 gemm/cuda/03 --html "
      "steps.html");
  return [arguments] { return run(*arguments); };
}

}  // namespace rung
