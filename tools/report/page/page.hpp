#pragma once
// A report as one self-contained HTML page, without network access or scripts.

#include <string>

#include "tools/report/bench_results.hpp"
#include "tools/report/plots/plots.hpp"

namespace rung {

/// `traces`: of the rungs in the results, if available.
std::string report_page(const Results& results, const Traces& traces);

/// The plots of the page as files: name ("gemm-f32-ladder.svg") and contents. Names are unique, and
/// consist of letters, digits, '-' and '_' for any results.
struct PictureFile {
  std::string name, contents;
};
std::vector<PictureFile> report_pictures(const Results& results, const Traces& traces);

}  // namespace rung
