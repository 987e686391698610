#pragma once
// The virtual GPU with the PTX of each compiler, for tests of CUDA rungs.

#include <memory>
#include <string>
#include <vector>

#include "backends/cuda/cuda.hpp"
#include "backends/cuda/images.hpp"
#include "core/case.hpp"
#include "core/rung.hpp"
#include "rungs_under_test.hpp"

namespace rung {

/// The front ends whose PTX this program contains.
inline std::vector<std::string> front_ends() {
  if (cuda::nvcc_version().empty()) return {"clang"};
  return {"clang", "nvcc"};
}

inline std::unique_ptr<Backend> backend_of(const std::string& front_end) {
  return make_virtual_backend({.gpu = test_gpu(), .code = front_end});
}

/// The counters of one call, a GemmCall or a DotCall.
template <class Call>
vgpu::Counters count(const std::string& rung, const Call& call, const std::string& front_end) {
  vgpu::Counters counters;
  const auto backend =
      make_virtual_backend({.gpu = test_gpu(), .code = front_end},
                           [&](const vgpu::LaunchReport& report, const vgpu::Kernel& kernel) {
                             refuse_hazards(report, kernel);
                             counters += report.counters;
                           });
  run(*backend, *select({rung}).front(), call, 2);
  return counters;
}

/// The counters of a call in the rung's compute mode.
inline vgpu::Counters count(const std::string& rung, const GemmSpec& spec,
                            const std::string& front_end) {
  GemmCase problem(spec);
  problem.set_compute_mode(select({rung}).front()->compute_mode);
  return count(rung, problem.call(), front_end);
}

}  // namespace rung
