#pragma once
// [[threadgroup(0)]], [[threadgroup(1)]], … on the virtual GPU: parts of a block's dynamic shared
// memory.

#include "core/integers.hpp"
#include "device/metal/descriptor.hpp"
#include "vgpu/launch.hpp"

namespace rung::metal {

/// Lays out the arguments one after the other, aligned to 16 bytes, and tells the module's kernels
/// where each begins. An argument of size 0 begins at the end, where every access is out of bounds.
/// Call it before each launch that uses `options`.
inline void lay_out(const ThreadgroupMemory& bytes, const vgpu::Module& module,
                    vgpu::DeviceMemory& memory, vgpu::LaunchOptions& options) {
  constexpr std::int64_t alignment = 16;
  std::array<std::uint32_t, std::tuple_size_v<ThreadgroupMemory>> begin;
  std::int64_t end = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    begin[i] = static_cast<std::uint32_t>(end);
    end += round_up(bytes[i], alignment);
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == 0) begin[i] = static_cast<std::uint32_t>(end);
  }
  options.dynamic_shared = end;
  // src/vgpu/frontends/metal/include/rung_metal/positions.h; kernels without arguments have none.
  if (const auto layout = module.global("rung_threadgroup_layout")) {
    memory.write(layout->address, begin.data(), sizeof begin);
  }
}

}  // namespace rung::metal
