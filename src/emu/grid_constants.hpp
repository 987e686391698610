#pragma once
// __grid_constant__, which clang 19 does not know: the header makes it an annotation of the
// parameter.

#include <string>

namespace rung::emu {

/// The module, LLVM IR as text, with LLVM's own note for each parameter of a kernel that is
/// annotated. Addresses of such a parameter are those of parameter memory, as TMA needs for a
/// tensor map; others are copied to local memory where their address is taken.
std::string note_grid_constants(const std::string& module);

}  // namespace rung::emu
