#include "emu/runtime/report.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "emu/launch_json.hpp"
#include "emu/options.hpp"
#include "emu/runtime/own_conclusion.hpp"
#include "emu/runtime/repeated_launches.hpp"
#include "emu/runtime/runtime.hpp"
#include "emu/runtime/variables.hpp"
#include "vgpu/driver/virtual_driver.hpp"

namespace rung::emu {
namespace {

// In one write, so that records of several threads and processes do not interleave.
void append(const char* path, const Json& record) {
  const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  const std::string line = record.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (write(file, line.data(), line.size()) < 0) std::perror("rung emu: report");
  close(file);
}

// To the process that runs this program or, without one, to what this program says at its end.
void report(const char* kind, const Json& content) {
  if (const char* path = std::getenv(report_variable)) {
    append(path, {{kind, content}});
  } else {
    OwnConclusion::get().add(kind, content);
  }
}

Json leak(const LiveAllocation& allocation) {
  const std::string source =
      allocation.file.empty()
          ? ""
          : fmt::format("{}:{}", std::filesystem::path(allocation.file).filename().string(),
                        allocation.line);
  vgpu::Hazard hazard{};
  hazard.kind = vgpu::HazardKind::leak;
  hazard.first.access = allocation.call;
  hazard.first.source = source;
  hazard.first.file = allocation.file;
  hazard.first.line = allocation.line;
  hazard.message = fmt::format("leak: {} bytes from {}{} were never freed", allocation.bytes,
                               allocation.call, source.empty() ? "" : " at " + source);
  Json json = to_json(hazard);
  json["bytes"] = allocation.bytes;
  return json;
}

// Results of a program that skips launches are not the program's.
void report_skipped_launches() {
  for (const vgpu::SkippedLaunches& kernel : vgpu::skipped_launches()) {
    report("skipped", {{"kernel", readable_name(kernel.kernel)},
                       {"ran", kernel.ran},
                       {"skipped", kernel.skipped}});
  }
}

std::mutex repeated_mutex;
RepeatedLaunches& repeated_launches() {
  static RepeatedLaunches& launches = *new RepeatedLaunches;  // also there when the program ends
  return launches;
}

void report_repeated_launches() {
  for (const auto& [sum, times] : repeated_launches().take()) {
    Json json = to_json(sum);
    json["times"] = times;
    report("launch", json);
  }
}

// Whether the launch shares a record with others like it.
bool is_repeated(const vgpu::LaunchReport& launch, const LaunchDetails& details) {
  static const bool each = variable(each_launch_variable) == "1";
  const bool has_details = !details.lines.empty() || !details.sites.empty() ||
                           !details.steps.empty() || details.footprint;
  const bool shares = !each && !has_details && repeated_launches().add(launch);
  if (!shares || repeated_launches().is_due()) report_repeated_launches();
  return shares;
}

// The last one that used the device: what its children inherit is not theirs to report.
std::atomic<pid_t> reporting_process = 0;

// Runs after the program's own exit handlers and destructors, which may free memory.
__attribute__((destructor)) void report_at_exit() { report_end(); }

}  // namespace

void note_reporting_process() { reporting_process = getpid(); }

bool is_reporting_process() { return reporting_process == getpid(); }

void report_end() {
  if (!is_reporting_process()) return;
  // After a fault nothing can be freed, and most programs exit at once.
  if (!Runtime::get().is_lost()) {
    for (const LiveAllocation& allocation : Runtime::get().live_allocations()) {
      report("hazard", leak(allocation));
    }
  }
  {
    const std::lock_guard lock(repeated_mutex);  // other threads may still launch kernels
    report_repeated_launches();
  }
  report_skipped_launches();
  if (std::getenv(report_variable) == nullptr) OwnConclusion::get().conclude();
}

void report_launch(const vgpu::LaunchReport& launch, const LaunchDetails& details) {
  note_reporting_process();
  const std::lock_guard lock(repeated_mutex);
  if (is_repeated(launch, details)) return;
  Json json = to_json(launch, details.lines);
  if (!details.sites.empty()) json["sites"] = sites_json(launch, details.sites);
  if (details.footprint) json["footprint"] = to_json(*details.footprint);
  if (!details.steps.empty()) json["steps"] = details.steps;
  report("launch", json);
}

void report_error(const std::string& message) { report("error", with_readable_names(message)); }

void report_failure(const std::string& message) {
  const std::string readable = with_readable_names(message);
  fmt::print(stderr, "rung emu: {}\n", readable);
  report("failure", readable);
}

}  // namespace rung::emu
