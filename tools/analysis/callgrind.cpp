#include "tools/analysis/callgrind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <sstream>
#include <stdexcept>

namespace rung::analysis {
namespace {

constexpr std::int64_t line_bytes = 64;

/// "SIZE,WAYS,LINE" with approximately this number of ways: the number of sets must be a power of
/// two.
std::string cache_option(std::int64_t bytes, std::int64_t ways) {
  const auto sets = static_cast<std::int64_t>(std::bit_floor(
      static_cast<std::uint64_t>(std::max<std::int64_t>(1, bytes / line_bytes / ways))));
  const std::int64_t exact_ways = std::max<std::int64_t>(1, bytes / line_bytes / sets);
  return fmt::format("{},{},{}", sets * exact_ways * line_bytes, exact_ways, line_bytes);
}

/// Reads a profile line by line.
class ProfileReader {
 public:
  CallgrindProfile read(std::string_view text) {
    std::istringstream stream{std::string(text)};
    for (std::string line; std::getline(stream, line);) read_line(line);
    if (events_.empty()) throw std::runtime_error("callgrind's profile has no events");
    CallgrindProfile profile;
    profile.all = all_;
    profile.instructions = std::move(instructions_);
    profile.functions.assign(functions_.begin(), functions_.end());
    std::ranges::sort(profile.functions, [](const auto& a, const auto& b) {
      return a.second.instructions > b.second.instructions;
    });
    return profile;
  }

 private:
  void read_line(const std::string& line) {
    const auto value_of = [&](std::string_view key) -> std::optional<std::string> {
      if (!line.starts_with(key)) return std::nullopt;
      return line.substr(key.size());
    };
    if (const auto events = value_of("events: ")) {
      std::istringstream words(*events);
      for (std::string word; words >> word;) events_.push_back(word);
    } else if (const auto object = value_of("ob=")) {
      object_ = *object;
    } else if (const auto function = value_of("fn=")) {
      function_ = *function;
    } else if (line.starts_with("calls=")) {
      is_call_ = true;  // the next line has the cost of the called function
    } else if (line.starts_with("0x")) {
      if (!is_call_) add(line);
      is_call_ = false;
    }
  }

  /// Parses "0x4b2d10 120 5 1 0 …": an address, a source line, and a count for each event.
  void add(const std::string& line) {
    std::istringstream words(line);
    std::string address, source_line;
    words >> address >> source_line;
    CallgrindCosts costs;
    double count = 0;
    for (std::size_t i = 0; i < events_.size() && words >> count; ++i)
      add(costs, events_[i], count);
    instructions_.push_back({object_, std::stoull(address, nullptr, 16), costs.instructions});
    for (CallgrindCosts* sum : {&all_, &functions_[function_]}) {
      sum->instructions += costs.instructions;
      sum->loads += costs.loads;
      sum->stores += costs.stores;
      sum->l1_misses += costs.l1_misses;
      sum->l2_misses += costs.l2_misses;
    }
  }

  static void add(CallgrindCosts& costs, const std::string& event, double count) {
    if (event == "Ir") costs.instructions += count;
    if (event == "Dr") costs.loads += count;
    if (event == "Dw") costs.stores += count;
    if (event == "D1mr" || event == "D1mw") costs.l1_misses += count;
    if (event == "DLmr" || event == "DLmw") costs.l2_misses += count;
  }

  std::vector<std::string> events_;
  std::string object_, function_;
  bool is_call_ = false;
  CallgrindCosts all_;
  std::map<std::string, CallgrindCosts> functions_;
  std::vector<CallgrindProfile::Instruction> instructions_;
};

}  // namespace

std::vector<std::string> callgrind_command(const std::string& valgrind, const DataCaches& caches,
                                           const std::string& counted, const std::string& out,
                                           const std::vector<std::string>& program) {
  constexpr std::int64_t l1_ways = 8, l2_ways = 16;
  std::vector<std::string> command = {valgrind,
                                      "--tool=callgrind",
                                      "--quiet",
                                      "--cache-sim=yes",
                                      "--dump-instr=yes",
                                      "--compress-strings=no",
                                      "--compress-pos=no",
                                      "--toggle-collect=" + counted,
                                      "--D1=" + cache_option(caches.l1_bytes, l1_ways),
                                      "--LL=" + cache_option(caches.l2_bytes, l2_ways),
                                      "--callgrind-out-file=" + out};
  command.insert(command.end(), program.begin(), program.end());
  return command;
}

CallgrindProfile parse_callgrind(std::string_view text) { return ProfileReader().read(text); }

}  // namespace rung::analysis
