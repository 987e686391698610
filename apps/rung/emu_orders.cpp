#include "emu_orders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <utility>

#include "emu/reports/merged.hpp"

namespace rung {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// "line 3: 'sum 7' in place of 'sum 8'"
std::string first_difference(const std::string& text, const std::string& usual) {
  std::istringstream lines(text), usual_lines(usual);
  for (int number = 1;; ++number) {
    std::string line, usual_line;
    const bool any = static_cast<bool>(std::getline(lines, line));
    const bool any_usual = static_cast<bool>(std::getline(usual_lines, usual_line));
    if (!any && !any_usual) return {};
    if (line != usual_line || any != any_usual) {
      return fmt::format("line {}: '{}' in place of '{}'", number, line, usual_line);
    }
  }
}

std::string exit_text(const emu::ExitStatus& status) {
  return status.signal != 0 ? fmt::format("signal {}", status.signal)
                            : fmt::format("code {}", status.code);
}

/// The digests of memory by name, in the order in which it was freed.
std::map<std::string, std::vector<emu::Json>> memory_of(const ProgramOutcome& outcome) {
  std::map<std::string, std::vector<emu::Json>> memory;
  for (const emu::Json& each : outcome.records.memory) memory[each.at("name")].push_back(each);
  return memory;
}

void compare(std::uint64_t order, const ProgramOutcome& one, const ProgramOutcome& usual,
             OrderResults& results) {
  if (one.output != usual.output) {
    results.add_difference(order, "output", first_difference(one.output, usual.output));
  }
  if (exit_text(one.status) != exit_text(usual.status)) {
    results.add_difference(order, "exit", exit_text(one.status));
  }
  auto memory = memory_of(one);
  for (const auto& [name, digests] : memory_of(usual)) {
    if (memory[name] != digests) results.add_difference(order, "memory " + name);
  }
}

template <class F>
void for_each_hazard(emu::Records& records, const F& f) {
  for (emu::Json& launch : records.launches) {
    for (emu::Json& hazard : launch.at("hazards")) f(hazard);
  }
  for (emu::Json& hazard : records.hazards) f(hazard);
}

/// Adds the hazards of an order to those of all.
void add(std::uint64_t order, ProgramOutcome& one, ProgramOutcome& all, OrderResults& results) {
  for_each_hazard(one.records, [&](const emu::Json& hazard) {
    if (results.add_hazard(order, emu::merged_key(hazard))) all.records.hazards.push_back(hazard);
  });
  if (all.status.code == 0 && all.status.signal == 0) all.status = one.status;
}

}  // namespace

ProgramOutcome run_orders(const std::vector<std::uint64_t>& orders, const RunInOrder& run,
                          const std::filesystem::path& folder, OrderResults& results) {
  if (orders.size() == 1) return run(orders.front(), {});
  const std::string file = (folder / "output").string();
  const auto run_one = [&](std::uint64_t order) {
    ProgramOutcome one = run(order, file);
    one.output = read_file(file);
    return one;
  };
  ProgramOutcome usual = run_one(orders.front());
  std::fwrite(usual.output.data(), 1, usual.output.size(), stdout);
  std::fflush(stdout);
  ProgramOutcome all = usual;
  for_each_hazard(all.records, [&](const emu::Json& hazard) {
    results.add_hazard(orders.front(), emu::merged_key(hazard));
  });
  bool is_repeatable = true;
  for (std::size_t i = 1; i < orders.size() && emu::HeldSignals::received() == 0; ++i) {
    ProgramOutcome one = run_one(orders[i]);
    // Times, for example, are others in each run.
    if (is_repeatable && one.output != usual.output) {
      is_repeatable = run_one(orders.front()).output == usual.output;
    }
    if (!is_repeatable) one.output = usual.output;
    compare(orders[i], one, usual, results);
    add(orders[i], one, all, results);
  }
  if (!is_repeatable)
    results.add_note("the output differs in equal orders, too, and was not compared");
  for_each_hazard(all.records, [&](emu::Json& hazard) {
    hazard["message"] =
        hazard.at("message").get<std::string>() + results.found_in(emu::merged_key(hazard));
  });
  return all;
}

}  // namespace rung
