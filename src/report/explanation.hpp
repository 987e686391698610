#pragma once
// What `rung explain` found, for the reader at a terminal and for programs.

#include <optional>
#include <string>

#include "analysis/explanation.hpp"
#include "report/json.hpp"

namespace rung {

/// Traffic, roofline, occupancy, instruction mix, advice and, where there are any, counters of the
/// hardware; at most 80 columns.
std::string explanation_text(const analysis::Explanation& explanation);

/// FLOP a second that memory allows if no cache helps; where that is told (analysis/roofline.hpp).
std::optional<double> uncached_flops(const analysis::Explanation& explanation);
/// The seed's arithmetic: the peak, and the roof over loads that no cache serves.
std::string peak_text(const analysis::Explanation& explanation);
/// "measured, results/…; the data sheet says 989 TFLOP/s"
std::string source_of_rates(const analysis::Machine& machine);

/// {"code", "sample", "tiles", "traffic": {"global_loads": {"formula", "expected_per_k",
/// "expected_constant", "counted_per_k", "counted_constant"}, …}, "roofline": {"ceilings", "flops",
/// "levels": […], "bound", "seconds", "measured_seconds", "ratio"}, "occupancy": {…},
/// "instructions": {"ptx", "machine_code"}, "advice": […], "hardware", "reference", "notes"}. What
/// is not public is null.
Json to_json(const analysis::Explanation& explanation);

}  // namespace rung
