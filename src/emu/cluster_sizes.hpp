#pragma once
// __cluster_dims__, which clang 19 does not know: the header makes it an annotation of the kernel.

#include <string>

namespace rung::emu {

/// The module, LLVM IR as text, with a pragma `rung.cluster x, y, z` at the beginning of each kernel
/// that is annotated with the size of its clusters. The virtual GPU reads it as .reqnctapercluster,
/// which LLVM 19 does not write.
std::string state_cluster_sizes(const std::string& module);

}  // namespace rung::emu
