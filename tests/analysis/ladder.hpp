#pragma once
// The CUDA ladder of gemm, as the analysis sees it.

#include <map>
#include <string>
#include <vector>

#include "analysis/advice.hpp"
#include "backends/cuda/images.hpp"
#include "vgpu/device.hpp"

namespace rung::analysis {

inline std::vector<const RungInfo*> gemm_rungs() { return select({"gemm/cuda"}); }

/// The front ends whose PTX is in this program.
inline std::vector<std::string> front_ends() {
  if (cuda::nvcc_version().empty()) return {"clang"};
  return {"clang", "nvcc"};
}

inline GemmSetting setting_of(const RungInfo& rung, const std::string& code = "clang",
                              const std::string& gpu = "h200") {
  return gemm_setting(rung, Dtype::f32, {4096, 4096, 4096}, vgpu::parse_device(gpu), code);
}

/// A rung as it was sampled.
struct Step {
  GemmSetting setting;
  Samples samples;
  Evidence evidence;
};

/// All of the ladder at 4096 x 4096 x 4096 in f32 on an H200; made once.
inline const std::vector<Step>& ladder(const std::string& code) {
  static std::map<std::string, std::vector<Step>> ladders;
  std::vector<Step>& steps = ladders[code];
  if (!steps.empty()) return steps;
  for (const RungInfo* rung : gemm_rungs()) {
    if (rung->id >= "gemm/cuda/20") continue;  // those of matrix units, which have no f32
    const GemmSetting setting = setting_of(*rung, code);
    const Samples samples = sample(setting);
    steps.push_back({setting, samples, gemm_evidence(setting, samples, built_in_results())});
  }
  return steps;
}

}  // namespace rung::analysis
