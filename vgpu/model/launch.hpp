#pragma once
// Static properties of kernels, options of launches, and reports.

#include <algorithm>
#include <array>
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
  bool operator==(const Dim3&) const = default;
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

/// A PTX instruction, for reports.
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
  /// Maximum number of 32-bit values alive at once, at most 255: an estimate of ptxas's allocation.
  int registers = 0;
  int max_threads = 1024;                        // .maxntid, .reqntid
  std::int64_t required_threads[3] = {0, 0, 0};  // .reqntid; 0: not specified
  std::int64_t required_cluster[3] = {0, 0, 0};  // .reqnctapercluster; 0: not specified
  struct Parameter {
    std::size_t offset, bytes;
  };
  std::vector<Parameter> parameters;
  std::size_t parameter_bytes = 0;
};

class LaunchAccesses;

struct LaunchOptions {
  Dim3 grid, block;
  /// The grid in threads, as Metal's dispatchThreads gives it, if it is no multiple of the block: blocks
  /// at its edges then have fewer threads. Otherwise grid times block.
  std::optional<Dim3> grid_threads;
  Dim3 cluster;                     // in blocks; the kernel's own size if it requires one
  std::int64_t dynamic_shared = 0;  // bytes
  bool cooperative = false;
  bool starts_early = false;           // the previous launch may still run (griddepcontrol.wait)
  bool observe = true;                 // count memory accesses and detect hazards
  bool native = true;                  // translate to machine code, if the CPU supports it
  LaunchAccesses* accesses = nullptr;  // receives the bytes accessed, if observed; may be null
  AccessWatcher watcher;               // called for every observed access; may be empty
  unsigned threads = 0;                // CPU threads; 0: all
  std::uint64_t instruction_limit = 1ull << 40;  // warp instructions of the whole launch
  std::size_t hazard_limit = 100;                // number of distinct hazards to keep
  // size of the kernel's printf ring; the newest output is kept
  std::size_t printf_bytes = default_printf_bytes;

  /// The threads of the block at this position.
  Dim3 threads_of(const std::array<std::uint32_t, 3>& place) const {
    if (!grid_threads) return block;
    return {std::min(block.x, grid_threads->x - place[0] * block.x),
            std::min(block.y, grid_threads->y - place[1] * block.y),
            std::min(block.z, grid_threads->z - place[2] * block.z)};
  }
};

/// A launch by a kernel.
struct DeviceLaunch {
  std::uint64_t kernel = 0;  // address of the kernel
  Dim3 grid, block;
  std::uint32_t dynamic_shared = 0;  // bytes
  std::uint64_t parameters = 0;      // address of the parameter buffer in device memory
  std::uint64_t stream = 0;
  std::uint64_t parent_block = 0;  // linear index
};

/// Size of its parameter buffer in bytes: the maximum that a kernel can have.
inline constexpr std::size_t launch_buffer_bytes = 4096;

struct LaunchReport {
  std::string kernel;
  Dim3 grid, block;
  std::int64_t shared = 0;  // static and dynamic
  bool observed = true;
  Counters counters;
  std::vector<SiteCounters> per_site;  // parallel to sites(kernel)
  std::vector<Hazard> hazards;         // sorted, so they are the same in every run
  double seconds = 0;                  // CPU time
  std::optional<HazardKind> fault;     // set if the launch failed
  std::string printed;                 // output of the kernel's printf, in block order
};

}  // namespace rung::vgpu
