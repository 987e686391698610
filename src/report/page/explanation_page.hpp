#pragma once
// The results of `rung explain` as an HTML page, in the style of a report.

#include <string>

#include "analysis/explanation.hpp"
#include "core/rung.hpp"
#include "report/plots/plots.hpp"

namespace rung {

/// The subject of the explanation.
struct Explained {
  std::string name;     // "gemm/cuda/05_vectors"
  std::string problem;  // "f32 4096x4096x4096 on NVIDIA H200"
  const RungInfo* rung = nullptr;
  std::string source;  // if it is not a rung: the program's text
};

/// `traces`: of the rung, for its access maps and its counters per line.
std::string explanation_page(const Explained& explained, const analysis::Explanation& explanation,
                             const Traces& traces);

}  // namespace rung
