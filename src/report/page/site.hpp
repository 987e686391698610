#pragma once
// A report in a folder: an index, a page for each study and a page for each rung.

#include <string>
#include <vector>

#include "report/bench_results.hpp"
#include "report/plots/plots.hpp"

namespace rung {

/// A page by its name in the folder: "index.html", "gemm-cuda-05_vectors.html". It needs no network
/// access, and no other file but for its links.
struct PageFile {
  std::string name, contents;
};

/// The index comes last. `traces`: of the rungs among the results, as far as available.
std::vector<PageFile> report_site(const Results& results, const Traces& traces);

}  // namespace rung
