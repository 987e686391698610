#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "emu/compile/ir/llvm_text.hpp"
#include "emu/compile/ir/passes.hpp"

namespace rung::emu {
namespace {

using Text = std::string_view;

/// The lines of a function, `define` and `}` included.
struct Lines {
  std::size_t begin, end;
};

/// True if the line has an atomic by which a lock is taken, or calls the header's function for it.
bool takes_lock(Text line) {
  constexpr std::array<Text, 8> atomics = {"cmpxchg ", "atomicrmw xchg ", "atomicrmw or ",
                                           "tomicCAS", "tomicExch",       "tomicOr",
                                           ".cas.b",   ".exch.b"};
  return std::ranges::any_of(atomics, [&](Text name) { return line.find(name) != line.npos; });
}

/// The functions that the line names, as in `call i32 @try_lock(ptr %1)`, with their @.
std::vector<Text> called(Text line) {
  std::vector<Text> names;
  for (std::size_t at = 0; (at = line.find('@', at)) != line.npos;) {
    const std::size_t end = std::min(line.find_first_of("( ,)", at), line.size());
    if (end < line.size() && line[end] == '(') names.push_back(line.substr(at, end - at));
    at = end;
  }
  return names;
}

std::vector<Lines> functions(const std::vector<Text>& lines) {
  std::vector<Lines> all;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (lines[at].starts_with("define ")) all.push_back({at, at});
    if (lines[at] == "}" && !all.empty()) all.back().end = at;
  }
  return all;
}

/// The functions that take a lock, or call one that does.
std::set<Text> lock_takers(const std::vector<Text>& lines, const std::vector<Lines>& all) {
  std::multimap<Text, Text> callers;
  std::vector<Text> left;
  for (const auto& [begin, end] : all) {
    const std::vector<Text> names = called(lines[begin]);
    if (names.empty()) continue;
    for (std::size_t at = begin + 1; at < end; ++at) {
      if (takes_lock(lines[at])) left.push_back(names.front());
      for (const Text callee : called(lines[at])) callers.emplace(callee, names.front());
    }
  }
  std::set<Text> takers;
  while (!left.empty()) {
    const Text taker = left.back();
    left.pop_back();
    if (!takers.insert(taker).second) continue;
    const auto [first, last] = callers.equal_range(taker);
    for (auto each = first; each != last; ++each) left.push_back(each->second);
  }
  return takers;
}

/// The line of the label that begins the loop that the branch at `latch` repeats; `latch` if it is
/// not before it.
std::size_t begin_of_loop(const std::vector<Text>& lines, Lines function, std::size_t latch) {
  constexpr Text label = "label %";
  for (std::size_t at = lines[latch].find(label); at != Text::npos;
       at = lines[latch].find(label, at + 1)) {
    const Text rest = lines[latch].substr(at + label.size());
    const Text name = rest.substr(0, rest.find_first_of(", "));
    for (std::size_t line = function.begin; line < latch; ++line) {
      if (lines[line].starts_with(name) && lines[line].substr(name.size()).starts_with(':')) {
        return line;
      }
    }
  }
  return latch;
}

}  // namespace

std::string keep_locks_in_loops(const std::string& module) {
  const std::vector<Text> lines = split_lines(module);
  if (std::ranges::none_of(lines, takes_lock)) return module;
  const std::vector<Lines> all = functions(lines);
  const std::set<Text> takers = lock_takers(lines, all);
  std::set<std::size_t> latches;
  for (const Lines& function : all) {
    for (std::size_t at = function.begin; at < function.end; ++at) {
      if (!lines[at].starts_with("  br ") || lines[at].find("!llvm.loop") == Text::npos) continue;
      for (std::size_t in = begin_of_loop(lines, function, at); in < at; ++in) {
        const std::vector<Text> names = called(lines[in]);
        const bool calls =
            std::ranges::any_of(names, [&](Text name) { return takers.contains(name); });
        if (calls || takes_lock(lines[in])) latches.insert(at);
      }
    }
  }
  std::string text;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (latches.contains(at)) text += "  call void asm sideeffect \"\", \"\"() convergent\n";
    text.append(lines[at]).append("\n");
  }
  return text;
}

}  // namespace rung::emu
