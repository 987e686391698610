#pragma once
// All known facts about a kernel's execution: counters from the virtual GPU, extrapolated to the
// problem.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analysis/overlap.hpp"
#include "analysis/roofline.hpp"
#include "analysis/samples.hpp"

namespace rung::analysis {

struct Evidence {
  std::string id;                          // a rung; for another kernel, its name
  KernelTrace sample;                      // description of the sample
  Quantities quantities;                   // of the whole problem
  std::map<std::string, double> counters;  // of the whole problem, named as in `rung trace`
  Overlap overlap;
  Machine machine;
  Footprint footprint;
  Roofline roofline;
  double blocks = 0;           // of the whole problem
  double resident_blocks = 0;  // per SM; 0: unknown
  /// Persistent blocks: each computes several tiles.
  bool is_persistent = false;
  /// Mean share of idle SMs over C of 256 x 256 to 2048 x 2048; 0 if unknown.
  double idle_of_few = 0;
  bool has_async_copies = true;    // the device supports them (sm_80 and later)
  bool has_bulk_copies = false;    // the device supports them (sm_90)
  bool matrix_units_idle = false;  // the device has them for this type
  int multiple = 1;                // extents must be multiples of this

  // For calls on vectors.
  double launches = 1;     // including those that zero memory
  double host_values = 0;  // values left to the CPU to add up
  /// How many of the result's `precision` bits are wrong for terms that cancel with condition
  /// number condition(); negative: unknown.
  double wrong_bits = -1;
  int precision = 0;

  bool uses_matrix_units() const { return quantities.uses_matrix_units(); }
  /// Whether the kernel is bound by memory rather than by arithmetic.
  bool is_stream() const { return memory_cycles() >= multiply_add_cycles(); }

  /// Cycles in which a single SM would do all FMAs.
  double multiply_add_cycles() const;
  /// Cycles in which one SM loads its share of the compulsory traffic.
  double memory_cycles() const;
  /// The larger of both: the minimum that no kernel can avoid.
  double needed_cycles() const { return std::max(multiply_add_cycles(), memory_cycles()); }
};

/// Share of the SMs that are idle when that many blocks of equal length run in waves.
double idle_share(double blocks, int multiprocessors);

Evidence gemm_evidence(const GemmSetting& setting, const Samples& samples, const Results& results);

/// Extrapolates the evidence of a part to the whole: `factor` times as much, with that many FMAs
/// (or additions, if nothing is multiplied). The footprint is already that of the whole.
void scale(Evidence& evidence, double factor, double multiply_adds);

/// The sum over launches of one kernel. `footprint`: of operands and result, as far as it is known.
Evidence kernel_evidence(const std::string& id, const std::vector<KernelTrace>& launches,
                         const vgpu::ptx::Module& text, const vgpu::DeviceDescription& device,
                         Dtype dtype, const Footprint& footprint, const Results& results);

}  // namespace rung::analysis
