#pragma once
// Cluster launch control: a running cluster cancels the launch of one that has not started yet, and
// does its work. Requires sm_100a.
// https://docs.nvidia.com/cuda/parallel-thread-execution/#parallel-synchronization-and-communication-instructions-clusterlaunchcontrol-try-cancel

#include <cstdint>

#include "device/cuda/keywords.cuh"

namespace rung::ptx {

/// The answer to a request, in shared memory.
struct alignas(16) LaunchResponse {
  unsigned char bytes[16];
};

#ifdef RUNG_HOST

// Only declared for kernel templates; the host never calls them.
void clusterlaunchcontrol_try_cancel(std::uint32_t to, std::uint32_t barrier);
bool clusterlaunchcontrol_query_cancel(std::uint32_t response, unsigned& block);

#else

/// clusterlaunchcontrol.try_cancel: asks to cancel the launch of a cluster. The response is written
/// to each block of this cluster, and its 16 bytes complete at the corresponding mbarrier of each.
/// Not allowed after a response without a cluster.
__device__ __forceinline__ void clusterlaunchcontrol_try_cancel(std::uint32_t to,
                                                                std::uint32_t barrier) {
  asm volatile(
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
      ".multicast::cluster::all.b128 [%0], [%1];" ::"r"(to),
      "r"(barrier)
      : "memory");
}

/// clusterlaunchcontrol.query_cancel: true if the response names a cluster; then `block` is
/// blockIdx.x of its first block.
__device__ __forceinline__ bool clusterlaunchcontrol_query_cancel(std::uint32_t response,
                                                                  unsigned& block) {
  std::uint32_t is_canceled;
  asm volatile(
      "{\n\t"
      ".reg .pred canceled;\n\t"
      ".reg .b128 response;\n\t"
      "ld.shared.b128 response, [%2];\n\t"
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 canceled, response;\n\t"
      "selp.u32 %0, 1, 0, canceled;\n\t"
      "@canceled clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 "
      "{%1, _, _, _}, response;\n\t"
      "}"
      : "=r"(is_canceled), "+r"(block)
      : "r"(response)
      : "memory");
  return is_canceled != 0;
}

#endif

}  // namespace rung::ptx
