#pragma once
// A whole call of a rung of CUDA or Metal on vectors, dot product or sum, on the virtual GPU.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/kernel_trace.hpp"
#include "core/dtype.hpp"
#include "core/rung.hpp"
#include "vgpu/model/device.hpp"

namespace rung::analysis {

struct CallTrace {
  std::vector<KernelTrace> launches;  // in order
  std::string_view id, ptx;           // of the rung
  std::string code;                   // "PTX by clang 19.1.7"
  bool is_zeroed = false;             // the result, before each call: one more launch
  double host_values = 0;             // that the launches leave to the CPU to add up
};

/// Vectors of n elements that lie together. `gpu` is as --gpu takes it, `code` "clang", "nvcc" or
/// empty. Throws std::invalid_argument, in one line, for what the rung or the device does not
/// allow, and KernelError if the rung has a hazard.
CallTrace trace_call(const RungInfo& rung, Dtype dtype, std::int64_t n, const std::string& gpu,
                     const std::string& code);

/// The condition number 2 |x|.|y| / |x.y| of vectors whose terms cancel so much that no sum in the
/// type's own precision has a right bit left, and one in twice that still half of them.
double hard_condition(Dtype dtype);

/// How many leading bits of the result, of as many as the dtype has, are wrong for such vectors of
/// 4096 elements. Nothing for sums and for types that have none.
std::optional<double> wrong_bits(const RungInfo& rung, Dtype dtype, const std::string& gpu,
                                 const std::string& code);

/// Of a dtype's significand, the leading one included.
int precision_of(Dtype dtype);

}  // namespace rung::analysis
