#pragma once
// Results as JSON, in the shapes that scripts depend on.

#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "measure/bench.hpp"
#include "measure/ceilings.hpp"
#include "measure/environment.hpp"
#include "measure/gpu_environment.hpp"

namespace rung {

using Json = nlohmann::ordered_json;

/// {"model", "isa", "cores", "caches", "os", "compiler", "version", "commit", "date"}
Json to_json(const Environment& environment);

/// {"multiply_add": {"f32": {"one_thread", "all_threads"}, …} in GFLOP/s, "read": {"L1": …} in
/// GB/s}
Json to_json(const Ceilings& ceilings);

/// {"name", "arch", "driver", "cuda", "multiprocessors", "memory_bytes", "l2_bytes",
/// "peak_bandwidth_gbps", "clock_mhz", "max_clock_mhz", "memory_clock_mhz", "power_limit_watts",
/// "ceilings": {"multiply_add": {"f32", …} in GFLOP/s, "memory_read" in GB/s}}; null if the driver
/// does not report a value.
Json to_json(const GpuEnvironment& gpu);

/// {"openblas": {"version", "kernels", "path", "note"}, …}
Json to_json(const std::vector<const Peer*>& peers);

/// An array with one entry per rung and one for the library.
Json to_json(const BenchResult& result);

/// The text of the file.
std::string dump(const Json& json);

}  // namespace rung
