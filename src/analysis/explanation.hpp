#pragma once
// Everything that `rung explain` tells of a kernel.

#include <optional>
#include <string>
#include <vector>

#include "analysis/instruction_mix.hpp"
#include "analysis/ladder.hpp"
#include "analysis/ncu.hpp"
#include "analysis/references.hpp"
#include "analysis/resources.hpp"
#include "analysis/traffic_rows.hpp"

namespace rung::analysis {

struct OccupancyFacts {
  Registers registers;
  std::int64_t static_shared = 0, dynamic_shared = 0;
  int threads = 0;  // of a block
  vgpu::Occupancy occupancy;
  /// Where registers and occupancy are not public, there are these limits of a block alone.
  bool is_public = true;
  int most_threads = 0;
  std::int64_t most_shared = 0;
};

struct Explanation {
  Evidence evidence;
  std::string code;                 // "PTX by clang 19.1.7"
  std::string sample;               // what was counted: "a tile of 128x128, k = 64 and 96"
  std::string tiles;                // "128x128 of C to a block, …"; empty where there are none
  std::string result = "C";         // whose elements traffic is counted for; of vectors, x
  std::vector<TrafficRow> traffic;  // of rungs
  OccupancyFacts occupancy;
  InstructionMix ptx;
  std::optional<InstructionMix> machine_code;
  std::vector<Advice> advice;  // by the rungs that remove the causes, the nearest first
  std::optional<MeasuredRun> measured;
  std::optional<Reference> reference;
  std::vector<std::string> notes;  // on what is public of the machine, and whose units these are
  std::optional<HardwareCounters> hardware;
  std::string why_no_hardware;
};

/// How and where.
struct ExplainOptions {
  std::string gpu;  // as --gpu
  vgpu::DeviceDescription device;
  std::string code;  // "clang", "nvcc" or empty
  Results results;   // besides those built in
};

/// Throws std::invalid_argument, in one line, for what the rung or the device does not allow.
Explanation explain_gemm(const RungInfo& rung, Dtype dtype, const cuda::GemmSize& size,
                         const ExplainOptions& options);

/// "a tile of 64x64, at k = 128 and 192"
std::string describe_tile(std::string_view what, std::int64_t rows, std::int64_t columns,
                          const Samples& samples);

/// The same for a rung of the dot product or the sum: a whole call, of at most 2^22 elements,
/// scaled to n.
Explanation explain_vectors(const RungInfo& rung, Dtype dtype, std::int64_t n,
                            const ExplainOptions& options);

/// Of launches that somebody made elsewhere, all of one kernel of the PTX text. Where the ladder
/// has a remedy, it is one of gemm's.
Explanation explain_kernel(const std::string& name, const std::vector<KernelTrace>& launches,
                           std::string_view ptx, const ExplainOptions& options);

}  // namespace rung::analysis
