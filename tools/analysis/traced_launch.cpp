#include "tools/analysis/traced_launch.hpp"

#include <algorithm>
#include <utility>

namespace rung::analysis {
namespace {

std::int64_t local_array_bytes(const vgpu::ptx::Module& text, const std::string& kernel) {
  const vgpu::ptx::Function* function = text.find(kernel);
  std::int64_t bytes = 0;
  if (function == nullptr) return bytes;
  for (const vgpu::ptx::Variable& variable : function->variables) {
    if (variable.space == vgpu::ptx::Space::local) bytes += variable.bytes();
  }
  return bytes;
}

/// Adds the local accesses of the machine code: spilled registers, and the part of the arrays of PTX
/// that ptxas does not keep in registers.
void add_local_code(diagnosis::Facts& facts, const Registers& registers) {
  const vgpu::Counters& c = facts.trace.counters;
  const auto arrays = static_cast<double>(c.local_load_requests + c.local_store_requests);
  facts.spills.frame = registers.frame_bytes > 0
                           ? registers.frame_bytes
                           : local_array_bytes(facts.text, facts.trace.kernel);
  if (!registers.code) return;
  const Spills executed = executed_spills(*registers.code, facts.trace, facts.text);
  if (registers.spilled_bytes > 0) {
    const double share = std::max(0.0, 1 - arrays / std::max(1.0, executed.all()));
    facts.spills.loads = share * executed.loads;
    facts.spills.stores = share * executed.stores;
  } else if (arrays > 0 && local_words(*registers.code) == 0) {
    facts.local_share = 0;
  }
}

}  // namespace

TracedLaunch::TracedLaunch(KernelTrace of, std::string_view ptx, const vgpu::ptx::Module& module,
                           const Registers& taken, const vgpu::DeviceDescription& on)
    : trace(std::move(of)),
      text(module),
      device(on),
      instructions(by_line(module)),
      registers(taken),
      occupancy(
          occupancy_of(on, taken.count, static_cast<int>(trace.block.count()), 0, trace.shared)),
      unrolled(ptx.find("NVIDIA NVVM Compiler") != std::string_view::npos),
      spills_with([ptx, entry = trace.kernel, arch = on.arch()](int count) {
        return spills_if_limited(ptx, entry, arch, count);
      }) {}

diagnosis::Facts TracedLaunch::facts(const Machine& machine, double launch_seconds) const {
  diagnosis::Facts facts{trace,   text,      instructions, trace.footprint, device,
                         machine, occupancy, dram_bytes,   launch_seconds};
  facts.ends = ends ? &*ends : nullptr;
  facts.spills_with = &spills_with;
  facts.unrolled = unrolled;
  add_local_code(facts, registers);
  return facts;
}

}  // namespace rung::analysis
