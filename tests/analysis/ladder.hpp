#pragma once
// The GEMM ladder for CUDA as samples and evidence, shared by the tests of the analysis.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/images.hpp"
#include "tools/analysis/evidence.hpp"
#include "vgpu/model/device.hpp"

namespace rung::analysis {

/// The rungs that run on an H200.
inline std::vector<const RungInfo*> gemm_rungs() {
  std::vector<const RungInfo*> rungs = select({"gemm/cuda"});
  std::erase_if(rungs, [](const RungInfo* rung) { return usual_gpu(*rung) != "h200"; });
  return rungs;
}

/// The front ends whose PTX is embedded in this program.
inline std::vector<std::string> front_ends() {
  if (cuda::nvcc_version().empty()) return {"clang"};
  return {"clang", "nvcc"};
}

inline GemmSetting setting_of(const RungInfo& rung, const std::string& code = "clang",
                              const std::string& gpu = "h200") {
  return gemm_setting(rung, usual_dtype(rung), {4096, 4096, 4096}, vgpu::parse_device(gpu), code);
}

inline bool is_of_tensor_cores(const RungInfo& rung) { return usual_dtype(rung) == Dtype::bf16; }

/// The samples and the evidence of a rung.
struct Step {
  GemmSetting setting;
  Samples samples;
  Evidence evidence;
};

inline std::vector<Step> sampled(const std::string& code, bool of_tensor_cores) {
  std::vector<Step> steps;
  for (const RungInfo* rung : gemm_rungs()) {
    if (usual_dtype(*rung) != (of_tensor_cores ? Dtype::bf16 : Dtype::f32)) continue;
    const GemmSetting setting = setting_of(*rung, code);
    const Samples samples = sample(setting);
    steps.push_back({setting, samples, gemm_evidence(setting, samples, built_in_results())});
  }
  return steps;
}

/// The GEMM ladder at 4096 x 4096 x 4096 on an H200, in f32, or with `of_tensor_cores` its
/// tensor-core rungs in bf16. Computed once per argument.
inline const std::vector<Step>& ladder(const std::string& code, bool of_tensor_cores = false) {
  static std::map<std::pair<std::string, bool>, std::vector<Step>> ladders;
  std::vector<Step>& steps = ladders[{code, of_tensor_cores}];
  if (steps.empty()) steps = sampled(code, of_tensor_cores);
  return steps;
}

}  // namespace rung::analysis
