#pragma once
// The launches before a gemm rung's own: they pack its operands, or split them into halves, digits
// or residues.

#include <string_view>
#include <vector>

#include "analysis/trace_rung.hpp"

namespace rung::analysis {

/// One of them, for the whole problem.
struct CopyLaunch {
  KernelTrace trace;
  std::string_view id, ptx;  // of its kernel
};

/// In order; none if the rung reads its operands in place. Each runs for fewer rows of A and columns
/// of B, at the problem's k, and is extrapolated: each row of a copy takes as long as any other.
/// Throws std::runtime_error if a kernel has a hazard.
std::vector<CopyLaunch> trace_copies(const GemmSetting& setting);

}  // namespace rung::analysis
