#pragma once
// The traffic of a kernel as computed from its tiles, beside the counted one.

#include <string>
#include <vector>

#include "analysis/evidence.hpp"
#include "analysis/traffic.hpp"

namespace rung::analysis {

/// Elements per element of the result; for vectors, of x.
struct TrafficRow {
  std::string name;     // "global loads"
  Formula expected;     // from the tiles; its text is empty if they do not determine it
  double per_k = 0;     // counted: per k-step,
  double constant = 0;  // and the constant part
};

/// From the tiles, the configuration and the kind of the kernel's instructions.
Traffic expected_traffic(const GemmSetting& setting, const Samples& samples);

/// From the tiles, beside the counted traffic.
std::vector<TrafficRow> traffic_rows(const Traffic& expected, const Samples& samples);
std::vector<TrafficRow> gemm_rows(const GemmSetting& setting, const Samples& samples);

/// For a dot product (two vectors) or a sum (one) of n elements. How often sums pass through shared
/// memory depends on the rung.
std::vector<TrafficRow> vector_rows(const Quantities& counted, double vectors, Dtype dtype,
                                    double n);

}  // namespace rung::analysis
