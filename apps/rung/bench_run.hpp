#pragma once
// Runs a bench whose contenders are known.

#include <string>
#include <vector>

#include "bench_arguments.hpp"
#include "command.hpp"
#include "tools/measure/bench.hpp"

namespace rung {

// The rungs of one op on one device, which are compared with each other.
struct BenchLadder {
  std::string op;
  const Backend* backend;
  std::vector<const RungInfo*> rungs;
  const Contender* own = nullptr;
  bool with_library = true;
};

struct BenchSetting {
  std::vector<SizeArgument> sizes;
  BenchRequest request;
  std::vector<std::string> cleared;  // variables of the environment
};

/// Throws UsageError.
BenchSetting read_setting(const BenchArguments& arguments);

/// Measures the ladders and writes what the arguments ask for. Ends the process by SIGINT or SIGTERM if
/// one of them arrives, after it has written what was measured.
ExitCode run_ladders(const BenchArguments& arguments, const std::vector<BenchLadder>& ladders,
                     const BenchSetting& setting);

}  // namespace rung
