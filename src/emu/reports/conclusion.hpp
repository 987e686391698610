#pragma once
// What happens with the reports of a program at its end: suppressions, the text, files for CI and
// the exit code. `rung emu` does this for its program; a program of rung-nvcc does it itself.

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
  std::optional<int> error_exit_code;  // 0: hazards do not change the program's
};

/// Decides which reports fail the program.
void judge(Reports& reports, const ReportOptions& options);

/// Every report in full that is not suppressed, and entries that would suppress them if asked for.
std::string reports_text(const Reports& reports, const ReportOptions& options);

/// How many reports there are, how many do not fail the program, and what was suppressed by whom:
/// lines that begin with "rung emu: ".
std::string reports_summary(const Reports& reports, const ReportOptions& options);

/// The exit code, from the program's own: as for valgrind's --error-exitcode if one is given, and
/// otherwise 1 if only the program thinks that all is well.
int judged_exit_code(int own, const Reports& reports, const ReportOptions& options);

}  // namespace rung::emu
