#pragma once
// The counters of a launch, in NVIDIA's units, summed over all blocks.

#include <cstdint>
#include <string>
#include <vector>

namespace rung::vgpu {

/// Members of the first group are named as in `rung trace --json` (docs/virtual-gpu.md).
struct Counters {
  // Requests: warp-level instructions with at least one active lane. Sectors: 32 bytes.
  std::uint64_t global_load_requests = 0, global_load_sectors = 0;
  std::uint64_t global_store_requests = 0, global_store_sectors = 0;
  std::uint64_t shared_load_requests = 0, shared_load_wavefronts = 0;
  std::uint64_t shared_store_requests = 0, shared_store_wavefronts = 0;
  std::uint64_t ffma = 0;                // per thread: f32 fma that are not predicated off
  std::uint64_t instructions = 0;        // per warp
  std::uint64_t barriers = 0;            // per warp, block-wide and named
  std::uint64_t divergent_branches = 0;  // branches that divide the active lanes

  std::uint64_t thread_instructions = 0;
  std::uint64_t branches = 0;
  std::uint64_t global_atomics = 0, shared_atomics = 0;  // per warp
  std::uint64_t local_load_requests = 0, local_store_requests = 0;
  // As issued by ptxas, after merging neighbouring shared accesses (program/merge.hpp).
  std::uint64_t issued_shared_load_requests = 0, issued_shared_load_wavefronts = 0;
  std::uint64_t issued_shared_store_requests = 0, issued_shared_store_wavefronts = 0;

  // Bulk copies (cp.async.bulk, TMA). Each is issued by one thread, so they are not requests of
  // warps. Loads write to shared memory, stores read from it. Bytes, 32-byte sectors and 128-byte
  // lines are in global memory, counted once per copy even with multicast.
  std::uint64_t bulk_loads = 0, bulk_load_bytes = 0, bulk_load_sectors = 0, bulk_load_lines = 0;
  std::uint64_t bulk_stores = 0, bulk_store_bytes = 0, bulk_store_sectors = 0, bulk_store_lines = 0;
  // Bytes written to shared memory, over all destination blocks, and bytes read from it.
  std::uint64_t bulk_shared_store_bytes = 0, bulk_shared_load_bytes = 0;
  // Tensor cores: multiply-adds of mma, wmma, wgmma and tcgen05.mma of any type, and reads of shared memory by wgmma,
  // 128 bytes per wavefront, and by tcgen05.mma.
  std::uint64_t tensor_multiply_adds = 0;
  std::uint64_t wgmma_shared_load_bytes = 0, wgmma_shared_load_wavefronts = 0;
  std::uint64_t tcgen05_shared_load_bytes = 0;

  Counters& operator+=(const Counters& other);

  bool operator==(const Counters&) const = default;
};

/// Classes of warp instructions, for the instruction mix.
enum class InstrClass : std::uint8_t {
  fp32,
  fp64,
  fp16,
  integer,
  conversion,
  logic,
  move,
  special_function,
  matrix,
  global_memory,
  shared_memory,
  local_memory,
  constant_memory,
  atomic,
  async_copy,
  control,
  barrier,
  warp,
  other
};
const char* name(InstrClass instr_class);

/// The counters of one PTX instruction.
struct SiteCounters {
  std::uint64_t executions = 0;  // per warp
  std::uint64_t lanes = 0;       // per thread
  std::uint64_t units = 0;       // sectors or wavefronts
};

}  // namespace rung::vgpu
