#pragma once
// Everything that is known about one launch of a kernel, and what it would be without one of its
// faults.

#include <optional>

#include "analysis/kernel_trace.hpp"
#include "analysis/machine.hpp"
#include "vgpu/footprint.hpp"
#include "vgpu/model/device.hpp"
#include "vgpu/occupancy.hpp"

namespace rung::analysis::diagnosis {

/// A launch between two events, and its end, of a kernel that does nothing: 4.4 us on one H200; on
/// other machines up to 2 us less.
inline constexpr double usual_launch_seconds = 3.5e-6;

struct Facts {
  const KernelTrace& trace;
  const vgpu::ptx::Module& text;
  const InstructionsByLine& instructions;  // of the text
  const vgpu::Footprint& footprint;
  const vgpu::DeviceDescription& device;
  const Machine& machine;
  const vgpu::Occupancy& occupancy;
  /// Traffic of DRAM where the order of blocks tells it; otherwise each sector counts once.
  std::optional<double> dram_bytes = std::nullopt;
  /// Of an empty kernel between two events.
  double launch_seconds = usual_launch_seconds;
  /// The part of the trace that is before and after a block's main loop, if it is known.
  const KernelTrace* ends = nullptr;

  double blocks() const { return static_cast<double>(trace.grid.count()); }
  double warps_of_block() const { return static_cast<double>((trace.block.count() + 31) / 32); }
  double warps() const { return blocks() * warps_of_block(); }
  /// Lanes that a warp has when all of its threads work: fewer than 32 where a block is no multiple.
  double full_lanes() const { return static_cast<double>(trace.block.count()) / warps_of_block(); }
};

/// What to take for granted: each removes one fault.
struct Cure {
  bool coalesced = false;                 // a global access needs no more sectors than its bytes
  bool conflict_free = false;             // a shared access needs no more wavefronts than its bytes
  bool convergent = false;                // lanes that wait for others of their warp do their work
  bool whole_warps = false;               // blocks are multiples of 32 threads
  bool shared_out = false;                // what single threads do, all threads do together
  bool enough_blocks = false;             // every SM has one
  bool no_tail = false;                   // the last wave is as full as the others
  bool even_blocks = false;               // all blocks have the same work
  bool even_warps = false;                // all warps have the same work
  bool full_occupancy = false;            // as many warps as the SM can hold
  bool overlapped = false;                // a thread has four times as many loads in flight
  bool no_local = false;                  // no local memory
  bool scattered_atomics = false;         // atomics do not meet at an address of global memory,
  bool scattered_shared_atomics = false;  // or of shared memory
  bool no_barriers = false;
  bool wide = false;          // accesses of 16 bytes a lane
  bool reused = false;        // a block loads from global memory once
  bool in_registers = false;  // a quarter of the loads from shared memory
  bool single_precision = false;
  bool fast_arithmetic = false;  // no division, remainder, square root
  bool lean_addresses = false;   // a third of the integer instructions
  bool stored_once = false;      // each result is stored once
};

}  // namespace rung::analysis::diagnosis
