#include "tools/learn/source_edits.hpp"

#include <algorithm>

#include "tools/learn/text.hpp"

namespace rung::learn {
namespace {

std::string_view trimmed(std::string_view line) {
  line = line.substr(0, line.find("//"));
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == line.npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
}

/// True if the next line begins a statement.
bool ends_statement(std::string_view line) {
  const std::string_view text = trimmed(line);
  return text.empty() || text.starts_with('#') || text.ends_with(';') || text.ends_with('{') ||
         text.ends_with('}');
}

/// The first line of the statement on line `at`; lines count from 0 here.
std::size_t begin_of_statement(const std::vector<std::string_view>& all, std::size_t at) {
  while (at > 0 && (!ends_statement(all[at - 1]) || trimmed(all[at - 1]).starts_with("#pragma"))) {
    --at;
  }
  return at;
}

/// The line of the brace that opens the block of line `at`; 0 if `at` is outside of all blocks.
std::size_t enclosing(const std::vector<std::string_view>& all, std::size_t at) {
  int depth = 0;
  while (at > 0) {
    --at;
    const std::string_view text = trimmed(all[at]);
    for (std::size_t i = text.size(); i-- > 0;) {
      if (text[i] == '}') ++depth;
      if (text[i] == '{' && --depth < 0) return at;
    }
  }
  return 0;
}

}  // namespace

std::string_view barrier_call(Language language) {
  return language == Language::metal ? "threadgroup_barrier(mem_flags::mem_threadgroup);"
                                     : "__syncthreads();";
}

std::vector<int> statements_around(const std::string& text, int line) {
  const std::vector<std::string_view> all = lines(text);
  std::vector<int> found;
  if (line < 1 || static_cast<std::size_t>(line) > all.size()) return found;
  for (std::size_t at = begin_of_statement(all, static_cast<std::size_t>(line) - 1); at > 0;
       at = begin_of_statement(all, at)) {
    const bool is_function = !all[at].starts_with('#') && !all[at].starts_with(' ');
    if (is_function) break;
    found.push_back(static_cast<int>(at) + 1);
    at = enclosing(all, at);
  }
  return found;
}

std::vector<int> ends_of_blocks(const std::string& text, int line) {
  const std::vector<std::string_view> all = lines(text);
  std::vector<int> found;
  int depth = 0;
  for (std::size_t at = static_cast<std::size_t>(std::max(line, 1)) - 1; at < all.size(); ++at) {
    const std::string_view own = trimmed(all[at]);
    // A brace that the line itself opens ends after it.
    for (const char c : own) {
      if (c == '{') ++depth;
      if (c != '}' || --depth >= 0) continue;
      depth = 0;
      if (!all[at].starts_with('}')) found.push_back(static_cast<int>(at) + 1);
    }
  }
  return found;
}

std::string with_statement(const std::string& text, const std::vector<int>& before,
                           std::string_view statement) {
  std::string edited;
  int number = 0;
  for (const std::string_view line : lines(text)) {
    ++number;
    if (std::ranges::find(before, number) != before.end()) {
      edited += statement;
      edited += '\n';
    }
    edited += line;
    edited += '\n';
  }
  return edited;
}

std::string line_of(const std::string& text, int line) {
  const std::vector<std::string_view> all = lines(text);
  if (line < 1 || static_cast<std::size_t>(line) > all.size()) return "";
  return std::string(trimmed(all[static_cast<std::size_t>(line) - 1]));
}

std::string with_replaced(const std::string& text, int line, std::string_view from,
                          std::string_view to) {
  std::string edited;
  int number = 0;
  for (const std::string_view of : lines(text)) {
    std::string own(of);
    ++number;
    if (line == 0 || line == number) {
      for (std::size_t at = own.find(from); at != own.npos; at = own.find(from, at + to.size())) {
        own.replace(at, from.size(), to);
      }
    }
    edited += own + '\n';
  }
  return edited;
}

}  // namespace rung::learn
