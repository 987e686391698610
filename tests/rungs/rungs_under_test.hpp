#pragma once
// Selects the rungs that a test runs, as GoogleTest parameters.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "backends/backend.hpp"
#include "core/dtype.hpp"

namespace rung {

/// The model of the virtual GPU, which a process has only one of: RUNG_TEST_GPU.
inline std::string test_gpu() {
  const char* const wanted = std::getenv("RUNG_TEST_GPU");
  return wanted != nullptr ? wanted : "h200";
}

/// The rungs of an operation. Under RUNG_ISA, only those whose code depends on it. CUDA rungs that
/// need sm_100a are for b200, all others for h200.
inline std::vector<const RungInfo*> rungs_under_test(const std::string& op,
                                                     const std::string& backend = "cpu") {
  std::vector<const RungInfo*> rungs;
  for (const RungInfo* rung : select({op + "/" + backend})) {
    bool simd = false;
    for (const std::string_view header :
         {"device/cpu/simd.hpp", "device/cpu/micro_kernels.hpp", "device/cpu/dot_kernels.hpp",
          "device/cpu/narrow_kernels.hpp"}) {
      simd = simd || rung->source.find(header) != std::string_view::npos;
    }
    if ((usual_gpu(*rung) == "b200") != (test_gpu() == "b200")) continue;
    if (std::getenv("RUNG_ISA") == nullptr || simd) rungs.push_back(rung);
  }
  return rungs;
}

using RungAndDtype = std::tuple<const RungInfo*, Dtype>;

inline std::string test_name(const testing::TestParamInfo<RungAndDtype>& info) {
  const auto& [rung, dtype] = info.param;
  return "rung_" + rung->slug + "_" + std::string(identifier(dtype));
}

inline std::string test_name_of_rung(const testing::TestParamInfo<const RungInfo*>& info) {
  return "rung_" + info.param->slug;
}

}  // namespace rung
