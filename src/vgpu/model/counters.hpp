#pragma once
// What a launch did, in NVIDIA's units, summed over the launch.

#include <cstdint>
#include <string>
#include <vector>

namespace rung::vgpu {

/// The first group are the names of `rung trace --json` (docs/json.md).
struct Counters {
  // Requests: warp-level instructions with at least one active lane. Sectors: 32 bytes.
  std::uint64_t global_load_requests = 0, global_load_sectors = 0;
  std::uint64_t global_store_requests = 0, global_store_sectors = 0;
  std::uint64_t shared_load_requests = 0, shared_load_wavefronts = 0;
  std::uint64_t shared_store_requests = 0, shared_store_wavefronts = 0;
  std::uint64_t ffma = 0;                // thread level: f32 fma, predicated on
  std::uint64_t instructions = 0;        // warp level
  std::uint64_t barriers = 0;            // warp level, block-wide and named
  std::uint64_t divergent_branches = 0;  // branches whose active lanes went both ways

  std::uint64_t thread_instructions = 0;
  std::uint64_t branches = 0;
  std::uint64_t global_atomics = 0, shared_atomics = 0;  // warp level
  std::uint64_t local_load_requests = 0, local_store_requests = 0;
  // As ptxas will issue them: neighbouring shared accesses merged (program/merge.hpp).
  std::uint64_t issued_shared_load_requests = 0, issued_shared_load_wavefronts = 0;
  std::uint64_t issued_shared_store_requests = 0, issued_shared_store_wavefronts = 0;

  // Bulk copies (cp.async.bulk, TMA), each of one thread: no requests of warps. Loads go into
  // shared memory, stores out of it. Bytes, sectors of 32 and lines of 128 bytes are those that
  // they touch in global memory, each once for a copy: also for one that goes to many blocks.
  std::uint64_t bulk_loads = 0, bulk_load_bytes = 0, bulk_load_sectors = 0, bulk_load_lines = 0;
  std::uint64_t bulk_stores = 0, bulk_store_bytes = 0, bulk_store_sectors = 0, bulk_store_lines = 0;
  // What they write to shared memory, in each block that they go to, and read from there.
  std::uint64_t bulk_shared_store_bytes = 0, bulk_shared_load_bytes = 0;
  // Tensor cores: multiply-adds of mma, wmma and wgmma, of any type; what wgmma reads of shared
  // memory, 128 bytes at a time.
  std::uint64_t tensor_multiply_adds = 0;
  std::uint64_t wgmma_shared_load_bytes = 0, wgmma_shared_load_wavefronts = 0;

  Counters& operator+=(const Counters& other);
};

/// A warp instruction's class, for the mix.
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

/// One PTX instruction's share.
struct SiteCounters {
  std::uint64_t executions = 0;  // warp level
  std::uint64_t lanes = 0;       // thread level
  std::uint64_t units = 0;       // sectors or wavefronts
};

}  // namespace rung::vgpu
