#pragma once
// A report as one self-contained HTML page, without network access or scripts.

#include <string>

#include "report/bench_results.hpp"
#include "report/plots/plots.hpp"

namespace rung {

/// `traces`: of the rungs among the results, as far as available.
std::string report_page(const Results& results, const Traces& traces);

/// The plots of the page as files: name ("gemm-f32-ladder.svg") and contents. Names differ, and are
/// of letters, digits, '-' and '_', whatever the results hold.
struct PictureFile {
  std::string name, contents;
};
std::vector<PictureFile> report_pictures(const Results& results, const Traces& traces);

}  // namespace rung
