#pragma once
// The tiles of a running kernel: which boxes block 0 copied to shared memory, by which descriptors
// it read them, and whether both agree.

#include <span>
#include <string>
#include <vector>

#include "vgpu/launch.hpp"
#include "vgpu/model/layout_watch.hpp"

namespace rung::layout {

/// Records the tiles of the next launches. At most one may exist at a time.
class UseRecorder {
 public:
  UseRecorder();
  UseRecorder(const UseRecorder&) = delete;
  UseRecorder& operator=(const UseRecorder&) = delete;
  ~UseRecorder();

  /// Returns the uses since the last call.
  std::vector<vgpu::LayoutUse> take() { return std::move(uses_); }

 private:
  vgpu::LayoutWatcher watcher_;
  std::vector<vgpu::LayoutUse> uses_;
};

/// A box or an operand as a kernel used it first, with the number of uses like it at its line.
struct UsedTile {
  /// The field of a descriptor that alone makes it fit, if there is one.
  enum class Cause { none, swizzle, stride, leading };
  std::string where;  // "tile.cu:31"
  std::string what;   // "box of 64 x 128 bf16, swizzle 128 B, at byte 1024"
  std::string
      finding;  // of an operand: what it reads, and whether the layouts agree; otherwise empty
  bool fits = true;
  Cause cause = Cause::none;
  int count = 0;
};

/// Ordered by first use. `sites` are those of the kernel.
std::vector<UsedTile> used_tiles(std::span<const vgpu::LayoutUse> uses,
                                 std::span<const vgpu::Site> sites);

}  // namespace rung::layout
