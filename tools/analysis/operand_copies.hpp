#pragma once
// The launches that precede a GEMM rung's own: they pack its operands, or split them into halves,
// digits or residues.

#include <string_view>
#include <vector>

#include "tools/analysis/trace_rung.hpp"

namespace rung::analysis {

/// One of these launches, for the whole problem.
struct CopyLaunch {
  KernelTrace trace;
  std::string_view id, ptx;  // of the kernel
};

/// The launches in order; empty if the rung reads its operands in place. Each is traced for fewer
/// rows of A and columns of B at the problem's k, and extrapolated; all rows of a copy take the
/// same time. Throws std::runtime_error if a kernel has a hazard.
std::vector<CopyLaunch> trace_copies(const GemmSetting& setting);

}  // namespace rung::analysis
