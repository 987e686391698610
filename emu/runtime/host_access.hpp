#pragma once
// Accesses of the program's host code to device memory. They are reported before the signal that they
// raise ends the program, or reaches its own handler.

namespace rung::emu {

/// From now on.
void watch_host_accesses();

}  // namespace rung::emu
