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
#include "report/unified_diff.hpp"

namespace rung {
namespace {

struct Text {
  std::string name, text;
};

/// A rung, or a file of the user's.
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
  return {rungs.front()->id, std::string(rungs.front()->source)};
}

/// On a terminal, unless NO_COLOR is set (no-color.org).
bool is_coloured() {
  const char* refused = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && (refused == nullptr || *refused == '\0');
}

ExitCode run(const std::vector<std::string>& selectors) {
  const Text from = read_one(selectors[0]);
  const Text to = read_one(selectors[1]);
  fmt::print("{}", unified_diff({from.name, from.text}, {to.name, to.text}, is_coloured()));
  return exit_right;
}

}  // namespace

Action add_diff(Options& app) {
  auto selectors = std::make_shared<std::vector<std::string>>();
  app.add_option("RUNG", *selectors,
                 "Two rungs, such as gemm/cuda/02 gemm/cuda/03, or files of yours")
      ->type_name("")
      ->required()
      ->expected(2);
  app.footer(
      "Prints a unified diff of the two sources, as built into this program; coloured on a\n"
      "terminal, unless NO_COLOR is set.\n\n"
      "Examples:\n  rung diff gemm/cuda/05 gemm/cuda/06\n  rung diff gemm/cpu/03 gemm/cpu/04\n"
      "  rung diff gemm/cuda/04 my_gemm.cu");
  return [selectors] { return run(*selectors); };
}

}  // namespace rung
