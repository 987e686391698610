#pragma once

namespace rung::emu {

/// The command rung-nvcc. Returns its exit code.
int run_nvcc(int argc, char** argv);

}  // namespace rung::emu
