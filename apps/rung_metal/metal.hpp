#pragma once

namespace rung::emu {

/// The command rung-metal, also by the names of the tools that it stands for. Returns its exit code.
int run_metal(int argc, char** argv);

}  // namespace rung::emu
