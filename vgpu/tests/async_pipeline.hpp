#pragma once
// A matrix product like that of Hopper kernels, in PTX: a producer warp loads tiles with TMA, a
// warpgroup multiplies them, and mbarriers synchronise both.

#include <string>
#include <vector>

#include "vgpu/tests/async_fixture.hpp"

namespace rung::vgpu {

/// C (64 x 64, f32) = A B^T of bf16, with 64 rows x 64 elements of A and B per step, in two stages.
/// Parameters: maps of A and B with boxes of 64 x 64 in the 128-byte swizzle, C, and the number of
/// steps. Returns one line per instruction or label.
inline std::vector<std::string> pipeline() {
  std::string sums, zero, stores;
  for (int i = 0; i < 32; ++i) {
    sums += (i == 0 ? "%f" : ", %f") + std::to_string(i);
    zero += "mov.f32 %f" + std::to_string(i) + ", 0f00000000;\n";
    const int offset = (i / 2 % 2 * 8 * 64 + i / 4 * 8 + i % 2) * 4;
    stores += "st.global.f32 [%rd6+" + std::to_string(offset) + "], %f" + std::to_string(i) + ";\n";
  }
  std::string multiplies;
  for (int k = 0; k < 4; ++k) {
    const std::string step = std::to_string(2 * k);
    multiplies += "add.u64 %rd12, %rd10, " + step + ";\nadd.u64 %rd13, %rd11, " + step +
                  ";\nwgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {" + sums +
                  "}, %rd12, %rd13, %p5, 1, 1, 0, 0;\n";
  }
  const std::string load =
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes ";
  const std::string text = R"(
ld.param.u64 %rd1, [a];
ld.param.u64 %rd2, [b];
ld.param.u64 %rd3, [c];
ld.param.u32 %r2, [steps];
mov.u32 %r1, %tid.x;
mov.u32 %r3, tiles;
mov.u32 %r4, 0;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra INITIALISED;
mbarrier.init.shared::cta.b64 [empty], 4;
mbarrier.init.shared::cta.b64 [empty+8], 4;
mbarrier.init.shared::cta.b64 [full], 1;
mbarrier.init.shared::cta.b64 [full+8], 1;
fence.mbarrier_init.release.cluster;
INITIALISED:
bar.sync 0;
setp.lt.u32 %p1, %r1, 128;
@%p1 bra CONSUMER;
setp.ne.u32 %p1, %r1, 128;
@%p1 bra DONE;
PRODUCE:
setp.ge.u32 %p1, %r4, %r2;
@%p1 bra DONE;
and.b32 %r5, %r4, 1;
shr.u32 %r6, %r4, 1;
and.b32 %r6, %r6, 1;
xor.b32 %r6, %r6, 1;
shl.b32 %r7, %r5, 3;
mov.u32 %r8, empty;
add.u32 %r8, %r8, %r7;
mov.u32 %r9, full;
add.u32 %r9, %r9, %r7;
WAIT_EMPTY:
mbarrier.try_wait.parity.shared::cta.b64 %pw, [%r8], %r6;
@!%pw bra WAIT_EMPTY;
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r9], 16384;
shl.b32 %r10, %r5, 14;
add.u32 %r10, %r10, %r3;
add.u32 %r11, %r10, 8192;
shl.b32 %r12, %r4, 6;
mov.u32 %r13, 0;
)" + load + R"([%r10], [%rd1, {%r12, %r13}], [%r9];
)" + load + R"([%r11], [%rd2, {%r12, %r13}], [%r9];
add.u32 %r4, %r4, 1;
bra PRODUCE;
CONSUMER:
)" + zero + R"(
and.b32 %r14, %r1, 31;
setp.eq.u32 %p3, %r14, 0;
setp.eq.u32 %p5, %r1, %r1;
CONSUME:
setp.ge.u32 %p1, %r4, %r2;
@%p1 bra STORE;
and.b32 %r5, %r4, 1;
shr.u32 %r6, %r4, 1;
and.b32 %r6, %r6, 1;
shl.b32 %r7, %r5, 3;
mov.u32 %r8, empty;
add.u32 %r8, %r8, %r7;
mov.u32 %r9, full;
add.u32 %r9, %r9, %r7;
WAIT_FULL:
mbarrier.try_wait.parity.shared::cta.b64 %pw, [%r9], %r6;
@!%pw bra WAIT_FULL;
shl.b32 %r10, %r5, 14;
add.u32 %r10, %r10, %r3;
shr.u32 %r10, %r10, 4;
cvt.u64.u32 %rd10, %r10;
or.b64 %rd10, %rd10, 0x4000004000010000;
add.u64 %rd11, %rd10, 512;
wgmma.fence.sync.aligned;
)" + multiplies + R"(
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
@%p3 mbarrier.arrive.shared::cta.b64 _, [%r8];
add.u32 %r4, %r4, 1;
bra CONSUME;
STORE:
shr.u32 %r15, %r1, 5;
shl.b32 %r15, %r15, 4;
shr.u32 %r16, %r14, 2;
add.u32 %r15, %r15, %r16;
shl.b32 %r15, %r15, 6;
and.b32 %r16, %r14, 3;
shl.b32 %r16, %r16, 1;
add.u32 %r15, %r15, %r16;
mul.wide.u32 %rd5, %r15, 4;
add.u64 %rd6, %rd3, %rd5;
)" + stores + R"(
DONE:
ret;
)";
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    if (end > begin) lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

inline std::string pipeline_text(const std::vector<std::string>& lines) {
  std::string body =
      ".shared .align 1024 .b8 tiles[32768];\n.shared .align 8 .b8 full[16];\n"
      ".shared .align 8 .b8 empty[16];\n" +
      registers();
  for (const std::string& line : lines) body += line + "\n";
  return entry(".param .u64 a, .param .u64 b, .param .u64 c, .param .u64 steps", body);
}

}  // namespace rung::vgpu
