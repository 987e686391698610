#include "emu/runtime/failed_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>
#include <tuple>

#include "emu/compile/source/discarded_calls.hpp"
#include "emu/reports/launch_json.hpp"
#include "emu/runtime/options.hpp"
#include "emu/runtime/report.hpp"
#include "emu/runtime/runtime.hpp"
#include "emu/runtime/variables.hpp"

namespace rung::emu {
namespace {

/// True for errors of calls that programs make for their effect only, which is there already or cannot be.
bool is_harmless(std::string_view error) {
  constexpr std::array harmless = {"cudaErrorNotReady",
                                   "cudaErrorNotSupported",
                                   "cudaErrorPeerAccessAlreadyEnabled",
                                   "cudaErrorPeerAccessNotEnabled",
                                   "cudaErrorPeerAccessUnsupported",
                                   "cudaErrorHostMemoryAlreadyRegistered",
                                   "cudaErrorHostMemoryNotRegistered",
                                   "cudaErrorSetOnActiveProcess",
                                   "CUDA_ERROR_NOT_READY",
                                   "CUDA_ERROR_NOT_SUPPORTED",
                                   "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
                                   "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED",
                                   "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
                                   "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
                                   "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
                                   "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE"};
  return std::find(harmless.begin(), harmless.end(), error) != harmless.end();
}

struct Noted {
  FailedCall call;
  CallSite site;
  std::thread::id thread;
  std::uint64_t times = 1;
};

constexpr std::size_t most_noted = 1000;

struct Notes {
  std::mutex mutex;
  std::vector<Noted> calls;
};
Notes& notes() {
  static Notes& notes = *new Notes;  // destructors of the program may still call
  return notes;
}

bool is_kept() {
  static const bool kept =
      flag_variable(check_variable, true) && !flag_variable(allow_unchecked_errors_variable);
  return kept && !uses_given_driver() && !has_failure();
}

/// The call as the program has it, and its name; empty if its result is used or the source is missing.
std::optional<DiscardedCall> discarded(const FailedCall& call, CallSite::Line& line) {
  const std::string text = source_text(line.file);
  if (!call.kernel.empty() && line.functions.empty()) {  // kernel<<<…>>>(…) has no result
    const std::string launch = launch_text(text, line.line);
    return DiscardedCall{"launch",
                         launch.empty() ? "the launch of " + readable_name(call.kernel) : launch};
  }
  if (!call.name.empty()) line.functions.insert(line.functions.begin(), call.name);
  return discarded_call(text, line.line, line.functions);
}

std::optional<vgpu::Hazard> hazard_of(const Noted& noted) {
  CallSite::Line line = noted.site.line();
  const auto call = discarded(noted.call, line);
  if (!call) return std::nullopt;
  vgpu::Hazard hazard{};
  hazard.kind = vgpu::HazardKind::failed_call;
  hazard.kernel = noted.call.kernel;
  hazard.count = noted.times;
  hazard.first.access = call->name;
  hazard.first.file = line.file;
  hazard.first.line = line.line;
  hazard.first.source = line.short_name();
  const std::string where = line.file.empty() ? "" : " at " + hazard.first.source;
  const std::string reason = noted.call.reason.empty() ? "" : ": " + noted.call.reason;
  if (noted.call.kernel.empty()) {
    hazard.message = fmt::format("failed call: {}{} returned {}, which the program ignores{}",
                                 call->text, where, noted.call.error, reason);
  } else {
    hazard.message = fmt::format(
        "failed call: {}: launch of {}{}{}; no thread of {} runs, and the program does not call "
        "cudaGetLastError",
        noted.call.error, noted.call.kernel, where, reason, call->text);
  }
  return hazard;
}

}  // namespace

void note_failed_call(FailedCall call, CallSite site) {
  if (is_harmless(call.error) || !is_kept()) return;
  note_reporting_process();
  const std::lock_guard lock(notes().mutex);
  std::vector<Noted>& calls = notes().calls;
  const std::thread::id thread = std::this_thread::get_id();
  const auto same = std::find_if(calls.begin(), calls.end(), [&](const Noted& noted) {
    return noted.site == site && noted.thread == thread && noted.call.error == call.error;
  });
  if (same != calls.end()) {
    ++same->times;
  } else if (calls.size() < most_noted) {
    calls.push_back({std::move(call), std::move(site), thread});
  }
}

void ask_for_failed_calls() {
  const std::lock_guard lock(notes().mutex);
  std::erase_if(notes().calls, [own = std::this_thread::get_id()](const Noted& noted) {
    return noted.thread == own;
  });
}

std::vector<vgpu::Hazard> take_unchecked_calls() {
  std::vector<Noted> calls;
  {
    const std::lock_guard lock(notes().mutex);
    calls.swap(notes().calls);
  }
  std::vector<vgpu::Hazard> hazards;
  for (const Noted& noted : calls) {
    if (auto hazard = hazard_of(noted)) hazards.push_back(std::move(*hazard));
  }
  return hazards;
}

}  // namespace rung::emu
