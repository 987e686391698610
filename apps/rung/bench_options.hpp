#pragma once
// What the arguments of rung bench say about the problems: their elements, sizes and forms.

#include <vector>

#include "bench_arguments.hpp"
#include "measure/workload.hpp"

namespace rung {

/// Groups share the rows of one A: throws UsageError for options that would not be what is measured.
void check_groups(const BenchArguments& arguments);

/// Throws UsageError.
ComputeMode read_mode(const BenchArguments& arguments);
WorkloadOptions read_options(const BenchArguments& arguments);

/// The sizes in the order of the arguments; none, if there are none. Throws UsageError.
std::vector<SizeArgument> read_all_sizes(const BenchArguments& arguments);
/// For each size, the number of its products that one call computes. `sizes`: how many there are.
/// Throws UsageError.
std::vector<std::int64_t> read_batches(const BenchArguments& arguments, std::size_t sizes);

}  // namespace rung
