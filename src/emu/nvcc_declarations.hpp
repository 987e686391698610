#pragma once
// Declarations that nvcc takes and clang does not, written so that both do. Lines keep their
// numbers.

#include <string>

namespace rung::emu {

/// nvcc takes `__device__ [[nodiscard]] int f()`; clang wants attributes first. They go, because
/// none of them changes what is computed.
std::string drop_late_attributes(const std::string& text);

/// nvcc takes `typename traits<A>::rebind_alloc<B>`; clang wants `template` before the last name.
std::string name_dependent_templates(const std::string& text);

/// nvcc takes `extern __shared__ Tiles tiles;` in a kernel; clang takes an array alone.
std::string declare_shared_arrays(const std::string& text);

/// nvcc's cooperative_groups.h includes <cuda/atomic>, of which clang takes half a second: for those
/// that name what is there and do not include it.
std::string include_atomics(const std::string& text);

}  // namespace rung::emu
