// rung referee: the Python package's judge of kernels, as a command of the program.

#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "command_line.hpp"

namespace rung {
namespace {

struct RefereeArguments {
  std::string task, candidate, seed, json, markdown;
};

// Ends with one line and exit code 3 if Python lacks a package.
constexpr const char* start = R"(import sys
try:
    import numpy
    import rung.referee.__main__ as referee
except ImportError as error:
    sys.stderr.write(f"rung referee: python3 has no module {error.name}; pip install numpy, and rung's package\n")
    sys.exit(3)
sys.exit(referee.main(sys.argv[1:]))
)";

ExitCode run(const RefereeArguments& arguments) {
  std::vector<std::string> words = {"python3", "-c", start, arguments.task, arguments.candidate};
  const std::pair<const char*, std::string> options[] = {
      {"--seed", arguments.seed}, {"--json", arguments.json}, {"--markdown", arguments.markdown}};
  for (const auto& [name, value] : options) {
    if (!value.empty()) words.push_back(name + ("=" + value));
  }
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp(pointers.front(), pointers.data());
  throw UnavailableError("rung referee: python3 is not on the PATH");
}

}  // namespace

Action add_referee(Options& app) {
  auto arguments = std::make_shared<RefereeArguments>();
  app.add_option("TASK", arguments->task, "TOML file of the task, or an operation such as gemm")
      ->type_name("")
      ->required();
  app.add_option("CANDIDATE", arguments->candidate, "File of CUDA C++, Metal or PTX")
      ->type_name("")
      ->required();
  app.add_option("--seed", arguments->seed, "Draws hidden shapes and inputs (default: 1)")
      ->type_name("N");
  app.add_option("--json", arguments->json, "Write the verdict as JSON; - for standard output")
      ->type_name("FILE");
  app.add_option("--markdown", arguments->markdown,
                 "Write the verdict as Markdown (default: standard output)")
      ->type_name("FILE");
  app.footer(
      "Runs in python3, which needs NumPy and the Python package rung. Tasks, candidates and\n"
      "rules: docs/python.md.\n\n"
      "Examples:\n  rung referee gemm candidate.cu --seed 7\n"
      "  rung referee task.toml candidate.metal --json verdict.json");
  return [arguments] { return run(*arguments); };
}

}  // namespace rung
