// The virtual GPU, configured from the environment.

#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "emu/compile/source/enclosing_statement.hpp"
#include "emu/runtime/call_site.hpp"
#include "emu/runtime/devices.hpp"
#include "emu/runtime/early_exit.hpp"
#include "emu/runtime/given_driver.hpp"
#include "emu/runtime/host_access.hpp"
#include "emu/runtime/options.hpp"
#include "emu/runtime/program_kind.hpp"
#include "emu/runtime/program_source.hpp"
#include "emu/runtime/repetitions.hpp"
#include "emu/runtime/report.hpp"
#include "emu/runtime/runtime.hpp"
#include "emu/runtime/variables.hpp"
#include "vgpu/driver/virtual_driver.hpp"
#include "vgpu/model/source_check.hpp"
#include "vgpu/schedule.hpp"
#include "vgpu/step_recorder.hpp"

namespace rung::emu {
namespace {

// Limits of `rung emu`.
constexpr std::int64_t max_threads = 1024, max_limit = std::int64_t{1} << 50;
constexpr std::int64_t max_schedule = 1'000'000'000;

// With --ci, of each kernel and configuration. The first ones may differ from the others.
constexpr std::uint64_t observed_launches_in_ci = 3;

/// Says when --launches would help.
void note_repetitions(const vgpu::LaunchReport& report) {
  static std::mutex mutex;
  static Repetitions repetitions(flag_variable(ci_variable));
  const std::lock_guard lock(mutex);
  if (const auto hint = repetitions.add(report.kernel, report.seconds)) {
    fmt::print(stderr, "rung emu: {}\n", *hint);
  }
}

void set_up() {
  std::string gpu = variable(gpu_variable);
  if (gpu.empty() && program_kind() == ProgramKind::metal) gpu = "m1pro";
  if (!gpu.empty()) {
    vgpu::set_virtual_device(of_variable(gpu_variable, [&] { return vgpu::parse_device(gpu); }));
  }
  vgpu::LaunchDefaults defaults;
  defaults.observe = flag_variable(check_variable, true);
  if (const auto threads = integer_variable(threads_variable, 1, max_threads)) {
    defaults.threads = static_cast<unsigned>(*threads);
  }
  if (const auto limit = integer_variable(limit_variable, 1, max_limit)) {
    defaults.instruction_limit = static_cast<std::uint64_t>(*limit);
  }
  if (const auto launches = integer_variable(launches_variable, 1, max_limit)) {
    defaults.launches_per_kernel = static_cast<std::uint64_t>(*launches);
  }
  if (const auto schedule = integer_variable(schedule_variable, 0, max_schedule)) {
    vgpu::set_schedule(static_cast<std::uint64_t>(*schedule));
    vgpu::set_memory_observer(report_memory);
  }
  defaults.remembers_launches = true;
  if (flag_variable(ci_variable)) defaults.observed_launches = observed_launches_in_ci;
  device_count();  // read now, whether or not the program asks
  vgpu::set_launch_defaults(defaults);
  const bool with_footprint = flag_variable(footprint_variable);
  const bool with_steps = flag_variable(steps_variable);
  static vgpu::FootprintRecorder recorder;
  static std::optional<vgpu::StepRecorder> steps;
  if (with_steps) steps.emplace();
  if (with_footprint || with_steps) {
    vgpu::set_access_watcher([=](const vgpu::WarpAccess& access) {
      if (with_footprint) recorder.see(access);
      if (with_steps) steps->see(access);
    });
  }
  watch_host_accesses();
  if (defaults.observe && flag_variable(order_variable, true)) {
    vgpu::set_order_observer(report_hazard, &program_source());
    if (imports_streams()) vgpu::record_all_operations();
  }
  vgpu::set_source_check([](const std::string& file, int condition, int line) {
    return encloses(source_text(file), condition, line);
  });
  const bool skips = defaults.launches_per_kernel != 0;
  vgpu::set_launch_observer(
      [=, with_lines = flag_variable(lines_variable), with_sites = flag_variable(sites_variable)](
          const vgpu::LaunchReport& report, const vgpu::Kernel& kernel) {
        const std::vector<vgpu::Site>& sites = vgpu::sites(kernel);
        if (!skips) note_repetitions(report);
        LaunchDetails details;
        if (with_lines) details.lines = vgpu::by_line(report, sites);
        if (with_sites) details.sites = sites;
        if (with_footprint) details.footprint = recorder.take(sites);
        if (with_steps) {  // of each kernel's first launch
          static std::set<std::string> known;
          const std::string text = steps->take(report, kernel);
          if (known.insert(report.kernel).second) details.steps = text;
        }
        report_launch(report, details);
      });
}

const cuda::DriverApi& start() {
  try {
    set_up();
  } catch (const std::exception& error) {
    refuse_variable(error);
  }
  return vgpu::virtual_driver();
}

GivenDriver given = {};

const cuda::DriverApi& first_use() {
  note_reporting_process();
  report_at_signals();
  return given.api != nullptr ? *given.api : start();
}

}  // namespace

const cuda::DriverApi& driver() {
  static const cuda::DriverApi& api = first_use();
  return api;
}

extern "C" __attribute__((visibility("default"))) void rung_emu_use_driver(
    const GivenDriver* driver) {
  given = *driver;
}

// For code that is linked with this library and calls the driver itself, from the same build only.
extern "C" __attribute__((visibility("default"))) const cuda::DriverApi* rung_emu_driver() {
  return &driver();
}

bool uses_given_driver() { return given.api != nullptr; }

std::string driver_message() {
  return given.api != nullptr ? given.message() : vgpu::virtual_driver_message();
}

}  // namespace rung::emu
