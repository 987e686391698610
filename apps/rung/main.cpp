// The complete program: finds the command, and runs it. A Python package has rung-nvcc in it, as --nvcc.

#include <array>
#include <cstdlib>
#include <string_view>

#include "apps/rung_nvcc/nvcc.hpp"
#include "command_line.hpp"
#include "outcome.hpp"
#include "serve_kernels.hpp"
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
  if (argc > 1 && std::string_view(argv[1]) == "--nvcc") return emu::run_nvcc(argc - 1, argv + 1);
  if (argc == 3 && std::string_view(argv[1]) == "--serve-kernels") {
    return outcome_of([&] { return serve_kernels(std::atoi(argv[2])); });
  }
  return outcome_of([&] { return parse(commands, argc, argv)(); });
}
