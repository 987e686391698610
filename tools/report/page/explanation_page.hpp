#pragma once
// The results of `rung explain` as an HTML page, in the style of a report.

#include <string>
#include <vector>

#include "core/rung.hpp"
#include "tools/analysis/explanation.hpp"
#include "tools/report/page/stepper.hpp"
#include "tools/report/plots/plots.hpp"
#include "vgpu/lines.hpp"

namespace rung {

/// The subject of the explanation.
struct Explained {
  std::string name;     // "gemm/cuda/05_vectors"
  std::string problem;  // "f32 4096x4096x4096 on NVIDIA H200"
  const RungInfo* rung = nullptr;
  std::string source;                     // the program's text; empty for a rung
  std::vector<std::string> hazards = {};  // hazards of its run, one line each
  std::string file = {};                  // "program.cu", as counters name it; empty for a rung
  std::vector<vgpu::LineCounters> lines = {};  // its counters by line; empty for a rung
};

/// `traces`: of the rung, for its access maps and counters per line. `steps`: of the kernel, if
/// recorded.
std::string explanation_page(const Explained& explained, const analysis::Explanation& explanation,
                             const Traces& traces, const std::vector<Stepped>& steps);

/// The steps of a rung; empty if it was not traced.
std::vector<Stepped> stepped(const RungInfo& rung, const RungTrace& trace);

/// Compares two rungs: their counters, their steps, and the changes in the source.
std::string comparison_page(const RungInfo& from, const RungTrace& from_trace, const RungInfo& to,
                            const RungTrace& to_trace);

}  // namespace rung
