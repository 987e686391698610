#pragma once
// What the arguments of rung bench say about the problems: their elements, sizes and forms.

#include <vector>

#include "bench_arguments.hpp"
#include "measure/workload.hpp"

namespace rung {

/// Groups share the rows of one A. Throws a UsageError for options that groups do not have.
void check_groups(const BenchArguments& arguments);
/// Throws a UsageError that names the argument, its value and what is allowed, as the next one does.
WorkloadOptions read_options(const BenchArguments& arguments);
/// Empty if no size is given.
std::vector<SizeArgument> read_all_sizes(const BenchArguments& arguments);

}  // namespace rung
