#pragma once
// Threadgroup arguments, [[threadgroup(0)]], [[threadgroup(1)]], …, on the virtual GPU: parts of a
// block's dynamic shared memory.

#include "core/integers.hpp"
#include "device/metal/descriptor.hpp"
#include "vgpu/launch.hpp"

namespace rung::metal {

/// The variable with the offsets, defined in emu/metal/positions.h. It is absent in modules whose kernels
/// have no such arguments.
inline constexpr const char* threadgroup_layout = "rung_threadgroup_layout";

struct ThreadgroupLayout {
  std::array<std::uint32_t, std::tuple_size_v<ThreadgroupMemory>> begin;
  std::int64_t bytes = 0;  // of dynamic shared memory
};

/// Places the arguments one after the other, aligned to 16 bytes. An argument of size 0 is placed at the
/// end, so that every access to it is out of bounds.
inline ThreadgroupLayout layout_of(const ThreadgroupMemory& bytes) {
  constexpr std::int64_t alignment = 16;
  ThreadgroupLayout layout{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    layout.begin[i] = static_cast<std::uint32_t>(layout.bytes);
    layout.bytes += round_up(bytes[i], alignment);
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == 0) layout.begin[i] = static_cast<std::uint32_t>(layout.bytes);
  }
  return layout;
}

/// Writes the layout to the module. Call it before each launch that uses `options`.
inline void lay_out(const ThreadgroupMemory& bytes, const vgpu::Module& module,
                    vgpu::DeviceMemory& memory, vgpu::LaunchOptions& options) {
  const ThreadgroupLayout layout = layout_of(bytes);
  options.dynamic_shared = layout.bytes;
  if (const auto variable = module.global(threadgroup_layout)) {
    memory.write(variable->address, layout.begin.data(), sizeof layout.begin);
  }
}

}  // namespace rung::metal
