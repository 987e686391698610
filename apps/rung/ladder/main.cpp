// The program of `make ladder`: the CPU rungs, without GPUs and virtual GPU, built in a fraction of
// the time. It starts the complete program for everything else.

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "apps/rung/command_line.hpp"
#include "apps/rung/ladder/complete.hpp"
#include "apps/rung/outcome.hpp"
#include "apps/rung/standard_output.hpp"

namespace rung {
namespace {

constexpr auto in_ladder = [](auto add) { return add; };
constexpr auto in_all = [](auto) { return nullptr; };

constexpr std::array commands = {
#define RUNG_COMMAND(name, program, summary) Command{#name, summary, in_##program(add_##name)},
#include "apps/rung/commands.inc"
#undef RUNG_COMMAND
};

/// Throws ElsewhereError if RUNG_ISA is set: this program has kernels only for this machine's
/// instruction set.
void check_instruction_set() {
  const char* const isa = std::getenv("RUNG_ISA");
  if (isa != nullptr && *isa != '\0') throw ElsewhereError("RUNG_ISA");
}

/// Replaces this process by the complete program with the same arguments. Throws UnavailableError
/// if that is not built.
void continue_in_complete(char** argv, const std::string& what) {
  if (is_complete_built()) {
    std::fflush(nullptr);
    execv(complete_program().c_str(), argv);
  }
  throw UnavailableError(fmt::format("{}: {}", what, not_built));
}

}  // namespace
}  // namespace rung

int main(int argc, char** argv) {
  using namespace rung;
  reserve_standard_streams();
  return outcome_of([&] {
    try {
      check_instruction_set();
      return parse(commands, argc, argv)();
    } catch (const ElsewhereError& error) {
      continue_in_complete(argv, error.what());
      throw;
    }
  });
}
