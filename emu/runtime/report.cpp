#include "emu/runtime/report.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>
#include <regex>
#include <string_view>

#include "emu/compile/source/kernel_parameters.hpp"
#include "emu/reports/launch_json.hpp"
#include "emu/reports/metal_words.hpp"
#include "emu/reports/severity.hpp"
#include "emu/runtime/failed_calls.hpp"
#include "emu/runtime/memory_history.hpp"
#include "emu/runtime/metal_reports.hpp"
#include "emu/runtime/options.hpp"
#include "emu/runtime/own_conclusion.hpp"
#include "emu/runtime/program_kind.hpp"
#include "emu/runtime/repeated_launches.hpp"
#include "emu/runtime/runtime.hpp"
#include "emu/runtime/variables.hpp"
#include "vgpu/driver/virtual_driver.hpp"

namespace rung::emu {
namespace {

/// True if the host can access this address.
bool is_mapped(std::uint64_t address) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  unsigned char resident = 0;
  return address >= page &&
         mincore(reinterpret_cast<void*>(address / page * page), page, &resident) == 0;
}

/// The number after "address 0x" at the beginning of a description, if it is one.
std::optional<std::uint64_t> unknown_address(const std::string& description) {
  constexpr std::string_view start = "address 0x";
  if (!description.starts_with(start)) return std::nullopt;
  return std::strtoull(description.c_str() + start.size(), nullptr, 16);
}

/// True for an access by a parameter that is null, or to the first 64 KiB, which no memory has.
bool is_null(const vgpu::Hazard& hazard) {
  constexpr std::uint64_t never_mapped = 1 << 16;
  const auto address = unknown_address(hazard.address);
  return hazard.address == "null pointer" || (address && *address < never_mapped) ||
         hazard.message.find("of the kernel is null") != hazard.message.npos;
}

/// Adds its name to "parameter 2 of the kernel".
std::string with_parameter_name(const std::string& message, const vgpu::Hazard& hazard) {
  static const std::regex& numbered = *new std::regex("parameter ([0-9]+) of the kernel");
  std::smatch match;
  if (!std::regex_search(message, match, numbered)) return message;
  std::string kernel = readable_name(hazard.kernel);
  kernel = kernel.substr(0, kernel.find('<'));
  kernel = kernel.substr(kernel.find_last_of(" :") + 1);
  const std::string name =
      parameter_name(source_text(hazard.first.file), kernel, std::stoull(match[1]) - 1);
  if (name.empty()) return message;
  return fmt::format("{}{}, {},{}", match.prefix().str(), match[0].str(), name,
                     match.suffix().str());
}

/// An access out of bounds by a name that says more, with what is known of the memory.
Json told_in_cuda(const vgpu::Hazard& hazard) {
  Json json = to_json(hazard);
  std::string message = with_parameter_name(with_history(json.at("message")), hazard);
  // A texture fetch, or another function of a header, says nothing of the program.
  if (is_own_header(hazard.first.file) && !hazard.kernel.empty()) {
    message += "; in kernel " + readable_name(hazard.kernel);
  }
  json["message"] = message;
  if (hazard.kind != vgpu::HazardKind::out_of_bounds) return json;
  std::string_view kind = name(hazard.kind);
  if (hazard.address.starts_with("freed ")) kind = use_after_free;
  if (is_null(hazard)) kind = null_pointer;
  if (is_mapped(unknown_address(hazard.address).value_or(0))) kind = host_pointer;
  const std::string_view plain = name(hazard.kind);
  if (kind == plain || !message.starts_with(plain)) return json;
  json["kind"] = kind;
  json["message"] = std::string(kind) + message.substr(plain.size());
  return json;
}

/// The same in the words of the program's language.
Json told(const vgpu::Hazard& hazard) {
  Json json = told_in_cuda(hazard);
  if (program_kind() == ProgramKind::metal) json["message"] = in_metal_words(json.at("message"));
  return json;
}

// In one write, so that records of several threads and processes do not interleave.
void append(const char* path, const Json& record) {
  const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) {
    static std::atomic_flag is_reported;
    if (is_reported.test_and_set()) return;
    fmt::print(stderr, "rung emu: {}: '{}' cannot be written: {}\n", report_variable, path,
               std::strerror(errno));
    return;
  }
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

/// The part of launches that was left out, in the words of launch_json.hpp.
const char* left_out(vgpu::SkippedLaunches::Left left) {
  using Left = vgpu::SkippedLaunches::Left;
  return left == Left::run ? "run" : left == Left::repeated_run ? "repeated run" : "checks";
}

void report_skipped_launches() {
  for (const vgpu::SkippedLaunches& kernel : vgpu::skipped_launches()) {
    report("skipped", {{"kernel", readable_name(kernel.kernel)},
                       {"ran", kernel.ran},
                       {"skipped", kernel.skipped},
                       {"left", left_out(kernel.left)}});
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

// True if the launch shares a record with similar launches.
bool is_repeated(const vgpu::LaunchReport& launch, const LaunchDetails& details) {
  static const bool each = flag_variable(each_launch_variable);
  const bool has_details = !details.lines.empty() || !details.sites.empty() ||
                           !details.steps.empty() || details.footprint;
  const bool shares = !each && !has_details && repeated_launches().add(launch);
  if (!shares || repeated_launches().is_due()) report_repeated_launches();
  return shares;
}

void report_pending_launches() {
  const std::lock_guard lock(repeated_mutex);  // other threads may still launch kernels
  report_repeated_launches();
}

void conclude_alone() {
  if (std::getenv(report_variable) == nullptr) OwnConclusion::get().conclude();
}

// The last one that used the device: what its children inherit is not theirs to report.
std::atomic<pid_t> reporting_process = 0;

void (*end_observer)() = nullptr;

// Runs after the program's own exit handlers and destructors, which may free memory.
__attribute__((destructor)) void report_at_exit() { report_end(); }

}  // namespace

void note_reporting_process() { reporting_process = getpid(); }

bool is_reporting_process() { return reporting_process == getpid(); }

void set_end_observer(void (*observer)()) { end_observer = observer; }

void report_end() {
  if (!is_reporting_process()) return;
  if (!uses_given_driver()) {
    vgpu::run_pending_operations();
    vgpu::observe_live_memory();
  }
  if (end_observer != nullptr) end_observer();
  // After a fault nothing can be freed, and most programs exit at once.
  if (!Runtime::get().is_lost()) {
    for (const LiveAllocation& allocation : Runtime::get().live_allocations()) {
      report("hazard", leak(allocation));
    }
  }
  report_pending_launches();
  for (const vgpu::Hazard& call : take_unchecked_calls()) report("hazard", to_json(call));
  report_skipped_launches();
  conclude_alone();
}

void report_interruption(int signal) {
  Json json = {{"signal", signal}};
  if (const auto running = vgpu::running_launch()) {
    json["kernel"] = readable_name(running->kernel);
    json["seconds"] = running->seconds;
  }
  report("interrupted", json);
  report_pending_launches();
  // A running launch holds the driver's lock, so that nothing here may ask the driver.
  conclude_alone();
}

void report_launch(const vgpu::LaunchReport& launch, const LaunchDetails& details) {
  note_reporting_process();
  const std::lock_guard lock(repeated_mutex);
  if (is_repeated(launch, details)) return;
  Json json = to_json(launch, details.lines);
  json["hazards"] = Json::array();
  for (const vgpu::Hazard& hazard : launch.hazards) json["hazards"].push_back(told(hazard));
  if (!details.sites.empty()) json["sites"] = sites_json(launch, details.sites);
  if (details.footprint) json["footprint"] = to_json(*details.footprint);
  if (!details.steps.empty()) json["steps"] = details.steps;
  report("launch", json);
}

void report_memory(const vgpu::FinalMemory& memory) {
  report("memory", {{"name", with_readable_names(memory.name)},
                    {"bytes", memory.bytes},
                    {"digest", memory.digest}});
}

void report_hazard(const vgpu::Hazard& hazard) { report("hazard", told(hazard)); }

void report_hazard(const vgpu::Hazard& hazard, std::string_view kind) {
  Json json = to_json(hazard);
  json["kind"] = kind;
  note_reporting_process();
  report("hazard", json);
}

void report_error(const std::string& message) { report("error", with_readable_names(message)); }

namespace {
std::atomic<bool> any_failure = false;
}  // namespace

bool has_failure() { return any_failure; }

void report_failure(const std::string& message) {
  any_failure = true;
  const std::string readable = with_readable_names(message);
  fmt::print(stderr, "rung emu: {}\n", readable);
  report("failure", readable);
}

}  // namespace rung::emu
