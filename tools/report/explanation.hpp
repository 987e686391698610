#pragma once
// The results of `rung explain`, as text for a terminal and as JSON.

#include <optional>
#include <string>

#include "tools/analysis/explanation.hpp"
#include "tools/report/json.hpp"

namespace rung {

/// Traffic, roofline, occupancy, instruction mix, diagnosis and, if available, hardware counters, in
/// at most 80 columns.
std::string explanation_text(const analysis::Explanation& explanation);

/// The FLOP/s that memory bandwidth allows without any cache, if known (analysis/roofline.hpp).
std::optional<double> uncached_flops(const analysis::Explanation& explanation);
/// The calculation in the seed document: the peak, and the roof with all loads from memory.
std::string peak_text(const analysis::Explanation& explanation);
/// "predicted: 12 us, of which 2.2 us to launch; most of the rest is DRAM …", with the error of
/// such predictions on the GPU on which they were measured, or a note that errors on other GPUs
/// were not measured.
std::string prediction_text(const analysis::diagnosis::Time& time, const analysis::Machine& machine,
                            const analysis::diagnosis::PredictionErrors& errors);
/// "measured, results/…; the data sheet says 989 TFLOP/s"
std::string source_of_rates(const analysis::Machine& machine);

/// {"code", "sample", "tiles", "traffic": {"global_loads": {"formula", "expected_per_k",
/// "expected_constant", "counted_per_k", "counted_constant"}, …}, "roofline": {"ceilings", "flops",
/// "levels": […], "bound", "seconds", "measured_seconds", "ratio"}, "occupancy": {…},
/// "instructions": {"ptx", "machine_code"}, "advice": [{"cause", "detail", "rung"}],
/// "prediction": {"predicted_seconds", "launch_seconds", "bound", "error", "parts": {name:
/// seconds}}, "not_predicted", "diagnosis": like the prediction, with "findings": [{"cause",
/// "cost", "seconds_after", "detail", "remedy", "code", "rung"}], "hardware", "reference", "notes"}.
/// Unpublished figures are null; so is the prediction of a call if a part is not predicted.
Json to_json(const analysis::Explanation& explanation);

}  // namespace rung
