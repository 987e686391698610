#pragma once
// The static properties of kernels, the options of launches and their reports.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vgpu/model/access_watch.hpp"
#include "vgpu/model/counters.hpp"
#include "vgpu/model/hazard.hpp"
#include "vgpu/model/printed.hpp"
#include "vgpu/model/types.hpp"

namespace rung::vgpu {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
};

/// The counters to which an instruction contributes.
enum class SiteRole : std::uint8_t {
  other,
  global_load,
  global_store,
  global_atomic,
  shared_load,
  shared_store,
  shared_atomic,
  local_load,
  local_store,
  ffma,
  barrier,
  branch,
  bulk_load,
  bulk_store,
};

/// An instruction of the PTX, for reports.
struct Site {
  std::string mnemonic;
  int ptx_line = 0;
  ptx::SourceLine source;
  std::string where;  // "tile.cu:31"; empty if unknown
  InstrClass instr_class = InstrClass::other;
  SiteRole role = SiteRole::other;
  // A thread's share of tensor-core work: multiply-adds, and bytes that wgmma reads from shared
  // memory.
  std::uint32_t multiply_adds = 0, wgmma_bytes = 0;
};

/// The static properties of a kernel (CUfunction_attribute).
struct KernelInfo {
  std::string name;
  std::int64_t static_shared = 0;  // bytes
  std::int64_t local = 0;          // bytes per thread
  std::int64_t constant = 0;
  /// The most 32-bit values alive at once, at most 255: an estimate of ptxas's allocation.
  int registers = 0;
  int max_threads = 1024;                        // .maxntid, .reqntid
  std::int64_t required_threads[3] = {0, 0, 0};  // .reqntid, 0 if not given
  std::int64_t required_cluster[3] = {0, 0, 0};  // .reqnctapercluster, 0 if not given
  struct Parameter {
    std::size_t offset, bytes;
  };
  std::vector<Parameter> parameters;
  std::size_t parameter_bytes = 0;
};

struct LaunchOptions {
  Dim3 grid, block;
  Dim3 cluster;                     // blocks; the kernel's own size if it requires one
  std::int64_t dynamic_shared = 0;  // bytes
  bool cooperative = false;
  bool starts_early =
      false;              // the previous launch in the stream may still run: griddepcontrol.wait
  bool observe = true;    // counters of memory, and hazards
  bool native = true;     // translated to the CPU's instructions, where the CPU can run them
  AccessWatcher watcher;  // called for every observed access; may be empty
  unsigned threads = 0;   // of the CPU; 0: all
  std::uint64_t instruction_limit = 1ull << 40;     // warp instructions of the whole launch
  std::size_t hazard_limit = 100;                   // distinct ones kept
  std::size_t printf_bytes = default_printf_bytes;  // of the kernel's printf: the newest are kept
};

/// A launch that a kernel makes.
struct DeviceLaunch {
  std::uint64_t kernel = 0;  // its address
  Dim3 grid, block;
  std::uint32_t dynamic_shared = 0;  // bytes
  std::uint64_t parameters = 0;      // the buffer's address in device memory
  std::uint64_t stream = 0;
  std::uint64_t parent_block = 0;  // its linear index
};

/// Bytes of its parameter buffer: the most that a kernel takes.
inline constexpr std::size_t launch_buffer_bytes = 4096;

struct LaunchReport {
  std::string kernel;
  Dim3 grid, block;
  std::int64_t shared = 0;  // static and dynamic
  bool observed = true;
  Counters counters;
  std::vector<SiteCounters> per_site;  // parallel to sites(kernel)
  std::vector<Hazard> hazards;         // sorted, so that it is the same for every run
  double seconds = 0;                  // CPU time
  std::optional<HazardKind> fault;     // the launch failed
  std::string printed;                 // output of the kernel's printf, in block order
};

}  // namespace rung::vgpu
