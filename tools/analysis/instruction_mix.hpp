#pragma once
// The instruction mix of a kernel: of the executed PTX, and of the listed machine code.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analysis/kernel_trace.hpp"

namespace rung::analysis {

/// A class of instructions and its share of the total.
struct MixPart {
  std::string name;  // "multiply-add", "shared memory", …
  double count = 0;
};

struct InstructionMix {
  std::vector<MixPart> parts;  // most frequent first
  double all = 0;
  double multiply_adds = 0, loads = 0, barriers = 0;  // of `total`; copies count as loads
  /// True if the multiply-adds are tensor-core instructions. Each computes many multiply-adds.
  bool of_matrices = false;

  double multiply_add_share() const { return all > 0 ? multiply_adds / all : 0; }
};

/// Warp instructions of the PTX, weighted by executions.
InstructionMix ptx_mix(const KernelTrace& trace, const vgpu::ptx::Module& text);

/// The static machine-code instructions between two labels, at the largest number of FMAs: usually
/// the main loop. From ptxas and nvdisasm or cuobjdump; empty if they are not installed. `arch`:
/// compute capability times ten.
std::optional<InstructionMix> machine_mix(std::string_view ptx, const std::string& entry, int arch);
/// Parses a listing by nvdisasm, or by cuobjdump --dump-sass.
InstructionMix parse_listing(const std::string& listing);

}  // namespace rung::analysis
