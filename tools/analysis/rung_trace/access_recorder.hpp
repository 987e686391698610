#pragma once
// Records the accesses of a warp's lanes while a kernel runs on the virtual GPU.

#include <cstdint>
#include <map>
#include <vector>

#include "vgpu/model/access_watch.hpp"

namespace rung {

/// At most one object may exist at a time. It receives the accesses of every observed launch of the
/// virtual driver.
class AccessRecorder {
 public:
  /// Records the first access per instruction and address space by this warp of block 0, and all
  /// stores to global memory by all warps. `also` is called for every access.
  explicit AccessRecorder(int warp, vgpu::AccessWatcher also = {});
  AccessRecorder(const AccessRecorder&) = delete;
  AccessRecorder& operator=(const AccessRecorder&) = delete;
  ~AccessRecorder();

  /// In the order of execution.
  const std::vector<vgpu::WarpAccess>& accesses() const { return accesses_; }
  const std::vector<vgpu::WarpAccess>& stores() const { return stores_; }

 private:
  void note(const vgpu::WarpAccess& access);

  int warp_;
  vgpu::AccessWatcher also_;
  std::map<std::pair<std::uint32_t, bool>, std::size_t> seen_;
  std::vector<vgpu::WarpAccess> accesses_, stores_;
};

/// The ratio of an access's sectors or wavefronts to the minimum for the distinct bytes that it
/// accesses.
double waste(const vgpu::WarpAccess& access);

}  // namespace rung
