#pragma once
// Reports how block 0 lays out its tiles in shared memory: the boxes that bulk copies fill, and the
// descriptors by which matrix instructions read them.

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>

#include "vgpu/model/matrix_form.hpp"
#include "vgpu/model/tensor_map.hpp"

namespace rung::vgpu {

/// A box that is copied to shared memory, or an operand that an instruction reads there.
struct LayoutUse {
  std::uint32_t site = 0;  // index in sites(kernel)
  char operand = 0;        // 'A' or 'B'; 0 for a box
  // A box: its tensor map, its position in the tensor, its offset in shared memory.
  TensorMap map;
  std::array<std::int32_t, TensorMap::max_dimensions> at{};
  std::uint32_t offset = 0;
  // An operand.
  std::uint64_t descriptor = 0;
  MatrixElement element = MatrixElement::bf16;
  int lines = 0, k = 0;     // rows of A or columns of B, and the depth of the instruction
  bool transposed = false;  // MN-major
};

/// Called in program order, on the thread that runs block 0. It must not launch kernels.
using LayoutWatcher = std::function<void(const LayoutUse& use)>;

/// The watcher of the process, or null. It may change between launches. Needs observed launches.
inline std::atomic<const LayoutWatcher*> layout_watcher{nullptr};

}  // namespace rung::vgpu
