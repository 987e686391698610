#pragma once
// Metal's part of program.hpp.

#include "tools/any_kernel/program.hpp"

namespace rung::any_kernel {

/// Fills in the kernels and the PTX. Throws as compile_program() does.
void compile_metal(Program& program, const ProgramRequest& request);

}  // namespace rung::any_kernel
