#pragma once
// Where the lanes of a warp go, noted while a kernel runs on the virtual GPU.

#include <cstdint>
#include <map>
#include <vector>

#include "vgpu/observers/access_watch.hpp"

namespace rung {

/// While one lives, no other may. Whatever the virtual GPU observes is told to it.
class AccessRecorder {
 public:
  /// Keeps the accesses of this warp of block 0, the first at each instruction and memory, and all
  /// stores to global memory of all warps.
  explicit AccessRecorder(int warp);
  AccessRecorder(const AccessRecorder&) = delete;
  AccessRecorder& operator=(const AccessRecorder&) = delete;
  ~AccessRecorder();

  /// In the order in which they ran.
  const std::vector<vgpu::WarpAccess>& accesses() const { return accesses_; }
  const std::vector<vgpu::WarpAccess>& stores() const { return stores_; }

 private:
  void note(const vgpu::WarpAccess& access);

  int warp_;
  std::map<std::pair<std::uint32_t, bool>, std::size_t> seen_;
  std::vector<vgpu::WarpAccess> accesses_, stores_;
};

/// How many times what it needs at the least an access takes: sectors, or passes through the banks,
/// over those that the different bytes it touches would fill.
double waste(const vgpu::WarpAccess& access);

}  // namespace rung
