#pragma once
// Reads the problems of rung bench from its arguments: elements, sizes and forms.

#include <vector>

#include "bench_arguments.hpp"
#include "tools/measure/workload.hpp"

namespace rung {

/// Throws UsageError for --seed, --max-size and --regret without --random.
void check_no_random(const RandomArguments& arguments);

/// Groups share the rows of one A: throws UsageError for options that would not be what is measured.
void check_groups(const BenchArguments& arguments);

/// Throws UsageError.
ComputeMode read_mode(const BenchArguments& arguments);
WorkloadOptions read_options(const BenchArguments& arguments);

/// The sizes in the order of the arguments; empty without sizes. Throws UsageError.
std::vector<SizeArgument> read_all_sizes(const BenchArguments& arguments);
/// For each size, the number of its products that one call computes. `sizes`: how many there are.
/// Throws UsageError.
std::vector<std::int64_t> read_batches(const BenchArguments& arguments, std::size_t sizes);

}  // namespace rung
