#pragma once
// Records of the program's work on the device, for the parent process that prints them: one JSON object a
// line, appended to the file that RUNG_EMU_REPORT names. Without that variable nothing is written.
//
//   {"launch": {…}}    as of `rung trace --json`, see emu/reports/launch_json.hpp; with "times" it is the
//                      sum of launches that are alike, unless RUNG_EMU_EACH_LAUNCH is 1
//   {"hazard": {…}}    that belongs to no launch: memory that was not freed, or that host code
//                      accessed
//   {"failure": "…"}   device code that the virtual GPU refused
//   {"skipped": {…}}   launches of a kernel that --launches left out
//   {"interrupted": {…}}  the signal that ended the program, with the kernel that ran, if any
//   {"memory": {…}}    under a schedule: name, bytes and digest of memory that is freed
//   {"error": "…"}     why a call returned an error, where more is known than the error's name

#include <optional>
#include <string>
#include <vector>

#include "vgpu/footprint.hpp"
#include "vgpu/launch.hpp"
#include "vgpu/lines.hpp"
#include "vgpu/schedule.hpp"

namespace rung::emu {

/// Optional details of a launch's record.
struct LaunchDetails {
  std::vector<vgpu::LineCounters> lines;
  std::vector<vgpu::Site> sites;
  std::optional<vgpu::Footprint> footprint;
  std::string steps;  // vgpu/step_recorder.hpp
};
/// This process has the device that reports are of, until a child of it uses the device.
void note_reporting_process();
bool is_reporting_process();
/// Reports memory that was not freed, and pending records. Does nothing in other processes, such as children
/// that inherited the records of this one. Does not return if the exit code changes.
void report_end();
/// Reports what a program did that a signal ends, and the kernel that ran.
void report_interruption(int signal);
void report_launch(const vgpu::LaunchReport& report, const LaunchDetails& details);
/// Contents of device memory when it is freed.
void report_memory(const vgpu::FinalMemory& memory);
/// A hazard that belongs to no launch.
void report_hazard(const vgpu::Hazard& hazard);
void report_error(const std::string& message);
/// True if any device code was refused: most calls then fail for this reason.
bool has_failure();
/// Also printed on standard error, because the program itself only receives an error code.
void report_failure(const std::string& message);

}  // namespace rung::emu
