#pragma once
// The results of `rung explain` for a kernel.

#include <optional>
#include <string>
#include <vector>

#include "tools/analysis/diagnosis/diagnose.hpp"
#include "tools/analysis/evidence.hpp"
#include "tools/analysis/instruction_mix.hpp"
#include "tools/analysis/ncu.hpp"
#include "tools/analysis/references.hpp"
#include "tools/analysis/resources.hpp"
#include "tools/analysis/traffic_rows.hpp"

namespace rung::analysis {

struct OccupancyFacts {
  Registers registers;
  std::int64_t static_shared = 0, dynamic_shared = 0;
  int threads = 0;  // per block
  vgpu::Occupancy occupancy;
  std::optional<double> achieved;  // as a share; less than the theoretical one if the grid is small
  /// If registers and occupancy are not public, only these limits per block are known.
  bool is_public = true;
  int max_threads = 0;
  std::int64_t max_shared = 0;
};

struct Explanation {
  Evidence evidence;
  std::string code;                 // "PTX by clang 19.1.7"
  std::string sample;               // the sample: "a tile of 128x128, k = 64 and 96"
  std::string tiles;                // "128x128 of C to a block, …"; empty if there are none
  std::string result = "C";         // traffic is counted per element of it; x for vectors
  std::vector<TrafficRow> traffic;  // for rungs
  OccupancyFacts occupancy;
  InstructionMix ptx;
  std::optional<InstructionMix> machine_code;
  std::optional<diagnosis::Diagnosis> diagnosis;  // of the call of a rung, or of one launch
  /// If the diagnosis leaves out part of a rung's call, or is empty.
  std::string why_not_predicted;
  diagnosis::PredictionErrors errors = diagnosis::errors_of_kernels;
  std::optional<MeasuredRun> measured;
  std::optional<Reference> reference;
  std::vector<std::string> notes;  // about published figures of the machine, and units
  std::optional<HardwareCounters> hardware;
  std::string why_no_hardware;
};

/// Options of an explanation: the source of code and the device.
struct ExplainOptions {
  std::string gpu;  // as --gpu
  vgpu::DeviceDescription device;
  std::string code;  // "clang", "nvcc" or empty
  Results results;   // in addition to those that are built in
  /// The time of an empty kernel between two events on the user's machine.
  double launch_seconds = diagnosis::usual_launch_seconds;
};

/// Throws std::invalid_argument with a one-line message if the rung or the device does not support
/// the arguments.
Explanation explain_gemm(const RungInfo& rung, Dtype dtype, const cuda::GemmSize& size,
                         const ExplainOptions& options);

/// "a tile of 64x64, at k = 128 and 192"
std::string describe_tile(std::string_view what, std::int64_t rows, std::int64_t columns,
                          const Samples& samples);

/// Explains a rung of dot or sum: runs a complete call with at most 2^22 elements, and scales the
/// counts to n.
Explanation explain_vectors(const RungInfo& rung, Dtype dtype, std::int64_t n,
                            const ExplainOptions& options);

/// A kernel launch by another program.
struct KernelLaunch {
  KernelTrace trace;
  vgpu::Footprint footprint;
};

/// Explains launches of one kernel of the PTX. The launch with the most instructions is diagnosed.
Explanation explain_kernel(const std::string& name, const std::vector<KernelLaunch>& launches,
                           std::string_view ptx, const ExplainOptions& options);

}  // namespace rung::analysis
