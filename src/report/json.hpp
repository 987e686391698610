#pragma once
// Results for programs: the shapes that scripts depend on.

#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "measure/bench.hpp"
#include "measure/ceilings.hpp"
#include "measure/environment.hpp"

namespace rung {

using Json = nlohmann::ordered_json;

/// {"model", "isa", "cores", "caches", "os", "compiler", "version", "commit", "date"}
Json to_json(const Environment& environment);

/// {"multiply_add": {"f32": {"one_thread", "all_threads"}, …} in GFLOP/s, "read": {"L1": …} in
/// GB/s}
Json to_json(const Ceilings& ceilings);

/// {"openblas": {"version", "kernels", "path", "note"}, …}
Json to_json(const std::vector<const Peer*>& peers);

/// An array with one entry for each rung and one for the library.
Json to_json(const BenchResult& result);

/// As the file is to be written.
std::string dump(const Json& json);

}  // namespace rung
