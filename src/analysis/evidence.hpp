#pragma once
// All that is known of how a kernel runs: counted on the virtual GPU, worked out for the problem.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analysis/overlap.hpp"
#include "analysis/roofline.hpp"
#include "analysis/samples.hpp"

namespace rung::analysis {

struct Evidence {
  std::string id;                          // of the rung; of another kernel, its name
  KernelTrace sample;                      // what was run
  Quantities quantities;                   // of the whole problem
  std::map<std::string, double> counters;  // likewise, by the names that `rung trace` has for them
  Overlap overlap;
  Machine machine;
  Footprint footprint;
  Roofline roofline;
  double blocks = 0;             // of the whole problem
  double blocks_of_few = 0;      // where C is 256 x 256; 0: not known
  bool has_async_copies = true;  // on this device (sm_80 and later)
  bool is_rung = false;
  bool matrix_units_idle = false;  // which the device has for this type
  int multiple = 1;                // that extents must be of

  /// Cycles of one multiprocessor that does all multiply-adds.
  double multiply_add_cycles() const;
  /// Cycles of one multiprocessor's share of what has to come from memory.
  double memory_cycles() const;
  /// The more of both: what nothing can save.
  double needed_cycles() const { return std::max(multiply_add_cycles(), memory_cycles()); }
};

/// Whether any instruction that ran is one of matrix units.
bool uses_matrix_units(const KernelTrace& trace, const vgpu::ptx::Module& text);

/// Share of the multiprocessors that have nothing to do, where so many blocks of equal length are
/// handed out round by round.
double idle_share(double blocks, int multiprocessors);

Evidence gemm_evidence(const GemmSetting& setting, const Samples& samples, const Results& results);

/// Makes the evidence of a part that of the whole: `factor` times as much, with so many
/// multiply-adds, or additions where nothing is multiplied. The footprint is the whole's already.
void scale(Evidence& evidence, double factor, double multiply_adds);

/// Launches of one kernel, all added up. `dram_bytes`: of operands and result, 0 if not known.
Evidence kernel_evidence(const std::string& id, const std::vector<KernelTrace>& launches,
                         const vgpu::ptx::Module& text, const vgpu::DeviceDescription& device,
                         Dtype dtype, double dram_bytes, const Results& results);

}  // namespace rung::analysis
