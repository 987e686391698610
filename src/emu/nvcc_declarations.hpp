#pragma once
// Declarations that nvcc takes and clang does not, written so that both do. Lines keep their
// numbers.

#include <string>

namespace rung::emu {

/// nvcc takes `__device__ [[nodiscard]] int f()`; clang wants attributes first. They are removed,
/// because none of them changes results.
std::string drop_late_attributes(const std::string& text);

/// nvcc takes `typename traits<A>::rebind_alloc<B>`; clang wants `template` before the last name.
std::string name_dependent_templates(const std::string& text);

/// nvcc takes `extern __shared__ Tiles tiles;` in a kernel; clang takes an array alone.
std::string declare_shared_arrays(const std::string& text);

/// GCC takes `double (*a)[n][m] = (double (*)[n][m])p;` in C++; clang takes `auto a = …` if n or m is
/// no constant.
std::string deduce_array_pointers(const std::string& text);

/// nvcc's cooperative_groups.h includes <cuda/atomic>. Sources that use its names without that
/// include get it here; for all others it would cost half a second of compilation.
std::string include_atomics(const std::string& text);

}  // namespace rung::emu
