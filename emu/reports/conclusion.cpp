#include "emu/reports/conclusion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "emu/reports/remedy.hpp"
#include "vgpu/launch.hpp"

namespace rung::emu {
namespace {

bool is_leak(const Report& report) { return report.kind == name(vgpu::HazardKind::leak); }

bool is_printed(const Report& report, const ReportOptions& options) {
  return report.suppressed_by.empty() &&
         (options.print_leaks || options.leak_check || !is_leak(report));
}

/// "2 leaks", "1 write of the same value".
std::string count_of(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

/// True if a report has the reason of this error: the calls after a fault return it, and a failed call may
/// itself be a report.
bool is_said(const std::string& error, const Reports& reports) {
  const std::size_t launch = error.find(": launch of "), colon = error.find(": ");
  const std::size_t after = launch == error.npos ? colon : error.find(": ", launch + 2);
  const std::string reason = after == error.npos ? error : error.substr(after + 2);
  return std::any_of(reports.all().begin(), reports.all().end(), [&](const Report& report) {
    const bool is_call = report.kind == name(vgpu::HazardKind::failed_call);
    return error.find(report.message) != error.npos ||
           (is_call && report.message.find(reason) != report.message.npos);
  });
}

/// Reports that do not fail the program, although nothing suppresses them.
std::string harmless_text(const Reports& reports, const ReportOptions& options) {
  std::size_t leaks = 0, same = 0, others = 0;
  for (const Report& report : reports.all()) {
    if (report.fails || !is_printed(report, options)) continue;
    const bool is_note = report.severity == Severity::note;
    (!is_note ? others : is_leak(report) ? leaks : same) += 1;
  }
  std::string text;
  if (same > 0) text = count_of(same, "write of the same value", "writes of the same value");
  if (leaks > 0) {
    text += fmt::format("{}{} (--leak-check)", text.empty() ? "" : " and ",
                        count_of(leaks, "leak", "leaks"));
  }
  if (others > 0) {
    text += fmt::format("{}{} (--fail-on)", text.empty() ? "" : " and ",
                        count_of(others, "warning", "warnings or errors"));
  }
  if (text.empty()) return text;
  return fmt::format("rung emu: {} {} not fail the program\n", text,
                     leaks + same + others == 1 ? "does" : "do");
}

}  // namespace

void judge(Reports& reports, const ReportOptions& options) {
  for (Report& report : reports.all()) {
    report.fails = report.severity >= options.fail_on;
    if (is_leak(report) && options.leak_check) report.fails = true;
  }
  suppress(reports, options.suppressions);
}

std::string reports_text(const Reports& reports, const ReportOptions& options) {
  std::string text, entries;
  for (const Report& report : reports.all()) {
    if (!is_printed(report, options)) continue;
    text += describe(report) + "\n";
    if (const std::string what = remedy(report); !what.empty()) {
      const bool is_error = report.severity == Severity::error;
      text += fmt::format("  {}to do: {}\n",
                          is_error ? "" : fmt::format("{}; ", name(report.severity)), what);
    }
    if (options.gen_suppressions) entries += suppression_for(report);
  }
  return entries.empty() ? text : text + "\n" + entries;
}

std::string failed_calls_text(const Reports& reports, const std::vector<std::string>& errors,
                              const std::string& start) {
  std::set<std::string> known;
  std::string text;
  for (const std::string& error : errors) {
    const bool is_new = known.insert(error).second;
    if (is_new && !is_said(error, reports)) text += start + error + "\n";
  }
  return text;
}

std::string reports_summary(const Reports& reports, const ReportOptions& options) {
  std::string text;
  if (const std::size_t failing = reports.failing(); failing > 0) {
    text = fmt::format("rung emu: {} found\n", count_of(failing, "hazard", "hazards"));
  }
  text += harmless_text(reports, options);
  std::map<std::string, std::size_t> used;
  for (const Report& report : reports.all()) {
    if (!report.suppressed_by.empty()) ++used[report.suppressed_by];
  }
  for (const auto& [name, count] : used) {
    text +=
        fmt::format("rung emu: suppressed by {}: {}\n", name, count_of(count, "report", "reports"));
  }
  return text;
}

int judged_exit_code(int own, const Reports& reports, const ReportOptions& options) {
  if (!reports.any_wrong()) return own;
  if (!options.error_exit_code) return own == 0 ? 1 : own;
  return *options.error_exit_code == 0 ? own : *options.error_exit_code;
}

}  // namespace rung::emu
