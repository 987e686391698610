#pragma once
// Results as JSON, in formats on which scripts depend.

#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "tools/measure/bench.hpp"
#include "tools/measure/ceilings.hpp"
#include "tools/measure/environment.hpp"
#include "tools/measure/gpu_environment.hpp"

namespace rung {

using Json = nlohmann::ordered_json;

/// {"model", "isa", "cores", "caches", "os", "compiler", "version", "commit", "date"}
Json to_json(const Environment& environment);

/// {"multiply_add": {"f32": {"one_thread", "all_threads"}, …} in GFLOP/s, "read": {"L1": …} in
/// GB/s}
Json to_json(const Ceilings& ceilings);

/// {"name", "arch", "driver", "cuda", "multiprocessors", "memory_bytes", "l2_bytes",
/// "peak_bandwidth_gbps", "clock_mhz", "max_clock_mhz", "memory_clock_mhz", "power_limit_watts",
/// "ceilings": {"multiply_add": {"f32", …} in GFLOP/s, "memory_read" in GB/s}}. Values not reported
/// by the driver are null.
Json to_json(const GpuEnvironment& gpu);

/// {"openblas": {"version", "kernels", "path", "note"}, …}
Json to_json(const std::vector<const Peer*>& peers);

/// An array with one entry per rung and one for the library.
Json to_json(const BenchResult& result);

/// The value, or the largest number instead of an infinity, which JSON lacks.
double finite(double value);

/// The text of the file.
std::string dump(const Json& json);

}  // namespace rung
