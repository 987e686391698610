#pragma once
// The program's lines that call this library, for reports of unordered operations.

#include "emu/runtime/call_site.hpp"
#include "vgpu/driver/virtual_driver.hpp"

namespace rung::emu {

vgpu::ProgramSource& program_source();

/// While it exists, this thread's calls come from that site, if it is known.
class LaunchSite {
 public:
  explicit LaunchSite(const CallSite& site);
  ~LaunchSite();
  LaunchSite(const LaunchSite&) = delete;
  LaunchSite& operator=(const LaunchSite&) = delete;
};

/// True if the program, or a library that it has loaded, calls functions that leave operations
/// unordered: those of streams other than the default one, of graphs, and of memory pools.
bool imports_streams();

}  // namespace rung::emu
