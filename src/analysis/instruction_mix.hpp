#pragma once
// What a kernel's instructions are: of the PTX as it ran, and of the machine code as it stands.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/kernel_trace.hpp"

namespace rung::analysis {

/// One kind of instruction with its share of all.
struct MixPart {
  std::string name;  // "multiply-add", "shared memory", …
  double count = 0;
};

struct InstructionMix {
  std::vector<MixPart> parts;  // the most frequent first
  double all = 0;
  double multiply_adds = 0, loads = 0, barriers = 0;  // of them; copies are loads
  /// Whether those multiply-adds are multiplications of tensor cores, each many at once.
  bool of_matrices = false;

  double multiply_add_share() const { return all > 0 ? multiply_adds / all : 0; }
};

/// Warp instructions of the PTX text, as often as they ran.
InstructionMix ptx_mix(const KernelTrace& trace, const vgpu::ptx::Module& text);

/// Instructions of the machine code as they stand, from one label to the next where most
/// multiply-adds are: the main loop, as a rule. From ptxas and nvdisasm or cuobjdump;
/// nothing where these are not installed. `arch` is a compute capability times ten.
std::optional<InstructionMix> machine_mix(std::string_view ptx, const std::string& entry, int arch);
/// Of a listing by nvdisasm, or by cuobjdump --dump-sass.
InstructionMix parse_listing(const std::string& listing);

}  // namespace rung::analysis
