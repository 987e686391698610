#pragma once
// rung tune gemm/cpu: corrects the costs that the library chooses a rung by.

#include <string>

#include "arguments.hpp"
#include "command.hpp"

namespace rung {

struct TuneArguments : CommonArguments {
  std::string sizes;
  std::string seconds;
  std::string output;
  bool quick = false;
};

/// For selectors that are the ladder gemm/cpu.
ExitCode tune_gemm_cpu(const TuneArguments& arguments);

}  // namespace rung
