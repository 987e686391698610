// The complete program: finds the command, and runs it.

#include <array>

#include "command_line.hpp"
#include "outcome.hpp"
#include "standard_output.hpp"

namespace rung {
namespace {

constexpr std::array commands = {
#define RUNG_COMMAND(name, program, summary) Command{#name, summary, add_##name},
#include "commands.inc"
#undef RUNG_COMMAND
};

}  // namespace
}  // namespace rung

int main(int argc, char** argv) {
  using namespace rung;
  reserve_standard_streams();
  return outcome_of([&] { return parse(commands, argc, argv)(); });
}
