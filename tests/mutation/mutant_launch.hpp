#pragma once
// Launches a mutant of a CUDA rung's kernel.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "device/cuda/entry/launch.hpp"
#include "ptx_mutants.hpp"
#include "vgpu/launch.hpp"

namespace rung {

/// Options for the launch of a mutant, which may not terminate.
inline vgpu::LaunchOptions options_of(const cuda::Launch& launch) {
  vgpu::LaunchOptions options;
  options.grid.x = static_cast<std::uint32_t>(launch.grid.x);
  options.block.x = static_cast<std::uint32_t>(launch.block.x);
  options.cluster.x = static_cast<std::uint32_t>(launch.cluster);
  options.dynamic_shared = launch.shared_bytes;
  options.starts_early = launch.starts_early;
  options.instruction_limit = 1 << 24;
  options.threads = 1;  // the same order on every machine
  return options;
}

/// Runs the kernel `entry` on a virtual GPU, with the bytes of `args` as its parameters.
template <class Args>
Outcome run_mutant(const Lines& lines, const std::string& entry, const vgpu::LaunchOptions& options,
                   const Args& args, vgpu::DeviceMemory& memory, const char* gpu = "h200") {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  const auto module = vgpu::Module::load(text, "mutant", memory);
  const vgpu::Kernel& kernel = *module->kernel(entry);
  const auto report = vgpu::launch(kernel, options, std::as_bytes(std::span(&args, 1)), memory,
                                   vgpu::parse_device(gpu));
  return outcome_of(kernel, report, static_cast<int>(options.cluster.x));
}

}  // namespace rung
