#pragma once
// A complete call of a CUDA rung on vectors, extrapolated to larger ones.

#include <cstdint>
#include <string>

#include "tools/analysis/evidence.hpp"
#include "tools/analysis/trace_call.hpp"

namespace rung::analysis {

struct VectorSample {
  std::int64_t n;  // in the sample; at most 2^22
  CallTrace call;
  Evidence evidence;  // of the problem
};

/// A virtual GPU, as selected by --gpu and --code.
struct VectorDevice {
  std::string gpu, code;
};

/// Samples a dot product or sum of n elements. Throws like trace_call().
VectorSample sample_vectors(const RungInfo& rung, Dtype dtype, std::int64_t n,
                            const VectorDevice& device, const Results& results);

}  // namespace rung::analysis
