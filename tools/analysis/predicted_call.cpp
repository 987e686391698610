#include "tools/analysis/predicted_call.hpp"

#include <algorithm>

#include "tools/analysis/extrapolation.hpp"
#include "tools/analysis/operand_copies.hpp"
#include "tools/analysis/resources.hpp"
#include "tools/analysis/trace_call.hpp"
#include "tools/analysis/trace_rung.hpp"
#include "tools/analysis/whole_launch.hpp"

namespace rung::analysis {
namespace {

using diagnosis::Part;
using diagnosis::Time;

// The time from the end of a launch to the first instruction of the next launch in the stream.
constexpr double next_launch_seconds = 1.3e-6;
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

Time time_of_launch(std::string_view ptx, std::string_view id, const KernelTrace& launch,
                    const Machine& machine, const ExplainOptions& options) {
  const vgpu::ptx::Module& text = parsed(ptx, id);
  const InstructionsByLine instructions = by_line(text);
  const vgpu::Occupancy occupancy =
      occupancy_of(options.device, registers_of(ptx, launch.kernel, options.device).count,
                   static_cast<int>(launch.block.count()), launch.shared, 0);
  return diagnosis::time_of({launch, text, instructions, launch.footprint, options.device, machine,
                             occupancy, std::nullopt, options.launch_seconds});
}

void add(Time& call, const Time& launch) {
  for (const Part& part : launch.parts) {
    const auto found = std::ranges::find(call.parts, part.name, &Part::name);
    if (found == call.parts.end()) {
      call.parts.push_back(part);
    } else {
      found->seconds += part.seconds;
    }
  }
  call.seconds += launch.seconds;
  if (launch.bound.seconds > call.bound.seconds) call.bound.name = launch.bound.name;
  call.bound.seconds += launch.bound.seconds;
  call.launch = call.launch == 0 ? launch.launch : call.launch + next_launch_seconds;
}

}  // namespace

std::string why_not_predicted(const RungInfo& rung) {
  const auto is = [&](const char* name) { return rung.id.ends_with(name); };
  if (is("/00_multiply") || is("/01_block_sums")) return "the CPU adds up what the kernel leaves";
  return "";
}

std::optional<Time> predicted_call(const RungInfo& rung, Dtype dtype, std::int64_t n,
                                   const Machine& machine, const ExplainOptions& options) {
  if (!why_not_predicted(rung).empty()) return std::nullopt;
  const CallTrace call = call_of(rung, dtype, n, options);
  if (call.launches.empty() || call.host_values > 0) return std::nullopt;
  Time time;
  for (const KernelTrace& launch : call.launches) {
    add(time, time_of_launch(call.ptx, call.id, launch, machine, options));
  }
  if (call.is_zeroed) time.launch += clearing_seconds;
  return time;
}

Time predicted_gemm(const GemmSetting& setting, const Samples& samples,
                    const vgpu::Occupancy& occupancy, const Machine& machine,
                    const ExplainOptions& options) {
  Time time;
  for (const CopyLaunch& copy : trace_copies(setting)) {
    add(time, time_of_launch(copy.ptx, copy.id, copy.trace, machine, options));
  }
  const WholeLaunch whole = whole_launch(setting, samples, occupancy.blocks);
  const vgpu::ptx::Module& text = parsed(setting);
  const InstructionsByLine instructions = by_line(text);
  add(time,
      diagnosis::time_of({whole.trace, text, instructions, whole.trace.footprint, setting.device,
                          machine, occupancy, whole.dram_bytes, options.launch_seconds,
                          samples.k1 != samples.k2 ? &whole.ends : nullptr}));
  return time;
}

}  // namespace rung::analysis
