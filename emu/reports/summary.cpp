#include "emu/reports/summary.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "emu/reports/conclusion.hpp"
#include "tools/report/table.hpp"
#include "tools/report/trace.hpp"
#include "vgpu/launch.hpp"

namespace rung::emu {
namespace {

/// The width of the terminal that the summary is printed on; npos if standard error goes elsewhere.
std::size_t output_width() {
  winsize size{};
  const bool is_terminal = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_terminal ? size.ws_col : std::string::npos;
}

/// The width that the other columns leave for names.
std::size_t name_width() {
  constexpr std::size_t least = 20, other_columns = 60, most = 100;
  const std::size_t width = output_width();
  if (width == std::string::npos) return most;
  return std::clamp(width, least + other_columns, most + other_columns) - other_columns;
}

// The sum of launches of one kernel with one grid and block size.
struct Group {
  std::string name, grid, block;
  std::size_t launches = 0;
  Json counters = nullptr;
  std::set<std::string> hazards = {};  // by their merged_key()
  double seconds = 0;
  bool failed = false;

  std::uint64_t operator[](const char* counter) const { return counters.at(counter); }
};

std::string format_extent(const Json& extent) {
  std::string text = std::to_string(extent.at(0).get<std::uint32_t>());
  const std::uint32_t y = extent.at(1), z = extent.at(2);
  if (y > 1 || z > 1) text += fmt::format("x{}", y);
  if (z > 1) text += fmt::format("x{}", z);
  return text;
}

void add(Group& group, const Json& launch) {
  group.launches += times_of(launch);
  if (group.counters.is_null()) {
    group.counters = launch.at("counters");
  } else {
    for (auto& [name, value] : group.counters.items()) {
      value = value.get<std::uint64_t>() + launch.at("counters").at(name).get<std::uint64_t>();
    }
  }
  for (const Json& hazard : launch.at("hazards")) {
    if (hazard.at("kind") != name(vgpu::HazardKind::same_value))
      group.hazards.insert(merged_key(hazard));
  }
  group.seconds += launch.at("seconds").get<double>();
  group.failed = group.failed || launch.contains("fault");
}

std::vector<Group> group_launches(const std::vector<Json>& launches) {
  std::vector<Group> groups;
  for (const Json& launch : launches) {
    Group key{launch.at("name"), format_extent(launch.at("grid")),
              format_extent(launch.at("block"))};
    const auto same = [&](const Group& group) {
      return group.name == key.name && group.grid == key.grid && group.block == key.block;
    };
    auto found = std::find_if(groups.begin(), groups.end(), same);
    if (found == groups.end()) found = groups.insert(groups.end(), std::move(key));
    add(*found, launch);
  }
  return groups;
}

// At most five characters: "1234", "16.8M".
std::string format_count(std::uint64_t count) {
  if (count < 10000) return std::to_string(count);
  double value = static_cast<double>(count);
  const char* unit = "";
  for (const char* next : {"k", "M", "G", "T", "P"}) {
    value /= 1000;
    unit = next;
    if (value < 999.5) break;
  }
  return fmt::format("{:.{}f}{}", value, value < 99.95 ? 1 : 0, unit);
}

std::string format_per(std::uint64_t units, std::uint64_t requests) {
  if (requests == 0) return "-";
  return fmt::format("{:.2f}", static_cast<double>(units) / static_cast<double>(requests));
}

/// Namespaces without a name would take all of the narrow column.
std::string label(const Group& group) {
  const std::string_view anonymous = "(anonymous namespace)::";
  std::string name = group.name;
  for (std::size_t at = 0; (at = name.find(anonymous, at)) != name.npos;) {
    name.erase(at, anonymous.size());
  }
  return cut(name, name_width());
}

std::string launch_table(const std::vector<Group>& groups) {
  Table table(
      {"kernel", "grid", "block", "times", "FMA", "diverged", "barriers", "hazards", "CPU time"});
  for (const Group& group : groups) {
    table.add_row({label(group), group.grid, group.block, std::to_string(group.launches),
                   format_count(group["ffma"]), format_count(group["divergent_branches"]),
                   format_count(group["barriers"]),
                   group.failed ? "failed" : std::to_string(group.hazards.size()),
                   format_seconds(group.seconds)});
  }
  return table.str();
}

// Requests, and the cost per request: 32-byte sectors of global memory, wavefronts of shared
// memory.
std::string memory_table(const std::vector<Group>& groups) {
  const bool any_local = std::any_of(groups.begin(), groups.end(), [](const Group& group) {
    return group["local_load_requests"] + group["local_store_requests"] > 0;
  });
  std::vector<std::string> head = {"kernel",   "loads",  "sect/r",    "stores", "sect/r",
                                   "sh.loads", "wave/r", "sh.stores", "wave/r"};
  if (any_local) head.insert(head.end(), {"loc.loads", "loc.stores"});
  Table table(head);
  for (const Group& group : groups) {
    std::vector<std::string> row = {label(group)};
    for (const auto& [requests, units] :
         {std::pair{"global_load_requests", "global_load_sectors"},
          std::pair{"global_store_requests", "global_store_sectors"},
          std::pair{"shared_load_requests", "shared_load_wavefronts"},
          std::pair{"shared_store_requests", "shared_store_wavefronts"}}) {
      row.push_back(format_count(group[requests]));
      row.push_back(format_per(group[units], group[requests]));
    }
    if (any_local) {
      row.push_back(format_count(group["local_load_requests"]));
      row.push_back(format_count(group["local_store_requests"]));
    }
    table.add_row(std::move(row));
  }
  return table.str();
}

// The traffic of bulk copies and the work of tensor cores; empty if there is neither.
std::string tensor_table(const std::vector<Group>& groups) {
  Table table(
      {"kernel", "bulk loads", "bytes", "bulk stores", "bytes", "wgmma reads", "tensor FMA"});
  bool any = false;
  for (const Group& group : groups) {
    std::vector<std::string> row = {label(group)};
    for (const char* counter : {"bulk_loads", "bulk_load_bytes", "bulk_stores", "bulk_store_bytes",
                                "wgmma_shared_load_bytes", "tensor_multiply_adds"}) {
      any = any || group[counter] > 0;
      row.push_back(format_count(group[counter]));
    }
    table.add_row(std::move(row));
  }
  return any ? table.str() : "";
}

std::string skipped_text(const Records& records) {
  std::string text;
  for (const Json& kernel : records.skipped) {
    text += skipped_launches(kernel) + "\n";
  }
  return text.empty() ? text : "\n" + text;
}

// Programs query the same error repeatedly.
void add_new(std::vector<std::string>& texts, const std::string& text) {
  if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
}

}  // namespace

Records read_records(const std::filesystem::path& path) {
  Records records;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const Json record = Json::parse(line, nullptr, false);
    if (record.is_discarded()) continue;  // the program was killed while it wrote
    if (record.contains("launch")) records.launches.push_back(record.at("launch"));
    if (record.contains("hazard")) records.hazards.push_back(record.at("hazard"));
    if (record.contains("failure")) records.failures.push_back(record.at("failure"));
    if (record.contains("memory")) records.memory.push_back(record.at("memory"));
    if (record.contains("skipped")) records.skipped.push_back(record.at("skipped"));
    if (record.contains("interrupted")) records.interrupted = record.at("interrupted");
    if (record.contains("error")) add_new(records.errors, record.at("error"));
  }
  return records;
}

Reports merge(const Records& records) {
  Reports reports;
  for (const Json& launch : records.launches) reports.add_launch(launch);
  for (const Json& hazard : records.hazards) reports.add_hazard(hazard);
  for (const std::string& failure : records.failures) reports.add_failure(failure);
  return reports;
}

std::string launch_tables(const Records& records) {
  std::string text;
  if (!records.launches.empty()) {
    const std::vector<Group> groups = group_launches(records.launches);
    text += launch_table(groups);
    if (records.launches.front().at("observed")) {
      text += fmt::format("\n{}", memory_table(groups));
      if (const std::string table = tensor_table(groups); !table.empty()) text += "\n" + table;
    }
  }
  return text;
}

std::string failed_calls(const Records& records) {
  std::string errors = failed_calls_text(merge(records), records.errors);
  if (!errors.empty()) errors = "\ncalls that failed\n" + errors;
  return errors + skipped_text(records);
}

void add_text(Records& records, const std::filesystem::path& source) {
  std::ifstream file(source, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  for (Json& launch : records.launches) {
    if (!launch.contains("lines")) continue;
    std::vector<vgpu::LineCounters> lines;
    for (const Json& line : launch.at("lines")) lines.push_back(line_counters(line));
    ::rung::add_text(lines, source.filename().string(), text);
    launch["lines"] = Json::array();
    for (const vgpu::LineCounters& line : lines) launch["lines"].push_back(to_json(line));
  }
}

std::string summarize_lines(const Records& records, std::size_t width) {
  std::vector<std::string> names;  // in the order of their first launches
  std::map<std::string, std::map<std::string, vgpu::LineCounters>> kernels;
  for (const Json& launch : records.launches) {
    if (!launch.contains("lines")) continue;
    const std::string name = launch.at("name");
    if (!kernels.contains(name)) names.push_back(name);
    for (const Json& json : launch.at("lines")) {
      const vgpu::LineCounters line = line_counters(json);
      const auto [at, is_new] = kernels[name].try_emplace(line.where, line);
      if (!is_new) at->second += line;
    }
  }
  std::string text;
  for (const std::string& name : names) {
    std::vector<vgpu::LineCounters> lines;
    for (const auto& [where, line] : kernels.at(name)) lines.push_back(line);
    vgpu::hot_first(lines);
    text += fmt::format("\n{}\n{}", name, line_table(lines, width));
  }
  return text;
}

Json to_json(const Records& records, const Reports& reports) {
  Json json = {{"kernels", records.launches},  {"hazards", records.hazards},
               {"failures", records.failures}, {"errors", records.errors},
               {"skipped", records.skipped},   {"reports", to_json(reports)}};
  if (!records.interrupted.is_null()) json["interrupted"] = records.interrupted;
  return json;
}

}  // namespace rung::emu
