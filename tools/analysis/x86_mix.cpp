// The instruction mix of a Callgrind profile, from a disassembly by objdump of the executed code.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>

#include "tools/analysis/callgrind.hpp"
#include "tools/analysis/toolkit.hpp"

namespace rung::analysis {
namespace {

using Executions = std::map<std::uint64_t, double>;  // by address

/// Code that is disassembled by one call.
struct Range {
  std::uint64_t first, last;
  double executions;
};

/// Groups nearby addresses; most executed groups first.
std::vector<Range> ranges_of(const Executions& executions) {
  constexpr std::uint64_t gap = 1 << 16;
  std::vector<Range> ranges;
  for (const auto& [address, count] : executions) {
    if (ranges.empty() || address - ranges.back().last > gap)
      ranges.push_back({address, address, 0});
    ranges.back().last = address;
    ranges.back().executions += count;
  }
  std::ranges::sort(ranges, std::greater(), &Range::executions);
  return ranges;
}

/// Adds the executions of the instruction in a line of objdump: "  4b2d10:\tvmovups (%rax),%zmm0".
void add_line(const std::string& line, const Executions& executions,
              std::map<std::string, double>& counts) {
  std::istringstream words(line);
  std::string address, mnemonic, operands;
  if (!(words >> address >> mnemonic) || !address.ends_with(':')) return;
  char* end = nullptr;
  const auto found = executions.find(std::strtoull(address.c_str(), &end, 16));
  if (found == executions.end() || *end != ':') return;
  if (mnemonic == "rep" || mnemonic == "lock" || mnemonic == "bnd" || mnemonic == "notrack") {
    words >> mnemonic;
  }
  std::getline(words >> std::ws, operands);
  counts[std::string(x86_kind(mnemonic, operands))] += found->second;
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view of) { return text.starts_with(of); });
}

/// The last operand, which is the destination.
std::string_view destination(std::string_view operands) {
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    depth += operands[i] == '(' ? 1 : operands[i] == ')' ? -1 : 0;
    if (operands[i] == ',' && depth == 0) begin = i + 1;
  }
  return operands.substr(begin);
}

}  // namespace

std::string_view x86_kind(std::string_view mnemonic, std::string_view operands) {
  const std::string_view name = mnemonic.substr(mnemonic.starts_with('v') ? 1 : 0);
  const std::string_view used = operands.substr(0, operands.find('#'));  // objdump's comment
  if (starts_with_any(name, {"fmadd", "fnmadd", "fmsub", "fnmsub", "dpbf16", "pdpbusd", "pdpwssd",
                             "pmaddwd", "tdp"})) {
    return "multiply-add";
  }
  if (mnemonic.starts_with('j') || starts_with_any(mnemonic, {"call", "ret"})) return "branch";
  if (name.starts_with("prefetch")) return "prefetch";
  if (name.starts_with("lea")) return "integers and addresses";
  const bool is_move = starts_with_any(name, {"mov", "broadcast", "pbroadcast", "lddqu", "tileload",
                                              "tilestore", "maskmov", "pmaskmov", "push", "pop"});
  if (is_move) {
    if (destination(used).find('(') != used.npos || starts_with_any(name, {"tilestore", "push"})) {
      return "store";
    }
    const bool is_load = used.find('(') != used.npos || name.starts_with("pop");
    return is_load ? "load" : "move or broadcast in registers";
  }
  if (starts_with_any(
          name, {"perm", "unpck", "punpck", "shuf", "pshuf", "insert", "extract", "pinsr", "pextr",
                 "blend", "pblend", "palign", "cvt", "pack", "expand", "compress"})) {
    return "shuffle or conversion";
  }
  constexpr std::array endings = {"ps", "pd", "ss", "sd", "ph", "sh"};
  const bool is_float =
      std::ranges::any_of(endings, [&](const char* of) { return name.ends_with(of); });
  if (is_float &&
      starts_with_any(name, {"add", "sub", "mul", "div", "sqrt", "min", "max", "hadd"})) {
    return "floating-point add or multiply";
  }
  if (name.starts_with("pmul") || name.starts_with("padd") || name.starts_with("psub")) {
    return "vector integers";
  }
  return used.find("mm") != used.npos ? "other vector instructions" : "integers and addresses";
}

std::optional<InstructionMix> x86_mix(const CallgrindProfile& profile) {
  const std::string objdump = find_tool("objdump");
  if (objdump.empty()) return std::nullopt;
  std::map<std::string, Executions> objects;
  for (const CallgrindProfile::Instruction& at : profile.instructions) {
    objects[at.object][at.address] += at.executions;
  }
  std::map<std::string, double> counts;
  InstructionMix mix;
  for (const auto& [object, executions] : objects) {
    constexpr std::size_t max_ranges = 4;
    const std::vector<Range> ranges = ranges_of(executions);
    for (std::size_t i = 0; i < std::min(max_ranges, ranges.size()); ++i) {
      const ToolOutput listing =
          run_tool({objdump, "-d", "--no-show-raw-insn",
                    fmt::format("--start-address={:#x}", ranges[i].first),
                    fmt::format("--stop-address={:#x}", ranges[i].last + 1), object});
      std::istringstream stream(listing.text);
      for (std::string line; std::getline(stream, line);) add_line(line, executions, counts);
    }
  }
  double listed = 0;
  for (const auto& [name, count] : counts) {
    mix.parts.push_back({name, count});
    listed += count;
  }
  mix.all = profile.all.instructions;
  if (listed < mix.all) mix.parts.push_back({"generated code, not listed", mix.all - listed});
  std::ranges::sort(mix.parts, std::greater(), &MixPart::count);
  mix.multiply_adds = counts["multiply-add"];
  mix.loads = counts["load"];
  return mix;
}

}  // namespace rung::analysis
