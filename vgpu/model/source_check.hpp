#pragma once
// A look at the source of a kernel. Optimised code does not distinguish `if (i >= n) return;` in front of a
// barrier, which is correct, from `if (i < n) { … }` around it, which is not.

#include <string>

namespace rung::vgpu {

/// True if the statement whose condition is on line `condition` of that file encloses `line`.
using SourceCheck = bool (*)(const std::string& file, int condition, int line);

/// Sets the check of the process. Without one, the source is not available, and threads that have exited are
/// taken to have returned early.
void set_source_check(SourceCheck check);

}  // namespace rung::vgpu
