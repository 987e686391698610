#pragma once
// Suppression files, in the manner of Valgrind's (Valgrind User Manual, 2.5 "Suppressing errors"):
//
//   # Lines that begin with # and empty lines mean nothing.
//   {
//      the-old-reduction                  (its name, for the summary)
//      rung:shared-memory-race            (the kind of report, with dashes)
//      fun:reduce<*>                      (the kernel, or the call that allocated)
//      src:reduction.cuh:4?               (a line of one party, then one of the other)
//      src:reduction.cuh:52
//   }
//
// `*` stands for any characters, also for none, and `?` for one. fun: and src: may be left out; the
// two src: lines may match the parties in either order. A pattern without a colon matches every
// line of the file. A comment cannot follow an entry's line.

#include <string>
#include <string_view>
#include <vector>

#include "emu/reports/merged.hpp"

namespace rung::emu {

struct Suppression {
  std::string name;
  std::string kind;                  // "shared-memory-race", or a pattern
  std::string kernel;                // a pattern; empty: any
  std::vector<std::string> sources;  // patterns; at most two
};

/// Throws std::invalid_argument with the file's name, the line, and what was expected there.
std::vector<Suppression> parse_suppressions(std::string_view text, const std::string& file);
/// Reads a file. Also throws std::invalid_argument if it cannot be read.
std::vector<Suppression> read_suppressions(const std::string& path);

bool matches(const Suppression& suppression, const Report& report);

/// Notes the first suppression that matches each report, which then fails nothing.
void suppress(Reports& reports, const std::vector<Suppression>& suppressions);

/// An entry for a file that suppresses exactly this report, with a name to be replaced.
std::string suppression_for(const Report& report);

}  // namespace rung::emu
