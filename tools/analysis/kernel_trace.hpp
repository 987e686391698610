#pragma once
// The trace of a launch on the virtual GPU, by instruction: the input of all analyses.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "vgpu/footprint.hpp"
#include "vgpu/launch.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::analysis {

inline constexpr double warp_lanes = 32;

/// Counts of one PTX instruction for a whole launch. An instruction inlined in several places
/// appears once for each.
struct SiteCount {
  int ptx_line = 0;
  std::uint64_t executions = 0;  // per warp
  std::uint64_t lanes = 0;       // per thread
  std::uint64_t units = 0;       // 32-byte sectors, or wavefronts
};

enum class Space { global, shared };

/// An executed instruction that moves data. Asynchronous copies are loads from global memory.
struct Access {
  Space space = Space::global;
  bool is_load = false;
  bool asynchronous = false;
  int bytes = 0;          // per lane
  int element_bytes = 0;  // of the instruction's type; 0 if untyped
  int merged = 1;         // number of such loads that ptxas merges into one
  SiteCount count;
  std::string where;  // "tile.cu:31"; empty if unknown

  double moved_bytes() const { return static_cast<double>(count.lanes) * bytes; }
  /// The number of sectors in excess of those for contiguous bytes; for global memory.
  double scattered_sectors() const;
  /// The number of wavefronts in excess of those without conflicts; for shared memory.
  double conflict_wavefronts() const;
};

/// Counts of tensor-core instructions.
struct MatrixUnits {
  double instructions = 0;                // multiplications, per warp
  double groups = 0;                      // wgmma.commit_group, per warp
  double drains = 0;                      // wgmma.wait_group 0, per warp
  int wgmma_rows = 0, wgmma_columns = 0;  // of the largest wgmma; 0 if none
  bool results_by_shared = false;  // on the way to global memory, by wmma.store or bulk copies
};

struct KernelTrace {
  std::string kernel;  // symbol
  vgpu::Dim3 grid, block;
  std::int64_t shared = 0;  // per block, static and dynamic
  vgpu::Counters counters;
  std::vector<SiteCount> sites;  // executed sites in program order
  std::vector<Access> accesses;
  /// Per thread: floating-point FMAs of any type or, if it has none, integer ones.
  double multiply_adds = 0;
  MatrixUnits matrix_units;
  vgpu::Footprint footprint;  // of the accesses, if they were watched
};

/// Combines counts with the instructions in the text. Sites that were not executed may be omitted.
KernelTrace make_trace(const vgpu::LaunchReport& report, std::span<const SiteCount> sites,
                       const vgpu::ptx::Module& text);

/// The counts of a launch in this process.
std::vector<SiteCount> site_counts(const vgpu::LaunchReport& report,
                                   const std::vector<vgpu::Site>& sites);

/// The source line of an instruction: "tile.cu:31"; empty if unknown.
std::string source_of(const vgpu::ptx::Instruction& instruction, const vgpu::ptx::Module& text);

using InstructionsByLine = std::map<int, const vgpu::ptx::Instruction*>;
InstructionsByLine by_line(const vgpu::ptx::Module& text);

/// m, n and k of a matrix instruction, from a modifier such as "m64n128k16"; 0 for other
/// instructions.
struct MatrixShape {
  int m = 0, n = 0, k = 0;
};
MatrixShape matrix_shape(const vgpu::ptx::Instruction& instruction);

/// True for mma, wmma.mma and wgmma.mma_async.
bool is_matrix_multiplication(const vgpu::ptx::Instruction& instruction);

/// True for fma, mad and similar floating-point instructions or, with `integers`, integer
/// instructions.
bool is_multiply_add(const vgpu::ptx::Instruction& instruction, bool integers);

}  // namespace rung::analysis
