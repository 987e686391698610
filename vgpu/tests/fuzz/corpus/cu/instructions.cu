// Instructions that a compiler passes on as they stand: scopes with their own registers and labels,
// tensor copies, barriers in shared memory, matrix instructions, cache hints, pairs and sinks.

#ifdef __clang__
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#endif

using Word = unsigned;

__global__ void instructions(const void* map, float* out, Word tile, Word barrier) {
  alignas(128) __shared__ float buffer[64];
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier));
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(16384));
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4}], [%2];" ::"r"(tile),
      "l"(map), "r"(barrier), "r"(0), "r"(64)
      : "memory");
#pragma unroll
  for (int phase = 0; phase < 2; ++phase) {
    asm volatile(
        "{\n.reg .pred p;\nwait:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
        "@p bra done;\nbra wait;\ndone:\n}" ::"r"(barrier),
        "r"(phase));
  }
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %0, 0; wgmma.fence.sync.aligned; "
      "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; }" ::"r"(1));
  asm volatile(
      "setmaxnreg.inc.sync.aligned.u32 232; barrier.cluster.arrive.release.aligned; "
      "barrier.cluster.wait.acquire.aligned;");
  Word a[4], d;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(tile));
  float c[4] = {};
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[0]), "r"(a[1]));
  asm volatile("ld.global.L1::no_allocate.L2::128B.v4.f32 {%0, %1, %2, %3}, [%4+16];"
               : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3])
               : "l"(out));
  asm volatile(
      "{ .reg .pred p; .reg .b32 lane; elect.sync lane|p, 0xffffffff; "
      "shfl.sync.bfly.b32 %0|p, lane, 1, 31, -1; @!p add.s32 %0, %0, WARP_SZ; }"
      : "=r"(d));
  asm volatile(
      "cp.async.ca.shared.global [%0], [%1], 16; cp.async.commit_group; "
      "cp.async.wait_group 0;" ::"r"(tile),
      "l"(out));
  buffer[d & 63] = c[0] + c[1];
  out[0] = buffer[a[0] & 63] + c[2] + c[3];
}
