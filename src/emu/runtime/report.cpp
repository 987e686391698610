#include "emu/runtime/report.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "emu/launch_json.hpp"
#include "emu/options.hpp"
#include "emu/runtime/runtime.hpp"
#include "vgpu/driver/virtual_driver.hpp"

namespace rung::emu {
namespace {

// In one write, so that records of several threads and processes do not interleave.
void append(const Json& record) {
  const char* path = std::getenv(report_variable);
  if (path == nullptr) return;
  const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return;
  const std::string line = record.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (write(file, line.data(), line.size()) < 0) std::perror("rung emu: report");
  close(file);
}

vgpu::Hazard leak(const LiveAllocation& allocation) {
  vgpu::Hazard hazard{};
  hazard.kind = vgpu::HazardKind::leak;
  hazard.first.source = allocation.source;
  const std::string from =
      allocation.source.empty() ? "" : fmt::format(" at {}", allocation.source);
  hazard.message = fmt::format("leak: {} bytes from {}{} were never freed", allocation.bytes,
                               allocation.call, from);
  return hazard;
}

// Runs after the program's own exit handlers and destructors, which may free memory. After a fault
// nothing can be freed, and most programs exit at once.
__attribute__((destructor)) void report_leaks() {
  if (Runtime::get().is_lost()) return;
  for (const LiveAllocation& allocation : Runtime::get().live_allocations()) {
    append({{"hazard", to_json(leak(allocation))}});
  }
}

// Results of a program that skips launches are not the program's.
__attribute__((destructor)) void report_skipped_launches() {
  for (const vgpu::SkippedLaunches& kernel : vgpu::skipped_launches()) {
    append({{"skipped",
             {{"kernel", readable_name(kernel.kernel)},
              {"ran", kernel.ran},
              {"skipped", kernel.skipped}}}});
  }
}

}  // namespace

void report_launch(const vgpu::LaunchReport& report, const std::vector<vgpu::LineCounters>& lines,
                   const std::vector<vgpu::Site>& sites) {
  Json launch = to_json(report, lines);
  if (!sites.empty()) launch["sites"] = sites_json(report, sites);
  append({{"launch", std::move(launch)}});
}

void report_error(const std::string& message) { append({{"error", with_readable_names(message)}}); }

void report_failure(const std::string& message) {
  const std::string readable = with_readable_names(message);
  fmt::print(stderr, "rung emu: {}\n", readable);
  append({{"failure", readable}});
}

}  // namespace rung::emu
