#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "emu/compile/link/device_code.hpp"
#include "tools/learn/causes.hpp"
#include "tools/learn/experiments.hpp"
#include "tools/learn/source_edits.hpp"

namespace rung::learn {
namespace {

using vgpu::Hazard;

/// The line that a message names after these words; 0 if it names none.
int line_after(const std::string& message, std::string_view words) {
  const std::size_t at = message.find(words);
  if (at == message.npos) return 0;
  const std::size_t end = message.find_first_of(" ;,", at + words.size());
  const std::string place = message.substr(at + words.size(), end - at - words.size());
  const std::size_t colon = place.rfind(':');
  if (colon == place.npos) return 0;
  return std::atoi(place.c_str() + colon + 1);
}

/// The line of the statement whose condition is true for some threads only.
int line_of_condition(const Failure& failure, const std::string& text) {
  const Hazard& hazard = *failure.hazard;
  if (const int skipped = line_after(hazard.message, "skipped it at ")) return skipped;
  const std::vector<int> around = statements_around(text, hazard.first.line);
  for (const int line : around) {
    const std::string own = line_of(text, line);
    if (own.starts_with("if") || own.starts_with("for") || own.starts_with("while") ||
        own.starts_with("}")) {
      return line;
    }
  }
  return 0;
}

}  // namespace

std::optional<Cause> cause_of_deadlock(const Failure& failure) {
  if (auto early = early_return(failure)) return early;
  const std::string text = emu::read_file(failure.file);
  const int line = line_of_condition(failure, text);
  if (line == 0) return std::nullopt;
  const std::string statement = line_of(text, line) + " " + line_of(text, line + 1);
  const std::string place = fmt::format("{}:{}", failure.file.filename().string(), line);
  const auto is_word = [&](const char* word) { return statement.find(word) != statement.npos; };
  const std::string own = line_of(text, line);
  const bool is_loop = own.starts_with("for") || own.starts_with("while");
  if (is_word("return") && !is_loop) {
    return Cause{
        "deadlock/early_return",
        fmt::format("{}, '{}', lets some threads return ahead of a barrier that the others "
                    "wait at",
                    place, own)};
  }
  return Cause{is_loop ? "deadlock/loop" : "deadlock/condition",
               fmt::format("{}, '{}', decides which threads come to the barrier at {}", place, own,
                           failure.hazard->first.source)};
}

}  // namespace rung::learn
