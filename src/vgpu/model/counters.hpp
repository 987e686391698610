#pragma once
// The counters of a launch, in NVIDIA's units, summed over the launch.

#include <cstdint>
#include <string>
#include <vector>

namespace rung::vgpu {

/// The first group has the names in `rung trace --json` (docs/virtual-gpu.md).
struct Counters {
  // Requests: warp-level instructions with at least one active lane. Sectors: 32 bytes.
  std::uint64_t global_load_requests = 0, global_load_sectors = 0;
  std::uint64_t global_store_requests = 0, global_store_sectors = 0;
  std::uint64_t shared_load_requests = 0, shared_load_wavefronts = 0;
  std::uint64_t shared_store_requests = 0, shared_store_wavefronts = 0;
  std::uint64_t ffma = 0;                // per thread: f32 fma, not predicated off
  std::uint64_t instructions = 0;        // per warp
  std::uint64_t barriers = 0;            // per warp, block-wide and named
  std::uint64_t divergent_branches = 0;  // branches at which the active lanes diverged

  std::uint64_t thread_instructions = 0;
  std::uint64_t branches = 0;
  std::uint64_t global_atomics = 0, shared_atomics = 0;  // per warp
  std::uint64_t local_load_requests = 0, local_store_requests = 0;
  // As ptxas issues them, with neighbouring shared accesses merged (program/merge.hpp).
  std::uint64_t issued_shared_load_requests = 0, issued_shared_load_wavefronts = 0;
  std::uint64_t issued_shared_store_requests = 0, issued_shared_store_wavefronts = 0;

  // Bulk copies (cp.async.bulk, TMA), each issued by one thread; they are not requests of warps.
  // Loads go to shared memory, stores come from it. Bytes, 32-byte sectors and 128-byte lines are
  // those that they access in global memory, once per copy even with multicast.
  std::uint64_t bulk_loads = 0, bulk_load_bytes = 0, bulk_load_sectors = 0, bulk_load_lines = 0;
  std::uint64_t bulk_stores = 0, bulk_store_bytes = 0, bulk_store_sectors = 0, bulk_store_lines = 0;
  // Bytes that they write to shared memory, in each destination block, and that they read from it.
  std::uint64_t bulk_shared_store_bytes = 0, bulk_shared_load_bytes = 0;
  // Tensor cores: multiply-adds of mma, wmma and wgmma, of any type; reads of shared memory by
  // wgmma, 128 bytes at a time.
  std::uint64_t tensor_multiply_adds = 0;
  std::uint64_t wgmma_shared_load_bytes = 0, wgmma_shared_load_wavefronts = 0;

  Counters& operator+=(const Counters& other);

  bool operator==(const Counters&) const = default;
};

/// The class of a warp instruction, for the instruction mix.
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
