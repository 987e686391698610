#pragma once
// The summary of a run, from the records that the program left (runtime/report.hpp).

#include <filesystem>
#include <string>
#include <vector>

#include "emu/launch_json.hpp"

namespace rung::emu {

struct Records {
  std::vector<Json> launches;  // in order
  std::vector<Json> hazards;   // not attributed to a launch
  std::vector<std::string> failures;
  std::vector<std::string> errors;
  std::vector<Json>
      skipped;  // kernels whose later launches did nothing: "kernel", "ran", "skipped"
};

/// A missing file means a program that did not use the device.
Records read_records(const std::filesystem::path& path);

/// All hazards, those of launches included.
std::size_t count_hazards(const Records& records);

/// The table, one line per launch, followed by every hazard in full.
std::string summarize(const Records& records);

/// Adds the text of this file to the lines of launches (--lines).
void add_text(Records& records, const std::filesystem::path& source);

/// The hottest lines of each kernel, over all its launches.
std::string summarize_lines(const Records& records);

/// {"kernels": […], "hazards": […], "failures": […], "errors": […], "skipped": […]}; hazards,
/// failures and errors are those not attributed to a launch.
Json to_json(const Records& records);

}  // namespace rung::emu
