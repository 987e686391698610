#pragma once
// What `rung explain` found as one HTML page, in the manner of a report's.

#include <string>

#include "analysis/explanation.hpp"
#include "core/rung.hpp"
#include "report/plots/plots.hpp"

namespace rung {

/// What was explained.
struct Explained {
  std::string name;     // "gemm/cuda/05_vectors"
  std::string problem;  // "f32 4096x4096x4096 on NVIDIA H200"
  const RungInfo* rung = nullptr;
  std::string source;  // where it is no rung: the program's text
};

/// `traces`: of the rung, for its access maps and the counters of its lines.
std::string explanation_page(const Explained& explained, const analysis::Explanation& explanation,
                             const Traces& traces);

}  // namespace rung
