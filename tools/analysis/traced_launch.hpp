#pragma once
// A launch on the virtual GPU with everything that its diagnosis refers to.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tools/analysis/diagnosis/facts.hpp"
#include "tools/analysis/resources.hpp"

namespace rung::analysis {

struct TracedLaunch {
  /// `ptx` contains the trace's kernel, whose registers these are; `text` is `ptx`, parsed. Both
  /// must outlive the object.
  TracedLaunch(KernelTrace trace, std::string_view ptx, const vgpu::ptx::Module& text,
               const Registers& registers, const vgpu::DeviceDescription& device);

  /// Facts that refer to this object and to the arguments.
  diagnosis::Facts facts(const Machine& machine, double launch_seconds) const;

  KernelTrace trace;
  const vgpu::ptx::Module& text;
  const vgpu::DeviceDescription& device;
  InstructionsByLine instructions;
  Registers registers;
  vgpu::Occupancy occupancy;
  bool unrolled;  // by the compiler that wrote the PTX
  std::function<bool(int registers)> spills_with;
  std::optional<double> dram_bytes;  // if the order of blocks determines it
  std::optional<KernelTrace> ends;   // before and after a block's main loop, if known
};

}  // namespace rung::analysis
