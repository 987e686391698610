#pragma once
// What a launch did, in NVIDIA's units, summed over the launch.

#include <cstdint>
#include <string>
#include <vector>

namespace rung::vgpu {

namespace ptx {
struct Instruction;
}

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
/// The class of any instruction, memory, control and barriers among them.
InstrClass classify(const ptx::Instruction& instruction);

/// One PTX instruction's share.
struct SiteCounters {
  std::uint64_t executions = 0;  // warp level
  std::uint64_t lanes = 0;       // thread level
  std::uint64_t units = 0;       // sectors or wavefronts
};

}  // namespace rung::vgpu
