#pragma once
// Detects accesses to device memory by the host code of a loaded function.

#include <string>

namespace rung {

/// From now on, calls `told` with a message at each such access, in the handler of the resulting
/// signal.
void tell_host_accesses(void (*told)(const std::string& message));

}  // namespace rung
