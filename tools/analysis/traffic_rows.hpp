#pragma once
// The traffic of a kernel as computed from its tile sizes, next to the counted traffic.

#include <string>
#include <vector>

#include "tools/analysis/evidence.hpp"
#include "tools/analysis/traffic.hpp"

namespace rung::analysis {

/// Elements per element of the result; for vectors, of x.
struct TrafficRow {
  std::string name;     // "global loads"
  Formula expected;     // from the tile sizes; its text is empty if they do not determine it
  double per_k = 0;     // counted, per k-step
  double constant = 0;  // counted, constant part
};

/// Computed from the tile sizes, the configuration and the kind of the kernel's instructions.
Traffic expected_traffic(const GemmSetting& setting, const Samples& samples);

/// Combines computed and counted traffic.
std::vector<TrafficRow> traffic_rows(const Traffic& expected, const Samples& samples);
std::vector<TrafficRow> gemm_rows(const GemmSetting& setting, const Samples& samples);

/// The traffic of a dot product (two vectors) or sum (one vector) of n elements. The number of
/// times that sums pass through shared memory depends on the rung.
std::vector<TrafficRow> vector_rows(const Quantities& counted, double vectors, Dtype dtype,
                                    double n);

}  // namespace rung::analysis
