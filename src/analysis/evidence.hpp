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
  double blocks = 0;           // of the whole problem
  double resident_blocks = 0;  // of a multiprocessor; 0: not known
  /// Blocks stay and take tile after tile.
  bool is_persistent = false;
  /// Of multiprocessors that have nothing to do, the mean over C's of 256 x 256 to 2048 x 2048; 0
  /// where that is not known.
  double idle_of_few = 0;
  bool is_rung = false;
  bool has_async_copies = true;    // on this device (sm_80 and later)
  bool has_bulk_copies = false;    // and these (sm_90)
  bool matrix_units_idle = false;  // which the device has for this type
  int multiple = 1;                // that extents must be of

  // Of calls on vectors.
  double launches = 1;     // settings to zero among them
  double host_values = 0;  // that are left to the CPU to add up
  /// Of the result's `precision` bits those that are wrong where terms cancel, condition() being
  /// the condition number; less than 0: not known.
  double wrong_bits = -1;
  int precision = 0;

  bool uses_matrix_units() const { return quantities.uses_matrix_units(); }
  /// Whether it has more to move than to compute.
  bool is_stream() const { return memory_cycles() >= multiply_add_cycles(); }

  /// Cycles of one multiprocessor that does all multiply-adds.
  double multiply_add_cycles() const;
  /// Cycles of one multiprocessor's share of what has to come from memory.
  double memory_cycles() const;
  /// The more of both: what nothing can save.
  double needed_cycles() const { return std::max(multiply_add_cycles(), memory_cycles()); }
};

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
