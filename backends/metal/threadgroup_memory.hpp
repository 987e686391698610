#pragma once
// Threadgroup arguments, [[threadgroup(0)]], [[threadgroup(1)]], …, on the virtual GPU: parts of a
// block's dynamic shared memory.

#include "core/integers.hpp"
#include "device/metal/descriptor.hpp"
#include "vgpu/launch.hpp"

namespace rung::metal {

/// Places the arguments one after the other, aligned to 16 bytes, and writes their offsets to the
/// module. An argument of size 0 is placed at the end, so that every access to it is out of bounds.
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
  // Defined in emu/metal/positions.h; absent in modules whose kernels
  // have no such arguments.
  if (const auto layout = module.global("rung_threadgroup_layout")) {
    memory.write(layout->address, begin.data(), sizeof begin);
  }
}

}  // namespace rung::metal
