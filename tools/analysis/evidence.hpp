#pragma once
// All information about a kernel's execution: counters from the virtual GPU, extrapolated to the
// whole problem.

#include <map>
#include <string>
#include <vector>

#include "tools/analysis/roofline.hpp"
#include "tools/analysis/samples.hpp"

namespace rung::analysis {

struct Evidence {
  std::string id;                          // the rung, or the name of another kernel
  KernelTrace sample;                      // description of the sample
  Quantities quantities;                   // of the whole problem
  std::map<std::string, double> counters;  // of the whole problem, named as in `rung trace`
  Machine machine;
  Footprint footprint;
  Roofline roofline;
  double blocks = 0;  // of the whole problem

  bool uses_matrix_units() const { return quantities.uses_matrix_units(); }
};

Evidence gemm_evidence(const GemmSetting& setting, const Samples& samples, const Results& results);

/// Extrapolates the evidence of a part to the whole: multiplies counts by `factor`, for a whole
/// with this number of FMAs (or additions, if there are no multiplications). The footprint is that
/// of the whole already.
void scale(Evidence& evidence, double factor, double multiply_adds);

/// The sum over launches of one kernel. `footprint`: of operands and result, as far as known.
Evidence kernel_evidence(const std::string& id, const std::vector<KernelTrace>& launches,
                         const vgpu::DeviceDescription& device, Dtype dtype,
                         const Footprint& footprint, const Results& results);

}  // namespace rung::analysis
