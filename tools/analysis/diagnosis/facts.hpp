#pragma once
// All information about a kernel launch, and hypothetical changes to it.

#include <functional>
#include <optional>

#include "tools/analysis/kernel_trace.hpp"
#include "tools/analysis/machine.hpp"
#include "tools/analysis/machine_code.hpp"
#include "vgpu/footprint.hpp"
#include "vgpu/model/device.hpp"
#include "vgpu/occupancy.hpp"

namespace rung::analysis::diagnosis {

/// The time of an empty kernel between two events: 4.4 us on one H200; up to 2 us less on other
/// machines.
inline constexpr double usual_launch_seconds = 3.5e-6;

struct Facts {
  const KernelTrace& trace;
  const vgpu::ptx::Module& text;
  const InstructionsByLine& instructions;  // of the text
  const vgpu::Footprint& footprint;
  const vgpu::DeviceDescription& device;
  const Machine& machine;
  const vgpu::Occupancy& occupancy;
  /// DRAM traffic, if the order of blocks determines it; otherwise each sector counts once.
  std::optional<double> dram_bytes = std::nullopt;
  /// The time of an empty kernel between two events.
  double launch_seconds = usual_launch_seconds;
  /// The part of the trace before and after a block's main loop, if known.
  const KernelTrace* ends = nullptr;
  Spills spills = {};
  /// Local accesses of the machine code relative to those of PTX: ptxas keeps some in registers.
  double local_share = 1;
  /// True if the PTX is of nvcc, which unrolls loops; clang leaves that to ptxas.
  bool unrolled = false;
  /// Launches of this kernel by the program.
  double launches = 1;
  /// True if the kernel spills with at most this number of registers; null if unknown.
  const std::function<bool(int registers)>* spills_with = nullptr;

  double blocks() const { return static_cast<double>(trace.grid.count()); }
  double warps_of_block() const { return static_cast<double>((trace.block.count() + 31) / 32); }
  double warps() const { return blocks() * warps_of_block(); }
  /// Active lanes of a fully active warp: fewer than 32 if the block size is not a multiple of 32.
  double full_lanes() const { return static_cast<double>(trace.block.count()) / warps_of_block(); }
};

/// Hypothetical changes to the kernel. Each removes one performance problem.
struct Cure {
  bool coalesced = false;                 // global accesses have the minimal number of sectors
  bool conflict_free = false;             // shared accesses have the minimal number of wavefronts
  bool convergent = false;                // lanes do not wait for divergent lanes of their warp
  bool whole_warps = false;               // blocks are multiples of 32 threads
  bool shared_out = false;                // work of single threads is distributed over all threads
  bool enough_blocks = false;             // every SM has at least one
  bool no_tail = false;                   // the last wave is as full as the others
  bool even_blocks = false;               // all blocks have the same work
  bool even_warps = false;                // all warps have the same work
  bool full_occupancy = false;            // the maximum number of warps per SM
  bool overlapped = false;                // four times as many loads in flight per thread
  bool no_local = false;                  // no local memory
  bool no_spills = false;                 // enough registers
  bool one_pass = false;                  // a warp loads no sector again
  bool scattered_atomics = false;         // no contention of atomics in global memory
  bool scattered_shared_atomics = false;  // no contention of atomics in shared memory
  bool no_barriers = false;
  bool wide = false;          // accesses of 16 bytes per lane
  bool reused = false;        // a block loads global data only once
  bool in_registers = false;  // a quarter of the loads from shared memory
  bool single_precision = false;
  bool fast_arithmetic = false;  // no division, remainder or square root
  bool lean_addresses = false;   // a third of the integer instructions
  bool stored_once = false;      // each result is stored once
  bool tensor_cores = false;     // multiply-adds of matrices by tensor cores
};

}  // namespace rung::analysis::diagnosis
