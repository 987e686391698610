#pragma once
// The results of `rung explain` as an HTML page, in the style of a report.

#include <string>
#include <vector>

#include "analysis/explanation.hpp"
#include "core/rung.hpp"
#include "report/page/stepper.hpp"
#include "report/plots/plots.hpp"

namespace rung {

/// The subject of the explanation.
struct Explained {
  std::string name;     // "gemm/cuda/05_vectors"
  std::string problem;  // "f32 4096x4096x4096 on NVIDIA H200"
  const RungInfo* rung = nullptr;
  std::string source;                     // if it is not a rung: the program's text
  std::vector<std::string> hazards = {};  // that its run had, a line each
};

/// `traces`: of the rung, for its access maps and its counters per line. `steps`: of the kernel, if
/// they were recorded.
std::string explanation_page(const Explained& explained, const analysis::Explanation& explanation,
                             const Traces& traces, const std::vector<Stepped>& steps);

/// Of a rung; empty if it was not traced.
std::vector<Stepped> stepped(const RungInfo& rung, const RungTrace& trace);

/// Two rungs side by side: their counters, their steps, and the changes in the source.
std::string comparison_page(const RungInfo& from, const RungTrace& from_trace, const RungInfo& to,
                            const RungTrace& to_trace);

}  // namespace rung
