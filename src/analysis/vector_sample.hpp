#pragma once
// A whole call of a CUDA rung on vectors, extrapolated to longer ones.

#include <cstdint>
#include <string>

#include "analysis/evidence.hpp"
#include "analysis/trace_call.hpp"

namespace rung::analysis {

struct VectorSample {
  std::int64_t n;  // in the sample: at most 2^22
  CallTrace call;
  Evidence evidence;  // in the problem
};

/// A virtual GPU, from --gpu and --code.
struct VectorDevice {
  std::string gpu, code;
};

/// A dot product, or a sum, of n elements. Throws as trace_call() does.
VectorSample sample_vectors(const RungInfo& rung, Dtype dtype, std::int64_t n,
                            const VectorDevice& device, const Results& results);

}  // namespace rung::analysis
