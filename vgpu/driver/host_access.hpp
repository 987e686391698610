#pragma once
// Reports accesses of a program's host code to device memory, which end in SIGSEGV as with a GPU.

#include <csignal>

#include "vgpu/model/hazard.hpp"

namespace rung::vgpu {

/// Called in the signal handler, with the source line of the access if the program has debug
/// information and addr2line is installed. When it returns, the process continues with the previous
/// handler.
using HostAccessObserver = void (*)(const Hazard& access);

/// Handles SIGSEGV from now on; other faults go to the previous handler. Replaces the previous
/// observer.
void set_host_access_observer(HostAccessObserver observer);

/// True if the program's host code may not access some pages of managed, page-locked or registered memory.
bool protects_host_pages();

/// Handles the program's own sigaction calls for SIGSEGV in place of the system's: `handler`
/// receives the same faults as otherwise, but after the observer. Returns false if no observer is
/// set; the caller must then call the system's sigaction.
bool set_handler_after_observer(const struct sigaction* handler, struct sigaction* before);

}  // namespace rung::vgpu
