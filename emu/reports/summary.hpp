#pragma once
// The summary of a run, from the records that the program left (runtime/report.hpp).

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "emu/reports/launch_json.hpp"
#include "emu/reports/merged.hpp"

namespace rung::emu {

struct Records {
  std::vector<Json> launches;  // in order
  std::vector<Json> hazards;   // not attributed to a launch
  std::vector<Json> memory;    // "name", "bytes" and "digest" of what was freed, under a schedule
  std::vector<std::string> failures;
  std::vector<std::string> errors;
  std::vector<Json>
      skipped;       // kernels whose later launches did nothing: "kernel", "ran", "skipped"
  Json interrupted;  // by a signal: "signal", and "kernel" and "seconds" if a kernel ran; else null
};

/// A missing file means a program that did not use the device.
Records read_records(const std::filesystem::path& path);

/// The hazards of all launches, merged.
Reports merge(const Records& records);

/// The table, one line per kernel with its grid and block size.
std::string launch_tables(const Records& records);
/// Why calls returned an error, unless a hazard says it, and the launches that were skipped.
std::string failed_calls(const Records& records);

/// Adds the text of this file to the lines of launches (--lines).
void add_text(Records& records, const std::filesystem::path& source);

/// The hottest lines of each kernel, over all its launches, in tables of `width` columns.
std::string summarize_lines(const Records& records, std::size_t width);

/// {"kernels": […], "hazards": […], "failures": […], "errors": […], "skipped": […], "reports": […]}, and
/// "interrupted" if a signal ended the program:
/// hazards, failures and errors are those not attributed to a launch, and reports all hazards,
/// merged.
Json to_json(const Records& records, const Reports& reports);

}  // namespace rung::emu
