#pragma once
// All information about a kernel's execution: counters from the virtual GPU, extrapolated to the
// whole problem.

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tools/analysis/overlap.hpp"
#include "tools/analysis/roofline.hpp"
#include "tools/analysis/samples.hpp"

namespace rung::analysis {

struct Evidence {
  std::string id;                          // the rung, or the name of another kernel
  KernelTrace sample;                      // description of the sample
  Quantities quantities;                   // of the whole problem
  std::map<std::string, double> counters;  // of the whole problem, named as in `rung trace`
  Overlap overlap;
  Machine machine;
  Footprint footprint;
  Roofline roofline;
  double blocks = 0;           // of the whole problem
  double resident_blocks = 0;  // per SM; 0 if unknown
  /// True for persistent blocks: each computes several tiles.
  bool is_persistent = false;
  /// The mean share of idle SMs for C of 256 x 256 to 2048 x 2048; 0 if unknown.
  double idle_of_few = 0;
  bool has_async_copies = true;    // the device supports them (sm_80 and later)
  bool has_bulk_copies = false;    // the device supports them (sm_90)
  bool matrix_units_idle = false;  // the device has some for this type, but the kernel uses none
  int multiple = 1;                // extents must be multiples of it

  // For vector operations.
  double launches = 1;     // including launches that zero memory
  double host_values = 0;  // number of values added by the CPU
  /// The number of incorrect bits, out of `precision`, in the result for terms that cancel with
  /// condition number condition(); negative if unknown.
  double wrong_bits = -1;
  int precision = 0;

  bool uses_matrix_units() const { return quantities.uses_matrix_units(); }
  /// True if the kernel is memory-bound rather than compute-bound.
  bool is_stream() const { return memory_cycles() >= multiply_add_cycles(); }

  /// Cycles in which one SM would compute all FMAs.
  double multiply_add_cycles() const;
  /// Cycles in which one SM loads its share of the compulsory traffic.
  double memory_cycles() const;
  /// The maximum of both: a lower bound for any kernel.
  double needed_cycles() const { return std::max(multiply_add_cycles(), memory_cycles()); }
};

/// The share of idle SMs when this number of blocks of equal duration runs in waves.
double idle_share(double blocks, int multiprocessors);

Evidence gemm_evidence(const GemmSetting& setting, const Samples& samples, const Results& results);

/// Extrapolates the evidence of a part to the whole: multiplies counts by `factor`, for a whole
/// with this number of FMAs (or additions, if there are no multiplications). The footprint is that
/// of the whole already.
void scale(Evidence& evidence, double factor, double multiply_adds);

/// The sum over launches of one kernel. `footprint`: of operands and result, as far as known.
Evidence kernel_evidence(const std::string& id, const std::vector<KernelTrace>& launches,
                         const vgpu::ptx::Module& text, const vgpu::DeviceDescription& device,
                         Dtype dtype, const Footprint& footprint, const Results& results);

}  // namespace rung::analysis
