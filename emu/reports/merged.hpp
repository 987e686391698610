#pragma once
// Errors of a program on the device, merged over its launches: hazards of one kernel at the same lines
// are one report.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emu/reports/launch_json.hpp"
#include "emu/reports/severity.hpp"

namespace rung::emu {

/// A line of a source file, as the compiler was given its path. `file` is empty if unknown.
struct SourceLine {
  std::string file;
  int line = 0;
};

struct Report {
  std::string kind;                   // "shared-memory race"
  std::string kernel;                 // leak: the call that allocated; host access: the function
  std::string message;                // one line, of the first occurrence
  Json first;                         // its parties, as in a launch's JSON
  Json other = nullptr;               // null for a hazard of one party
  std::string address;                // of the first occurrence
  std::uint64_t count = 0;            // occurrences in all launches
  std::uint64_t bytes = 0;            // leak: of all allocations
  std::vector<std::size_t> launches;  // from 1, in order; empty for what belongs to no launch
  Severity severity = Severity::error;
  bool fails = true;          // false for leaks, equal values and what is suppressed
  std::string suppressed_by;  // the name of the suppression; empty if not suppressed

  /// The line of its own party, or of the other party if only that has one.
  SourceLine where() const;
  /// The kind as one word, for rules and suppressions: "shared-memory-race".
  std::string rule() const;
};

/// A kernel, over all its launches.
struct KernelRuns {
  std::string name;
  std::size_t launches = 0;
  double seconds = 0;  // CPU time
};

/// Two hazards with the same key are one report: of one kernel and kind, at the same lines. Two threads race
/// whichever comes first, so the order of the parties does not count.
std::string merged_key(const Json& hazard);

/// Takes the records of a program in their order (runtime/report.hpp).
class Reports {
 public:
  void add_launch(const Json& launch);
  /// A hazard that belongs to no launch: a leak, or an access by the host.
  void add_hazard(const Json& hazard);
  /// Device code that the virtual GPU refused.
  void add_failure(std::string failure) { failures_.push_back(std::move(failure)); }

  /// In the order of their first occurrences.
  const std::vector<Report>& all() const { return reports_; }
  std::vector<Report>& all() { return reports_; }
  const std::vector<KernelRuns>& kernels() const { return kernels_; }
  const std::vector<std::string>& failures() const { return failures_; }

  /// The number of reports that fail the program.
  std::size_t failing() const;
  /// True if any report fails the program or device code was refused.
  bool any_wrong() const { return failing() + failures_.size() > 0; }

 private:
  Report& find(const Json& hazard);

  std::size_t launches_ = 0;
  std::vector<Report> reports_;
  std::map<std::string, std::size_t> index_;  // by what makes two reports the same
  std::vector<KernelRuns> kernels_;
  std::vector<std::string> failures_;
};

/// The message, with how often and in which launches: "…: … (12 times, in launches 1-4 and 7)".
std::string describe(const Report& report);

/// [{"kind", "kernel", "message", "address", "count", "launches": […], "fails", "first", "other",
/// "suppression"}]; the last two only where there are any.
Json to_json(const Reports& reports);

}  // namespace rung::emu
