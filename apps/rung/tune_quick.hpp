#pragma once
// rung tune --quick: fits the models that choose configurations to a GPU.

#include "command.hpp"
#include "tune_cpu.hpp"

namespace rung {

ExitCode tune_quick(const TuneArguments& arguments);

}  // namespace rung
