#pragma once
// The output of `rung run`: the kernels of a file, or a launch of one.

#include <string>

#include "launch_arguments.hpp"
#include "tools/report/json.hpp"

namespace rung {

/// The file's kernels with their parameters, and the fields of structs.
std::string kernels_text(const any_kernel::Program& program);
/// {"file", "kernels": [{"name", "line", "parameters": [{"name", "index", "kind", "type", "bytes",
/// "fields"}]}], "templates": [name]}
Json kernels_json(const any_kernel::Program& program);

/// Results, judgements, counters and hazards.
std::string outcome_text(const KernelLaunch& launch, const any_kernel::Outcome& outcome,
                         bool with_lines);
/// {"file", "kernel", "device", "code", "right", "results": [{"name", "shape", "type", "values",
/// "unwritten"}], "expect": [{"right", "max_error_ratio", "message"}], "kernels": […]}, the last as in `rung
/// trace`.
Json outcome_json(const KernelLaunch& launch, const any_kernel::Outcome& outcome, bool with_lines);

}  // namespace rung
