#pragma once
// rung bench --random: the library against its peers on random shapes.

#include "bench_arguments.hpp"
#include "command.hpp"

namespace rung {

/// Throws UsageError and UnavailableError. Ends the process by SIGINT or SIGTERM if one of them
/// arrives, after it has written what was measured.
ExitCode run_random(const BenchArguments& arguments);

}  // namespace rung
