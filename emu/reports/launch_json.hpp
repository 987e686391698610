#pragma once
// Launches and hazards as JSON: the entries of the `kernels` array.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "vgpu/footprint.hpp"
#include "vgpu/launch.hpp"
#include "vgpu/lines.hpp"

namespace rung::emu {

using Json = nlohmann::ordered_json;

/// A kernel's name as its source has it, without parameters: "reduce<256>" for
/// "_Z6reduceILi256EEvPKfPf"; of a variable in a function, "tile".
std::string readable_name(const std::string& symbol);

/// The text with all symbols in it made readable.
std::string with_readable_names(const std::string& text);

/// {"name", "symbol", "grid": [x, y, z], "block": [x, y, z], "shared", "seconds", "observed",
/// "counters": {…}, "hazards": […]}, "fault" if it failed, and "lines": […] if there are any.
Json to_json(const vgpu::LaunchReport& report, const std::vector<vgpu::LineCounters>& lines = {});

/// The number of launches that the JSON sums: its "times", or 1.
std::size_t times_of(const Json& launch);

/// For each instruction of the PTX text that ran, an array of its line there, executions by warps
/// and by threads, and its sectors or wavefronts: `sites` are of the kernel that ran.
Json sites_json(const vgpu::LaunchReport& report, const std::vector<vgpu::Site>& sites);

Json to_json(const vgpu::Footprint& footprint);
vgpu::Footprint footprint(const Json& json);

/// The counters of a launch's JSON.
vgpu::Counters counters(const Json& json);

/// {"line", "text", "instructions", "global_requests", "global_sectors", "shared_requests",
/// "shared_wavefronts", "bulk_sectors"}, and back.
Json to_json(const vgpu::LineCounters& line);
vgpu::LineCounters line_counters(const Json& line);

/// "K: 8 launches skipped after 2 (--launches): …", of {"kernel": "K", "ran": 2, "skipped": 8,
/// "left": "run"}. "left" is what was left out: the run, a repeated run, or checks.
std::string skipped_launches(const Json& kernel);

/// "signal 15 (Terminated), while K ran for 2.5 s", of {"signal": 15, "kernel": "K", "seconds": 2.5}.
std::string interruption(const Json& interrupted);

/// {"kind", "kernel", "message", "address", "count", "first": {…}, "other": {…}}; each party is
/// {"block", "thread", "access", "source", "instruction", "file", "line"}.
Json to_json(const vgpu::Hazard& hazard);

}  // namespace rung::emu
