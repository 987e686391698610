#pragma once
// What is wrong with a kernel, in words and in parts.

#include <cstdint>
#include <string>

namespace rung::vgpu {

enum class HazardKind : std::uint8_t {
  shared_race,        // two threads, one word of shared memory, no barrier between
  global_race,        // the same through global memory, in a block or between blocks
  divergent_barrier,  // a block-wide barrier that some lanes of the warp do not reach
  deadlock,           // every warp waits
  out_of_bounds,
  misaligned,
  uninitialised_read,
  read_only_write,    // a store to constant memory
  bad_participant,    // a shuffle or vote names a lane that is not there
  missing_fence,      // wgmma or TMA may see a state before what it should see
  in_flight,          // a use of what an asynchronous operation still reads or writes
  early_access,       // global memory, while the launch ahead may still run
  barrier_misuse,     // an mbarrier that is none, or one that is counted past its end
  trap,               // the kernel's own trap or failed assertion
  instruction_limit,  // the launch ran longer than it was allowed
  leak,               // device memory not freed at exit
};

/// "shared-memory race", "out of bounds", …
const char* name(HazardKind kind);
/// The kernel cannot go on: the launch ends with an error, as on a GPU.
bool is_fault(HazardKind kind);

/// One party of a hazard.
struct Party {
  std::uint32_t block[3] = {0, 0, 0};
  std::uint32_t thread[3] = {0, 0, 0};
  std::string access;       // "read", "write", "atomic"
  std::string source;       // "tile.cu:31"; empty if unknown
  std::string instruction;  // mnemonic, with the line of the PTX text
};

struct Hazard {
  HazardKind kind;
  std::string kernel;
  Party first;  // who was running when it was found
  bool has_other = false;
  Party other;
  std::string address;      // "As + 132", "global allocation of 4096 bytes + 4096"
  std::string message;      // one line, complete
  std::uint64_t count = 1;  // how often at this pair of instructions
};

}  // namespace rung::vgpu
