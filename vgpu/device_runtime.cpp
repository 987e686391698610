#include "vgpu/device_runtime.hpp"

#include <algorithm>

namespace rung::vgpu {
namespace {

constexpr const char* get_handle = R"(
.func (.param .b64 result) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
  .reg .b64 %handle;
  mov.b64 %handle, 1;
  st.param.b64 [result], %handle;
  ret;
}
)";

// The last block to arrive lets the others go on, who wait for the generation to change. One barrier is enough, because
// launches run one after the other.
constexpr const char* synchronize = R"(
.global .align 4 .u32 rung_grid_arrived;
.global .align 4 .u32 rung_grid_generation;
.func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
  .reg .pred %is_other, %is_last, %is_waiting;
  .reg .b32 %rank, %part, %blocks, %more, %before, %now, %old, %zero;
  bar.sync 0;
  mov.u32 %rank, %tid.x;
  mov.u32 %part, %tid.y;
  or.b32 %rank, %rank, %part;
  mov.u32 %part, %tid.z;
  or.b32 %rank, %rank, %part;
  setp.ne.u32 %is_other, %rank, 0;
  @%is_other bra together;
  mov.u32 %blocks, %nctaid.x;
  mov.u32 %more, %nctaid.y;
  mul.lo.u32 %blocks, %blocks, %more;
  mov.u32 %more, %nctaid.z;
  mul.lo.u32 %blocks, %blocks, %more;
  sub.u32 %blocks, %blocks, 1;
  membar.gl;
  ld.volatile.global.u32 %before, [rung_grid_generation];
  atom.global.add.u32 %old, [rung_grid_arrived], 1;
  setp.eq.u32 %is_last, %old, %blocks;
  @%is_last bra last;
waiting:
  nanosleep.u32 100;
  ld.volatile.global.u32 %now, [rung_grid_generation];
  setp.eq.u32 %is_waiting, %now, %before;
  @%is_waiting bra waiting;
  bra passed;
last:
  atom.global.exch.b32 %old, [rung_grid_arrived], 0;
  membar.gl;
  atom.global.add.u32 %old, [rung_grid_generation], 1;
passed:
  membar.gl;
together:
  bar.sync 0;
  mov.b32 %zero, 0;
  st.param.b32 [result], %zero;
  ret;
}
)";

}  // namespace

std::string missing_device_runtime(const ptx::Module& module) {
  const auto lacks = [&](const char* name) {
    return std::ranges::any_of(module.functions, [&](const ptx::Function& function) {
      return function.external && function.name == name;
    });
  };
  std::string text;
  if (lacks("cudaCGGetIntrinsicHandle")) text += get_handle;
  if (lacks("cudaCGSynchronize")) text += synchronize;
  return text;
}

}  // namespace rung::vgpu
