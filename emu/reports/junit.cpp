// JUnit's XML has no standard; this is what the readers of GitLab, Jenkins and GitHub's actions
// have in common: testsuites, testsuite, testcase, failure, error, system-out.

#include <fmt/format.h>

#include <cstring>
#include <string_view>

#include "emu/reports/output_formats.hpp"
#include "emu/reports/source_files.hpp"
#include "vgpu/launch.hpp"

namespace rung::emu {
namespace {

/// Bytes that are no UTF-8, which a file's name may have, become U+FFFD, as in JSON.
std::string as_utf8(std::string_view text) {
  constexpr auto replace = Json::error_handler_t::replace;
  return Json::parse(Json(text).dump(-1, ' ', false, replace)).get<std::string>();
}

std::string escape(std::string_view text) {
  std::string escaped;
  for (const char letter : as_utf8(text)) {
    switch (letter) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      case '\n': escaped += "&#10;"; break;
      default:  // XML has no other control characters
        if (static_cast<unsigned char>(letter) >= 0x20) escaped += letter;
    }
  }
  return escaped;
}

struct Case {
  std::string name = {}, file = {}, failure_type = {}, failure = {}, error = {}, notes = {};
  double seconds = 0;
};

void add_line(std::string& text, const std::string& line) {
  text += (text.empty() ? "" : "\n") + line;
}

void add(Case& test, const Report& report, const std::filesystem::path& root) {
  if (test.file.empty()) test.file = relative_name(report.where().file, root);
  if (report.fails) {
    if (test.failure_type.empty()) test.failure_type = report.kind;
    add_line(test.failure, describe(report));
  } else if (!report.suppressed_by.empty()) {
    add_line(test.notes,
             fmt::format("suppressed by {}: {}", report.suppressed_by, describe(report)));
  } else {
    add_line(test.notes, describe(report));
  }
}

/// A test case for the reports of one kind that belong to no launch.
Case case_of(const char* name, vgpu::HazardKind kind, const Reports& reports,
             const std::filesystem::path& root) {
  Case test{.name = name};
  for (const Report& report : reports.all()) {
    if (report.launches.empty() && report.kind == vgpu::name(kind)) add(test, report, root);
  }
  return test;
}

Case exit_case(const ProgramRun& run) {
  Case test{.name = "the program succeeds"};
  if (run.signal != 0) {
    test.failure_type = "signal";
    test.failure = fmt::format("ended by signal {} ({})", run.signal, strsignal(run.signal));
  } else if (run.exit_code.value_or(0) != 0) {
    test.failure_type = "exit code";
    test.failure = fmt::format("ended with exit code {}", *run.exit_code);
  }
  return test;
}

std::vector<Case> cases_of(const Reports& reports, const ProgramRun& run) {
  std::vector<Case> cases;
  for (const KernelRuns& kernel : reports.kernels()) {
    Case& test = cases.emplace_back(Case{.name = kernel.name, .seconds = kernel.seconds});
    for (const Report& report : reports.all()) {
      if (!report.launches.empty() && report.kernel == kernel.name) add(test, report, run.root);
    }
  }
  using enum vgpu::HazardKind;
  cases.push_back(case_of("device memory is freed", leak, reports, run.root));
  const Case host = case_of("host code accesses no device memory", host_access, reports, run.root);
  const Case calls = case_of("failed calls are checked", failed_call, reports, run.root);
  for (const Case& test : {host, calls}) {
    if (!test.file.empty() || !test.failure.empty() || !test.notes.empty()) cases.push_back(test);
  }
  if (run.exit_code || run.signal != 0) cases.push_back(exit_case(run));
  for (const std::string& failure : reports.failures()) {
    cases.push_back(Case{.name = "device code is supported", .error = failure});
  }
  return cases;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string xml_of(const Case& test, const std::string& program) {
  std::string xml =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\"", escape(program), escape(test.name));
  if (!test.file.empty()) xml += fmt::format(" file=\"{}\"", escape(test.file));
  xml += fmt::format(" time=\"{:.6f}\">\n", test.seconds);
  if (!test.failure.empty()) {
    xml += fmt::format("      <failure type=\"{}\" message=\"{}\">{}</failure>\n",
                       escape(test.failure_type), escape(first_line(test.failure)),
                       escape(test.failure));
  }
  if (!test.error.empty()) {
    xml +=
        fmt::format("      <error type=\"not supported\" message=\"{}\"/>\n", escape(test.error));
  }
  if (!test.notes.empty()) {
    xml += fmt::format("      <system-out>{}</system-out>\n", escape(test.notes));
  }
  return xml + "    </testcase>\n";
}

}  // namespace

std::string to_junit(const Reports& reports, const ProgramRun& run) {
  const std::vector<Case> cases = cases_of(reports, run);
  std::size_t failures = 0, errors = 0;
  double seconds = 0;
  std::string body;
  for (const Case& test : cases) {
    failures += test.failure.empty() ? 0 : 1;
    errors += test.error.empty() ? 0 : 1;
    seconds += test.seconds;
    body += xml_of(test, run.program);
  }
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.6f}\"", cases.size(),
                  failures, errors, seconds);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"rung emu\" {0}>\n"
      "  <testsuite name=\"{1}\" {0}>\n{2}  </testsuite>\n</testsuites>\n",
      counts, escape(run.program), body);
}

}  // namespace rung::emu
