#pragma once
// What nvcc takes and clang does not, written so that both do. Lines keep their numbers.

#include <string>

#include "emu/device_launches.hpp"

namespace rung::emu {

/// nvcc takes `k<< <grid, block>> >()` for a launch; clang knows only `<<<` and `>>>`.
std::string join_launch_brackets(const std::string& text);

/// nvcc takes `k<<<{2, 2}, 64>>>()`; clang wants dim3{2, 2}.
std::string name_dimensions(const std::string& text);

/// nvcc takes `asm("mov.u64 %0, %globaltimer;" …)`; clang wants %% before a special register, and
/// before one that the statement declares itself.
std::string escape_special_registers(const std::string& text);

/// nvcc takes `#define UNROLL #pragma unroll`; others want _Pragma("unroll").
std::string define_pragmas(const std::string& text);

/// nvcc passes over a backslash before a comment: `a + \ // the rest`, but for one in a directive.
std::string drop_stray_backslashes(const std::string& text);

/// nvcc takes `__shared__ alignas(16) float tile[64]`; clang wants alignas before the rest.
std::string lead_with_alignas(const std::string& text);

/// nvcc defines __NVCC__, which CUDA's C++ libraries take for nvcc itself: __CUDACC__ in its place,
/// unless the text knows clang.
std::string know_compiler(const std::string& text);

/// nvcc never calls the destructor of what is __shared__; clang takes no variable that has one. A
/// function of another name in its place.
std::string drop_barrier_destructor(const std::string& text);

/// All but the last, and what device_launches.hpp, nvcc_declarations.hpp, own_warp_size.hpp,
/// variable_arrays.hpp and vector_casts.hpp do. `launches` are those of the program that `file` belongs to.
std::string accepted_source(const std::string& text, const DeviceLaunches& launches = {},
                            const std::string& file = "");

}  // namespace rung::emu
