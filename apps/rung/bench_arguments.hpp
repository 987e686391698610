#pragma once
// The arguments of rung bench.

#include <string>
#include <vector>

#include "arguments.hpp"
#include "kernel_file_arguments.hpp"

namespace rung {

/// --random and its options.
struct RandomArguments {
  std::string count;
  std::string seed;
  std::string max_size;
  bool regret = false;

  void add_random(Options& app);
};

struct BenchArguments : CommonArguments, ExtentArguments, FormArguments, KernelFileArguments {
  std::vector<std::string> against;  // older spelling of --vs, for a kernel file
  std::string sizes;
  std::string batch;
  std::string groups;
  std::string tokens;
  std::string skew;
  std::string epilogue;
  std::string scales;
  std::string weights;
  std::string weight_group;
  std::vector<std::string> peers;
  std::string seconds;
  std::string math = "standard";
  std::string family = "symmetric";
  bool cold = false;
  bool remeasure_ceilings = false;
  std::string html;
  std::string csv;
  std::string baseline;
  RandomArguments random;

  void add_all(Options& app);
};

}  // namespace rung
