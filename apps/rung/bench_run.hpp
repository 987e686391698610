#pragma once
// Runs rung bench after its contenders have been selected.

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
  std::vector<std::string> cleared;  // environment variables, as NAME=VALUE
};

/// Throws UsageError.
BenchSetting read_setting(const BenchArguments& arguments);

/// Measures the ladders, and writes the tables and files that the arguments request. If SIGINT or
/// SIGTERM arrives, writes the results so far and ends the process by that signal.
ExitCode run_ladders(const BenchArguments& arguments, const std::vector<BenchLadder>& ladders,
                     const BenchSetting& setting);

}  // namespace rung
