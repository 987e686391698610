#pragma once
// Traffic of a kernel as its tiles say, beside what was counted.

#include <string>
#include <vector>

#include "analysis/evidence.hpp"
#include "analysis/traffic.hpp"

namespace rung::analysis {

/// Elements for each element of the result; of vectors, of x.
struct TrafficRow {
  std::string name;     // "global loads"
  Formula expected;     // from the tiles; its text is empty where these do not tell
  double per_k = 0;     // counted: for each step along k,
  double constant = 0;  // and besides
};

/// What the tiles, the plan and the kind of the kernel's instructions say.
Traffic expected_traffic(const GemmSetting& setting, const Samples& samples);

/// What the tiles say, beside what was counted.
std::vector<TrafficRow> traffic_rows(const Traffic& expected, const Samples& samples);
std::vector<TrafficRow> gemm_rows(const GemmSetting& setting, const Samples& samples);

/// Of a dot product (two vectors) or a sum (one) of n elements. How often sums pass through shared
/// memory is the rung's own.
std::vector<TrafficRow> vector_rows(const Quantities& counted, double vectors, Dtype dtype,
                                    double n);

}  // namespace rung::analysis
