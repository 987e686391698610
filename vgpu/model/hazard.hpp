#pragma once
// Hazards: errors of a kernel, as text and as data.

#include <cstdint>
#include <string>

namespace rung::vgpu {

enum class HazardKind : std::uint8_t {
  shared_race,  // two threads access a word of shared memory without a barrier in between
  global_race,  // likewise in global memory, within a block or between blocks
  same_value,   // two writes that would race, but the second one stores the value already there
  divergent_barrier,  // a block-wide barrier that some lanes of the warp do not reach
  deadlock,           // all warps wait
  out_of_bounds,
  misaligned,
  unaligned_vector,  // Metal: a vector whose address is a multiple of its elements' size alone
  uninitialised_read,
  read_only_write,    // a store to constant memory
  bad_participant,    // a shuffle or vote names an inactive lane
  missing_fence,      // wgmma or TMA may see stale data
  in_flight,          // an access to data that an asynchronous operation still reads or writes
  early_access,       // global memory accessed while the previous kernel may still run
  barrier_misuse,     // an uninitialised mbarrier, or too many arrivals
  trap,               // the kernel's own trap or failed assertion
  instruction_limit,  // the launch exceeded its instruction limit
  leak,               // device memory not freed at exit
  host_access,        // host code accesses device memory
  failed_call,        // a call of the host failed, and the program ignores its error
  unordered,          // two operations access the same bytes, and nothing orders them
  tensor_memory,      // tensor memory is not allocated, not reached by the warp, or not released
  descriptor,         // a descriptor of tcgen05 that does not exist, or does not fit the matrix
};

/// "shared-memory race", "out of bounds", …
const char* name(HazardKind kind);
/// True if the kernel cannot continue: the launch then ends with an error, as on a GPU.
bool is_fault(HazardKind kind);

/// One party of a hazard.
struct Party {
  std::uint32_t block[3] = {0, 0, 0};
  std::uint32_t thread[3] = {0, 0, 0};
  std::string access;  // "read", "write", "atomic"
  std::string source;  // "tile.cu:31"; empty if unknown
  std::string file;    // path as passed to the compiler
  int line = 0;
  // Mnemonic, and line in the PTX text. An operation has "kernel fill" or "copy" here.
  std::string instruction;
};

struct Hazard {
  HazardKind kind;
  std::string kernel;
  Party first;  // the one running when the hazard was found
  bool has_other = false;
  Party other;
  std::string address;      // "As + 132", "global allocation of 4096 bytes + 4096"
  std::string message;      // one complete line
  std::uint64_t count = 1;  // for this pair of instructions
};

}  // namespace rung::vgpu
