#pragma once
// The calls that led to a line of a header.

#include <string>

#include "vgpu/launch.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// The program's lines whose inlined calls led to this line of the PTX text, innermost first: "gemm.cu:120". Only
/// those in the kernel's own folder, and empty if the line itself is there.
std::string callers_of(const ptx::Module& module, int ptx_line);

/// Adds them to the messages of a launch: "read by thread … at copy_sm80.hpp:89, from gemm.cu:120".
void add_callers(LaunchReport& report, const ptx::Module& module);

}  // namespace rung::vgpu
