// vgpu/driver/judged_memory.hpp for the harness of rung.referee, which declares these functions itself.

#include "vgpu/driver/judged_memory.hpp"

#include "cuda_runtime_api.h"

extern "C" RUNG_EMU_API int rung_emu_set_memory_rule(const void* address, int rule) {
  const auto at = reinterpret_cast<std::uint64_t>(address);
  return rung::vgpu::set_memory_rule(at, static_cast<rung::vgpu::MemoryRule>(rule)) ? 0 : 1;
}

extern "C" RUNG_EMU_API unsigned long long rung_emu_take_host_visible_bytes() {
  return rung::vgpu::take_host_visible_bytes();
}

extern "C" RUNG_EMU_API unsigned long long rung_emu_live_objects() {
  return rung::vgpu::live_objects();
}
