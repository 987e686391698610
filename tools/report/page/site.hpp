#pragma once
// A report in a directory: an index, one page per study and one per rung.

#include <string>
#include <vector>

#include "tools/report/bench_results.hpp"
#include "tools/report/plots/plots.hpp"

namespace rung {

/// A page and its name in the directory: "index.html", "gemm-cuda-05_vectors.html". Requires no
/// network access, and no other files except for its links.
struct PageFile {
  std::string name, contents;
};

/// The index is last. `traces`: of the rungs in the results, if available.
std::vector<PageFile> report_site(const Results& results, const Traces& traces);

}  // namespace rung
