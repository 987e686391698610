#pragma once
// rung bench FILE.

#include "bench_arguments.hpp"
#include "command.hpp"

namespace rung {

/// Compares a kernel in a file of the user's with what --vs names.
ExitCode run_kernel_file(const BenchArguments& given);

}  // namespace rung
