#include "tools/report/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace rung {
namespace {

using vgpu::LineCounters;

/// Line `number`, counted from 1, without leading and trailing spaces.
std::string line_of(std::string_view text, int number) {
  for (; number > 1; --number) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return "";
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string_view::npos ? "" : std::string(text.substr(first));
}

std::string text_at(const std::string& where, std::string_view file_name, std::string_view source) {
  const std::size_t colon = where.rfind(':');
  if (colon == std::string::npos || !where.substr(0, colon).ends_with(file_name)) return "";
  int number = 0;
  std::from_chars(where.data() + colon + 1, where.data() + where.size(), number);
  return number > 0 ? line_of(source, number) : "";
}

std::string shape(const vgpu::Dim3& extent) {
  return fmt::format("{}x{}x{}", extent.x, extent.y, extent.z);
}

/// "4.00": units per request; "-" without requests.
std::string each(std::uint64_t units, std::uint64_t requests) {
  if (requests == 0) return "-";
  return fmt::format("{:.3f}", static_cast<double>(units) / static_cast<double>(requests));
}

std::string traffic_table(const vgpu::Counters& c) {
  Table table({"", "requests", "sectors", "wavefronts", "each"});
  const auto global = [&](const char* what, std::uint64_t requests, std::uint64_t sectors) {
    table.add_row(
        {what, format_count(requests), format_count(sectors), "", each(sectors, requests)});
  };
  const auto shared = [&](const char* what, std::uint64_t requests, std::uint64_t wavefronts) {
    table.add_row(
        {what, format_count(requests), "", format_count(wavefronts), each(wavefronts, requests)});
  };
  global("global loads", c.global_load_requests, c.global_load_sectors);
  global("global stores", c.global_store_requests, c.global_store_sectors);
  shared("shared loads", c.shared_load_requests, c.shared_load_wavefronts);
  shared("  as issued", c.issued_shared_load_requests, c.issued_shared_load_wavefronts);
  shared("shared stores", c.shared_store_requests, c.shared_store_wavefronts);
  shared("  as issued", c.issued_shared_store_requests, c.issued_shared_store_wavefronts);
  return table.str();
}

/// Empty without bulk copies, wgmma and tcgen05.mma.
std::string bulk_table(const vgpu::Counters& c) {
  const std::uint64_t tensor_reads = c.wgmma_shared_load_bytes + c.tcgen05_shared_load_bytes;
  if (c.bulk_loads + c.bulk_stores + tensor_reads == 0) return "";
  Table table({"", "copies", "bytes", "sectors", "lines", "shared bytes"});
  table.add_row({"bulk loads", format_count(c.bulk_loads), format_count(c.bulk_load_bytes),
                 format_count(c.bulk_load_sectors), format_count(c.bulk_load_lines),
                 format_count(c.bulk_shared_store_bytes)});
  table.add_row({"bulk stores", format_count(c.bulk_stores), format_count(c.bulk_store_bytes),
                 format_count(c.bulk_store_sectors), format_count(c.bulk_store_lines),
                 format_count(c.bulk_shared_load_bytes)});
  const bool has_tcgen05 = c.tcgen05_shared_load_bytes != 0;
  table.add_row(
      {has_tcgen05 ? "tcgen05.mma" : "wgmma", "", "", "", "", format_count(tensor_reads)});
  return table.str() + "\n";
}

/// Only the line number if the text is known; otherwise with the file.
std::string place_of(const LineCounters& line) {
  if (line.where.empty()) return "(no line)";
  const auto after = [&](char separator) {
    return line.where.substr(line.where.rfind(separator) + 1);
  };
  return line.text.empty() ? after('/') : fmt::format("{}: {}", after(':'), line.text);
}

}  // namespace

void add_text(std::vector<LineCounters>& lines, std::string_view file_name,
              std::string_view source) {
  for (LineCounters& line : lines) line.text = text_at(line.where, file_name, source);
}

std::string line_table(const std::vector<LineCounters>& lines, std::size_t width) {
  constexpr std::size_t max_lines = 15;
  std::uint64_t all = 0;
  for (const LineCounters& line : lines) all += line.instructions;
  std::string text = fmt::format("{:>6} {:>13} {:>11} {:>11}  {}\n", "share", "instructions",
                                 "sectors", "wavefronts", "line");
  const auto count = [](std::uint64_t value) { return value == 0 ? "" : format_count(value); };
  for (std::size_t i = 0; i < std::min(lines.size(), max_lines); ++i) {
    const LineCounters& line = lines[i];
    const double share = static_cast<double>(line.instructions) / static_cast<double>(all);
    text += cut(fmt::format("{:>5.1f}% {:>13} {:>11} {:>11}  {}", 100 * share,
                            format_count(line.instructions), count(line.sectors()),
                            count(line.shared_wavefronts), place_of(line)),
                width);
    text += '\n';
  }
  return text;
}

std::string counter_table(const vgpu::LaunchReport& report) {
  const vgpu::Counters& c = report.counters;
  std::string text = traffic_table(c) + "\n" + bulk_table(c);
  text += fmt::format("{} warp instructions, {} multiply-adds of f32 (threads)\n",
                      format_count(c.instructions), format_count(c.ffma));
  if (c.tensor_multiply_adds > 0) {
    text += fmt::format("{} multiply-adds of tensor cores\n", format_count(c.tensor_multiply_adds));
  }
  return text + fmt::format("{} barriers, {} of {} branches diverge (warps)\n",
                            format_count(c.barriers), format_count(c.divergent_branches),
                            format_count(c.branches));
}

std::string hazards_text(const vgpu::LaunchReport& report) {
  std::string text;
  for (const vgpu::Hazard& hazard : report.hazards) {
    text += fmt::format("\n{}", wrap("HAZARD: " + hazard.message, 0));
  }
  return text;
}

std::string launch_table(const vgpu::LaunchReport& report, const std::vector<LineCounters>& lines) {
  const std::string shape_text =
      fmt::format("{}\ngrid {}, block {}, {} bytes of shared memory a block\n\n", report.kernel,
                  shape(report.grid), shape(report.block), report.shared);
  return shape_text + counter_table(report) + "\n" + line_table(lines) + hazards_text(report);
}

}  // namespace rung
