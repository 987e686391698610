#pragma once
// What the tool tells of a run, from the records that the program left (runtime/report.hpp).

#include <filesystem>
#include <string>
#include <vector>

#include "emu/launch_json.hpp"

namespace rung::emu {

struct Records {
  std::vector<Json> launches;  // in order
  std::vector<Json> hazards;   // that belong to no launch
  std::vector<std::string> failures;
  std::vector<std::string> errors;
};

/// An absent file is a program that used no device.
Records read_records(const std::filesystem::path& path);

/// All hazards, those of launches included.
std::size_t count_hazards(const Records& records);

/// The table, a line for each launch, and under it every hazard in full.
std::string summarize(const Records& records);

/// Gives the lines of launches (--lines) the text that they have in this file.
void add_text(Records& records, const std::filesystem::path& source);

/// For each kernel, with all its launches added up, its hottest lines.
std::string summarize_lines(const Records& records);

/// {"kernels": […], "hazards": […], "failures": […], "errors": […]}; the last three are those that
/// belong to no launch.
Json to_json(const Records& records);

}  // namespace rung::emu
