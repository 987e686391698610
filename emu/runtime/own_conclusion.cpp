#include "emu/runtime/own_conclusion.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string_view>

#include "emu/runtime/early_exit.hpp"
#include "emu/runtime/options.hpp"
#include "emu/runtime/program_kind.hpp"
#include "emu/runtime/variables.hpp"
#include "tools/report/output_file.hpp"

namespace rung::emu {
namespace {

namespace fs = std::filesystem;

std::vector<Suppression> read_all_suppressions(const std::string& paths) {
  std::vector<Suppression> all;
  for (std::size_t at = 0; at < paths.size();) {
    const std::size_t stop = std::min(paths.find(':', at), paths.size());
    if (stop > at) {
      for (auto& entry : read_suppressions(paths.substr(at, stop - at))) all.push_back(entry);
    }
    at = stop + 1;
  }
  return all;
}

ReportOptions options_of_environment() {
  ReportOptions options;
  options.print_leaks = program_kind() == ProgramKind::metal;
  options.leak_check = flag_variable(leak_check_variable);
  flag_variable(allow_unchecked_errors_variable);  // refused here, also if no call fails
  options.gen_suppressions = flag_variable(gen_suppressions_variable);
  options.suppressions = of_variable(
      suppressions_variable, [] { return read_all_suppressions(variable(suppressions_variable)); });
  options.fail_on = of_variable(fail_on_variable, [] {
    const std::string level = variable(fail_on_variable);
    const auto severity = severity_named(level.empty() ? "warning" : level);
    if (severity) return *severity;
    throw std::invalid_argument(fmt::format("'{}' is not error, warning or note", level));
  });
  // The default is 1 for a Metal program, as for `rung emu`; for a CUDA program its own exit code.
  const auto code = integer_variable(error_exit_code_variable, 0, 255);
  options.error_exit_code =
      static_cast<int>(code.value_or(program_kind() == ProgramKind::metal ? 1 : 0));
  return options;
}

/// The words of the command line, as the system has them.
std::vector<std::string> own_command() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

/// With %p replaced by the process's number.
std::string expanded(std::string path) {
  const std::string_view placeholder = "%p";
  const std::string number = std::to_string(getpid());
  for (std::size_t at = 0; (at = path.find(placeholder, at)) != path.npos; at += number.size()) {
    path.replace(at, placeholder.size(), number);
  }
  return path;
}

void write_output(const char* path_variable, const std::string& text) {
  try {
    OutputFile(expanded(variable(path_variable))).write(text);
  } catch (const std::exception& error) {
    fmt::print(stderr, "rung emu: {}: {}\n", path_variable, error.what());
  }
}

void write_files(const Reports& reports) {
  ProgramRun run;
  run.command = own_command();
  run.program = run.command.empty() ? "program" : fs::path(run.command[0]).filename().string();
  run.root = report_root(fs::current_path());
  if (!variable(junit_variable).empty()) write_output(junit_variable, to_junit(reports, run));
  if (!variable(sarif_variable).empty()) {
    write_output(sarif_variable,
                 to_sarif(reports, run).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  }
}

}  // namespace

OwnConclusion& OwnConclusion::get() {
  static OwnConclusion& conclusion = *new OwnConclusion;
  return conclusion;
}

OwnConclusion::OwnConclusion() {
  try {
    options_ = options_of_environment();
  } catch (const std::exception& error) {
    refuse_variable(error);
  }
}

void OwnConclusion::add(const std::string& kind, const Json& content) {
  const std::lock_guard lock(mutex_);
  has_records_ = true;
  if (kind == "launch") reports_.add_launch(content);
  if (kind == "hazard") reports_.add_hazard(content);
  if (kind == "failure") reports_.add_failure(content);
  if (kind == "error") errors_.push_back(content);
  if (kind == "interrupted") {
    interrupted_ = "rung emu: the program was ended by " + interruption(content) + "\n";
  }
  if (kind == "skipped") skipped_ += "rung emu: " + skipped_launches(content) + "\n";
}

void OwnConclusion::conclude() {
  const std::lock_guard lock(mutex_);
  if (!has_records_) return;
  judge(reports_, options_);
  fmt::print(stderr, "{}{}{}{}{}", interrupted_, skipped_, reports_text(reports_, options_),
             failed_calls_text(reports_, errors_, "rung emu: failed call: "),
             reports_summary(reports_, options_));
  write_files(reports_);
  // The program's own code is not known here: a code that replaces it is returned at once.
  if (options_.error_exit_code == 0 || !reports_.any_wrong()) return;
  std::cout.flush();
  std::fflush(nullptr);
  exit_at_once(*options_.error_exit_code);
}

}  // namespace rung::emu
