#pragma once
// Reports as files for CI systems: JUnit's XML, and SARIF 2.1.0.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "emu/reports/merged.hpp"

namespace rung::emu {

/// A program's run, for these files.
struct ProgramRun {
  std::string program;                 // its name: "vector_add.cu"
  std::vector<std::string> command;    // the command line
  std::optional<int> exit_code;        // unknown inside of the program itself
  int signal = 0;                      // that ended it; 0: none
  std::filesystem::path root;          // the folder that files are named relative to
  std::filesystem::path first_source;  // for reports without a line; may be empty
};

/// The folder that file names of a report begin at: the closest one at or above `folder` that is
/// the top of a git working tree, otherwise `folder` itself.
std::filesystem::path report_root(const std::filesystem::path& folder);

/// JUnit XML, as GitLab, Jenkins and GitHub's actions read it: a test case for each kernel, one for
/// the exit code, and one for leaks.
std::string to_junit(const Reports& reports, const ProgramRun& run);

/// SARIF 2.1.0 (OASIS, "Static Analysis Results Interchange Format"), as GitHub's code scanning
/// reads it. Suppressed reports are in it, marked as such.
Json to_sarif(const Reports& reports, const ProgramRun& run);

}  // namespace rung::emu
