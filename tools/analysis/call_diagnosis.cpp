#include "tools/analysis/call_diagnosis.hpp"

#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include "tools/analysis/extrapolation.hpp"
#include "tools/analysis/operand_copies.hpp"
#include "tools/analysis/trace_call.hpp"
#include "tools/analysis/trace_rung.hpp"
#include "tools/analysis/traced_launch.hpp"
#include "tools/analysis/whole_launch.hpp"

namespace rung::analysis {
namespace {

// The time to clear the result.
constexpr double clearing_seconds = 0.5e-6;

/// Sizes at which every SM has its maximum number of resident blocks.
constexpr std::int64_t long_call = std::int64_t{1} << 20, short_call = long_call / 2;

/// Extrapolates the launches of two calls to a call with n elements. Empty if their numbers of
/// launches differ.
CallTrace extended(const CallTrace& shorter, CallTrace call, std::int64_t n) {
  if (shorter.launches.size() != call.launches.size()) return {};
  const Extrapolation to = {static_cast<double>(n - short_call) / (long_call - short_call)};
  for (std::size_t i = 0; i < call.launches.size(); ++i) {
    const KernelTrace &first = shorter.launches[i], &second = call.launches[i];
    KernelTrace whole = extrapolated(first, second, to);
    // The blocks of a launch are alike; either their number grows or the work of each.
    const double blocks = static_cast<double>(first.grid.x) +
                          to.step * (static_cast<double>(second.grid.x) - first.grid.x);
    whole.grid.x = static_cast<std::uint32_t>(std::max(1.0, blocks));
    const auto of_mean = [&](std::uint64_t most, const KernelTrace& trace, double parts) {
      const auto all = static_cast<double>(std::max<std::uint64_t>(1, trace.footprint.accesses));
      return static_cast<std::uint64_t>(static_cast<double>(most) / all *
                                        static_cast<double>(trace.grid.count()) *
                                        static_cast<double>(whole.footprint.accesses) / parts);
    };
    const auto parts = static_cast<double>(whole.grid.count());
    whole.footprint.max_of_block = of_mean(second.footprint.max_of_block, second, parts);
    whole.footprint.max_of_warp = of_mean(second.footprint.max_of_warp, second, parts);
    call.launches[i] = std::move(whole);
  }
  return call;
}

/// The launches of a call with n elements, extrapolated if n is large.
CallTrace call_of(const RungInfo& rung, Dtype dtype, std::int64_t n,
                  const ExplainOptions& options) {
  const auto traced = [&](std::int64_t length) {
    return trace_call(rung, dtype, length, options.gpu, options.code, true);
  };
  return n <= long_call ? traced(n) : extended(traced(short_call), traced(long_call), n);
}

using Launches = std::deque<TracedLaunch>;

void add(Launches& launches, KernelTrace trace, std::string_view ptx, std::string_view id,
         const ExplainOptions& options) {
  const Registers registers = registers_of(ptx, trace.kernel, options.device);
  launches.emplace_back(std::move(trace), ptx, parsed(ptx, id), registers, options.device);
}

/// Adds the launch of a whole problem. `samples` are one of its tiles.
template <class Setting>
void add_whole(Launches& launches, const Setting& setting, const Samples& samples,
               std::string_view ptx, const Registers& registers, const ExplainOptions& options) {
  const vgpu::ptx::Module& text = parsed(ptx, setting.info->id);
  TracedLaunch& launch =
      launches.emplace_back(samples.trace2, ptx, text, registers, options.device);
  WholeLaunch whole = whole_launch(setting, samples, launch.occupancy.blocks);
  launch.trace = std::move(whole.trace);
  launch.dram_bytes = whole.dram_bytes;
  if (samples.k1 != samples.k2) launch.ends = std::move(whole.ends);
}

diagnosis::Diagnosis diagnosed(const Launches& launches, const Machine& machine,
                               const ExplainOptions& options, double other_seconds = 0) {
  std::vector<diagnosis::Facts> facts;
  for (const TracedLaunch& launch : launches) {
    facts.push_back(launch.facts(machine, options.launch_seconds));
  }
  return diagnosis::diagnose(facts, other_seconds);
}

}  // namespace

std::optional<diagnosis::Diagnosis> diagnosed_call(const RungInfo& rung, Dtype dtype,
                                                   std::int64_t n, const Machine& machine,
                                                   const ExplainOptions& options) {
  const CallTrace call = call_of(rung, dtype, n, options);
  if (call.launches.empty()) return std::nullopt;
  Launches launches;
  for (const KernelTrace& launch : call.launches) add(launches, launch, call.ptx, call.id, options);
  return diagnosed(launches, machine, options, call.is_zeroed ? clearing_seconds : 0);
}

diagnosis::Diagnosis diagnosed_gemm(const GemmSetting& setting, const Samples& samples,
                                    const Registers& registers, const Machine& machine,
                                    const ExplainOptions& options) {
  Launches launches;
  for (CopyLaunch& copy : trace_copies(setting)) {
    add(launches, std::move(copy.trace), copy.ptx, copy.id, options);
  }
  add_whole(launches, setting, samples, setting.ptx(), registers, options);
  return diagnosed(launches, machine, options);
}

diagnosis::Diagnosis diagnosed_gemm(const MetalSetting& setting, const Samples& samples,
                                    const Registers& registers, const Machine& machine,
                                    const ExplainOptions& options) {
  Launches launches;
  add_whole(launches, setting, samples, setting.image->ptx, registers, options);
  return diagnosed(launches, machine, options);
}

}  // namespace rung::analysis
