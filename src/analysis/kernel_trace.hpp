#pragma once
// What a launch did on the virtual GPU, instruction by instruction: what every analysis starts
// from.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "vgpu/launch.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::analysis {

inline constexpr double warp_lanes = 32;

/// One instruction of the PTX text, over a whole launch. One that was inlined in several places
/// counts once for each.
struct SiteCount {
  int ptx_line = 0;
  std::uint64_t executions = 0;  // by warps
  std::uint64_t lanes = 0;       // by threads
  std::uint64_t units = 0;       // sectors of 32 bytes, or wavefronts
};

enum class Space { global, shared };

/// An instruction that moves data, as it ran. An asynchronous copy is a load from global memory.
struct Access {
  Space space = Space::global;
  bool is_load = false;
  bool asynchronous = false;
  int bytes = 0;          // of a lane
  int element_bytes = 0;  // of the type that the instruction names; 0 if that is bits alone
  SiteCount count;
  std::string where;  // "tile.cu:31"; empty if unknown

  double moved_bytes() const { return static_cast<double>(count.lanes) * bytes; }
  /// Sectors beyond those that the same bytes take side by side; of global memory.
  double scattered_sectors() const;
  /// Wavefronts beyond those that lanes take which all want different words; of shared memory.
  double conflict_wavefronts() const;
};

/// What tensor cores were told to do.
struct MatrixUnits {
  double instructions = 0;                // multiplications, by warps
  double groups = 0;                      // of wgmma, by warps: wgmma.commit_group
  double drains = 0;                      // waits for all of them, by warps: wgmma.wait_group 0
  int wgmma_rows = 0, wgmma_columns = 0;  // of the largest wgmma; 0: there is none
  bool results_by_shared = false;  // before they go to global memory: wmma.store, or bulk copies
};

struct KernelTrace {
  std::string kernel;  // its symbol
  vgpu::Dim3 grid, block;
  std::int64_t shared = 0;  // bytes a block, static and dynamic
  vgpu::Counters counters;
  std::vector<SiteCount> sites;  // those that ran, in the order of the text
  std::vector<Access> accesses;
  /// By threads: floating-point ones of any type, or where there is none, those of integers.
  double multiply_adds = 0;
  MatrixUnits matrix_units;
};

/// What the sites were is read from the text. Sites that did not run may be left out.
KernelTrace make_trace(const vgpu::LaunchReport& report, std::span<const SiteCount> sites,
                       const vgpu::ptx::Module& text);

/// Of a launch in this process.
std::vector<SiteCount> site_counts(const vgpu::LaunchReport& report,
                                   const std::vector<vgpu::Site>& sites);

using InstructionsByLine = std::map<int, const vgpu::ptx::Instruction*>;
InstructionsByLine by_line(const vgpu::ptx::Module& text);

/// mma, wmma.mma and wgmma.mma_async.
bool is_matrix_multiplication(const vgpu::ptx::Instruction& instruction);

/// fma, mad and their kin on floating-point numbers; with `integers`, those on integers instead.
bool is_multiply_add(const vgpu::ptx::Instruction& instruction, bool integers);

}  // namespace rung::analysis
