// The command line: finds the command, runs it, and turns what went wrong into one line and an exit
// code.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>
#include <new>
#include <string_view>
#include <vector>

#include "command.hpp"
#include "rung/version.hpp"

namespace rung {
namespace {

struct Command {
  const char* name;
  const char* summary;
  Action (*add)(CLI::App& app);
};

constexpr std::array commands = {
    Command{"list", "The rungs: what they need, what is available here and why not", add_list},
    Command{"verify", "Check every selected rung; exit 0 only if all that can run are right",
            add_verify},
    Command{"bench", "Verify, then time the selected rungs against libraries and ceilings",
            add_bench},
    Command{"tune", "Search the tiles of a CUDA rung, and the parts of k, for the fastest",
            add_tune},
    Command{"trace", "One launch on the virtual GPU: its counters, line by line, and its hazards",
            add_trace},
    Command{"explain", "Why a rung, or a kernel of yours, is as fast as it is, and what to do next",
            add_explain},
    Command{"diff", "What changes from one rung to another, as a unified diff", add_diff},
    Command{"emu", "A CUDA program on the virtual GPU, with counters and hazards", add_emu},
    Command{"report", "Results as one page with tables, plots and sources", add_report},
    Command{"doctor", "What was found on this machine, and what is missing", add_doctor},
};

constexpr const char* footer = R"(Examples:
  rung list gemm                    the gemm ladder
  rung verify gemm/cpu dot/cpu      is every rung right?
  rung bench gemm/cpu --sizes 1024  how fast, against what is installed?
  rung trace gemm/cuda/02           what a CUDA rung would do on a GPU
  rung explain gemm/cuda/02         why it is as fast as it is, and what to do next
  rung emu program.cu               a CUDA program without a GPU

Exit codes: 0 right, 1 something was wrong, 2 bad usage, 3 not available here.
'rung COMMAND --help' tells more.)";

int complain(const std::string& message, ExitCode code) {
  fmt::print(stderr, "rung: {}\n", message);
  return code;
}

// CLI11's own messages, told the way that all others are.
std::string one_line(const CLI::ParseError& error, const CLI::App& app) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    const auto extras = app.remaining(true);
    if (!extras.empty() && !extras.front().starts_with('-') && app.get_subcommands().empty()) {
      std::vector<std::string_view> names;
      for (const Command& command : commands) names.push_back(command.name);
      return fmt::format("'{}' is not one of {}", extras.front(), fmt::join(names, ", "));
    }
    if (!extras.empty()) return extras.front() + ": unknown argument; see --help";
  }
  const std::string message = error.what();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    if (app.got_subcommand("trace")) return "RUNG: one is needed, such as gemm/cuda/02; see --help";
    if (app.got_subcommand("explain")) {
      return "RUNG: one is needed, such as gemm/cuda/02; see --help";
    }
    if (app.got_subcommand("diff")) {
      return "RUNG: two are needed, such as gemm/cuda/02 gemm/cuda/03; see --help";
    }
    if (app.got_subcommand("tune")) {
      return "SELECTOR: at least one is needed, such as gemm/cuda/11; see --help";
    }
    if (app.got_subcommand("report")) return "FILE: one is needed, such as gemm.json; see --help";
    if (app.got_subcommand("emu")) return "FILE: one is needed, such as program.cu; see --help";
    return "SELECTOR: at least one is needed, such as gemm/cpu; see --help";
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    return message.substr(0, message.find(':')) + ": a value is needed; see --help";
  }
  return message.substr(0, message.find('\n'));
}

int run(int argc, char** argv) {
  CLI::App app(
      "GEMM and dot as ladders of kernels: from the naive one to one that beats the vendor.");
  app.name("rung");
  app.footer(footer);
  app.set_version_flag("--version", "rung " + std::string(version));

  app.require_subcommand(0, 1);

  std::map<const CLI::App*, Action> actions;
  for (const Command& command : commands) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    actions[sub] = command.add(*sub);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {  // --help, --version
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    return complain(one_line(error, app), exit_usage);
  }
  const auto chosen = app.get_subcommands();
  if (chosen.empty()) return complain("a command is needed: see rung --help", exit_usage);
  return actions.at(chosen.front())();
}

}  // namespace
}  // namespace rung

int main(int argc, char** argv) {
  using namespace rung;
  try {
    return run(argc, argv);
  } catch (const UsageError& error) {
    return complain(error.what(), exit_usage);
  } catch (const UnavailableError& error) {
    return complain(error.what(), exit_unavailable);
  } catch (const std::bad_alloc&) {
    return complain("not enough memory", exit_unavailable);
  } catch (const std::exception& error) {
    return complain(error.what(), exit_wrong);
  }
}
