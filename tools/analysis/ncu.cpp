#include "tools/analysis/ncu.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>

namespace rung::analysis {
namespace {

struct Metric {
  const char* name;
  const char* counter;  // Rung's counter
};

// The metrics in results/nvidia-h200/counters/gemm-f32.jsonl.
constexpr Metric metrics[] = {
    {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "global_load_requests"},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "global_load_sectors"},
    {"l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "global_store_requests"},
    {"l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "global_store_sectors"},
    {"smsp__inst_executed_op_shared_ld.sum", "issued_shared_load_requests"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "issued_shared_load_wavefronts"},
    {"smsp__inst_executed_op_shared_st.sum", "issued_shared_store_requests"},
    {"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "issued_shared_store_wavefronts"},
    {"smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "ffma"},
    {"smsp__inst_executed.sum", "instructions"}};

// The section "Occupancy" of ncu.
constexpr Metric limits[] = {{"launch__occupancy_limit_registers", "registers"},
                             {"launch__occupancy_limit_shared_mem", "shared_memory"},
                             {"launch__occupancy_limit_warps", "warps"},
                             {"launch__occupancy_limit_blocks", "blocks"},
                             {"launch__occupancy_limit_barriers", "barriers"}};

constexpr const char* registers_metric = "launch__registers_per_thread";
constexpr const char* time_metric = "gpu__time_duration.sum";
constexpr std::string_view stall_prefix = "smsp__average_warps_issue_stalled_";
constexpr std::string_view stall_suffix = "_per_issue_active.ratio";

using Cells = std::vector<std::string>;

/// Splits a CSV line with quoted cells; a doubled quote is an escaped quote.
Cells cells_of(const std::string& line) {
  Cells cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
        cells.back() += line[++i];
      } else {
        quoted = !quoted;
      }
    } else if (line[i] == ',' && !quoted) {
      cells.emplace_back();
    } else if (line[i] != '\r') {
      cells.back() += line[i];
    }
  }
  return cells;
}

/// Parses "67,141,632", the format of ncu's locale.
double number(std::string text) {
  std::erase(text, ',');
  return std::strtod(text.c_str(), nullptr);
}

/// The unit of time in seconds.
double seconds_of(const std::string& unit) {
  if (unit == "ns" || unit == "nsecond") return 1e-9;
  if (unit == "us" || unit == "usecond") return 1e-6;
  if (unit == "ms" || unit == "msecond") return 1e-3;
  return 1;
}

struct Launch {
  Cells names, units, values;
};

/// The CSV has a line of names, a line of units, then one line per launch.
Launch first_launch(std::string_view csv) {
  std::istringstream lines{std::string(csv)};
  Launch launch;
  for (std::string line; std::getline(lines, line);) {
    if (!launch.names.empty() && !line.starts_with('"')) continue;
    if (launch.names.empty()) {
      if (line.starts_with("\"ID\",")) launch.names = cells_of(line);
    } else if (launch.units.empty()) {
      launch.units = cells_of(line);
    } else {
      launch.values = cells_of(line);
      break;
    }
  }
  if (launch.values.size() != launch.names.size() || launch.units.size() != launch.names.size() ||
      launch.values.empty()) {
    throw std::runtime_error("ncu told of no launch");
  }
  return launch;
}

void add(HardwareCounters& hardware, const std::string& name, const std::string& unit,
         const std::string& value) {
  for (const Metric& metric : metrics) {
    if (name == metric.name) hardware.counters[metric.counter] = number(value);
  }
  for (const Metric& limit : limits) {
    if (name == limit.name) hardware.limits[limit.counter] = number(value);
  }
  if (name == "Kernel Name") hardware.kernel = value;
  if (name == registers_metric) hardware.registers = number(value);
  if (name == time_metric) hardware.seconds = number(value) * seconds_of(unit);
  const bool again = name.find("_not_issued_") != std::string::npos;  // included in another reason
  if (name.starts_with(stall_prefix) && name.ends_with(stall_suffix) && !again) {
    std::string reason = name.substr(stall_prefix.size());
    reason.resize(reason.size() - stall_suffix.size());
    std::replace(reason.begin(), reason.end(), '_', ' ');
    hardware.stalls.emplace_back(reason, number(value));
  }
}

/// Converts cycles per instruction to shares of the total.
void normalise(std::vector<std::pair<std::string, double>>& stalls) {
  double all = 0;
  for (const auto& [reason, cycles] : stalls) all += cycles;
  for (auto& [reason, cycles] : stalls) cycles = all > 0 ? cycles / all : 0;
  std::stable_sort(stalls.begin(), stalls.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
}

}  // namespace

std::vector<std::string> ncu_command(const std::string& ncu, const std::string& kernel,
                                     const std::vector<std::string>& program) {
  std::vector<std::string> names;
  for (const Metric& metric : metrics) names.emplace_back(metric.name);
  for (const Metric& limit : limits) names.emplace_back(limit.name);
  names.emplace_back(registers_metric);
  names.emplace_back(time_metric);
  names.push_back(fmt::format("regex:{}.*_per_issue_active", stall_prefix));
  std::vector<std::string> command = {ncu,
                                      "--csv",
                                      "--page",
                                      "raw",
                                      "--print-units",
                                      "base",
                                      "--kernel-name",
                                      fmt::format("regex:{}", kernel),
                                      "--launch-count",
                                      "1",
                                      "--metrics",
                                      fmt::format("{}", fmt::join(names, ","))};
  command.insert(command.end(), program.begin(), program.end());
  return command;
}

HardwareCounters parse_ncu(std::string_view csv) {
  const Launch launch = first_launch(csv);
  HardwareCounters hardware;
  for (std::size_t i = 0; i < launch.names.size(); ++i) {
    add(hardware, launch.names[i], launch.units[i], launch.values[i]);
  }
  normalise(hardware.stalls);
  return hardware;
}

}  // namespace rung::analysis
