#pragma once
// All results of `rung explain` for a kernel.

#include <optional>
#include <string>
#include <vector>

#include "analysis/diagnosis/diagnose.hpp"
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
  int threads = 0;  // per block
  vgpu::Occupancy occupancy;
  /// If registers and occupancy are not public, only these limits per block are known.
  bool is_public = true;
  int most_threads = 0;
  std::int64_t most_shared = 0;
};

struct Explanation {
  Evidence evidence;
  std::string code;                 // "PTX by clang 19.1.7"
  std::string sample;               // what was counted: "a tile of 128x128, k = 64 and 96"
  std::string tiles;                // "128x128 of C to a block, …"; empty where there are none
  std::string result = "C";         // for whose elements traffic is counted; for vectors, x
  std::vector<TrafficRow> traffic;  // for rungs
  OccupancyFacts occupancy;
  InstructionMix ptx;
  std::optional<InstructionMix> machine_code;
  std::vector<Advice> advice;  // in the order of the rungs that remove the causes, nearest first
  std::optional<diagnosis::Diagnosis> diagnosis;  // of a kernel that is no rung
  std::optional<diagnosis::Time> predicted;       // of a rung in CUDA
  std::string why_not_predicted;                  // of a rung in CUDA that the model does not cover
  std::optional<MeasuredRun> measured;
  std::optional<Reference> reference;
  std::vector<std::string> notes;  // on public figures of the machine, and on units
  std::optional<HardwareCounters> hardware;
  std::string why_no_hardware;
};

/// Options: how and on which device.
struct ExplainOptions {
  std::string gpu;  // as --gpu
  vgpu::DeviceDescription device;
  std::string code;  // "clang", "nvcc" or empty
  Results results;   // in addition to those that are built in
  /// Of an empty kernel on the user's machine, between two events.
  double launch_seconds = diagnosis::usual_launch_seconds;
};

/// Throws std::invalid_argument, in one line, for arguments that the rung or the device does not
/// support.
Explanation explain_gemm(const RungInfo& rung, Dtype dtype, const cuda::GemmSize& size,
                         const ExplainOptions& options);

/// "a tile of 64x64, at k = 128 and 192"
std::string describe_tile(std::string_view what, std::int64_t rows, std::int64_t columns,
                          const Samples& samples);

/// The same for a rung of dot or sum: runs a whole call, of at most 2^22 elements, and scales it to
/// n.
Explanation explain_vectors(const RungInfo& rung, Dtype dtype, std::int64_t n,
                            const ExplainOptions& options);

/// A launch made elsewhere.
struct KernelLaunch {
  KernelTrace trace;
  vgpu::Footprint footprint;
};

/// For launches of one kernel of the PTX, which is diagnosed by the one with most instructions.
Explanation explain_kernel(const std::string& name, const std::vector<KernelLaunch>& launches,
                           std::string_view ptx, const ExplainOptions& options);

}  // namespace rung::analysis
