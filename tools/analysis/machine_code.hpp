#pragma once
// Spilled registers in the machine code that ptxas writes. PTX does not show them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analysis/kernel_trace.hpp"

namespace rung::analysis {

/// The instructions of one loop depth.
struct CodeOfDepth {
  double instructions = 0;
  double anchors = 0;  // f32 arithmetic, and accesses to global and shared memory
  double local_loads = 0, local_stores = 0;  // in words of 4 bytes per lane
};

/// By the number of loops around an instruction; [0] is outside of all loops.
using CodeByDepth = std::vector<CodeOfDepth>;

/// Reads a kernel from a cubin for sm_70 or later. Empty if the file has another form.
std::optional<CodeByDepth> code_by_depth(std::string_view cubin, const std::string& entry,
                                         int arch);

/// Accesses of a launch to spilled registers, by warps and words of 4 bytes per lane.
struct Spills {
  double loads = 0, stores = 0;
  std::int64_t frame = 0;  // bytes of local memory per thread
  double all() const { return loads + stores; }
};

/// The words of local accesses in the code, each counted once.
double local_words(const CodeByDepth& code);

/// Estimates how often a launch executes local accesses of its machine code. At each depth, PTX and
/// machine code have about the same arithmetic and accesses, so these tell how often the loops run.
Spills executed_spills(const CodeByDepth& code, const KernelTrace& trace,
                       const vgpu::ptx::Module& text);

}  // namespace rung::analysis
