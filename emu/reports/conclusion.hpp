#pragma once
// Concludes a program: suppresses reports, prints them, writes files for CI and sets the exit code.
// `rung emu` does this for its program; a program of rung-nvcc does it itself.

#include <optional>
#include <string>
#include <vector>

#include "emu/reports/output_formats.hpp"
#include "emu/reports/suppressions.hpp"

namespace rung::emu {

struct ReportOptions {
  bool leak_check = false;  // leaks fail the program
  bool print_leaks = true;
  bool gen_suppressions = false;
  std::vector<Suppression> suppressions;
  Severity fail_on = Severity::warning;  // the least severity of reports that fail the program
  std::optional<int> error_exit_code;    // 0: hazards do not change the program's
};

/// Decides which reports fail the program.
void judge(Reports& reports, const ReportOptions& options);

/// Every report in full that is not suppressed, and entries that would suppress them if asked for.
std::string reports_text(const Reports& reports, const ReportOptions& options);

/// Why calls failed, each once and with `start` before it, unless a report says it.
std::string failed_calls_text(const Reports& reports, const std::vector<std::string>& errors,
                              const std::string& start = "");

/// Lines that begin with "rung emu: ": the number of reports, the number that do not fail the program, and
/// the reports that each suppression covers.
std::string reports_summary(const Reports& reports, const ReportOptions& options);

/// The exit code, from the program's own: as for valgrind's --error-exitcode if one is given, and
/// otherwise 1 if only the program thinks that all is well.
int judged_exit_code(int own, const Reports& reports, const ReportOptions& options);

}  // namespace rung::emu
