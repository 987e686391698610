#include "tools/report/explanation_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "tools/report/table.hpp"

namespace rung {
namespace {

struct ExplainedFile {
  std::string kernel;
  Json diagnosis;

  double seconds() const { return diagnosis.at("predicted_seconds"); }
};

/// A file contains one kernel, selected by name, or a list of kernels.
std::vector<ExplainedFile> kernels_of(const Json& json) {
  std::vector<ExplainedFile> kernels;
  const auto add = [&](const Json& one) {
    if (one.at("diagnosis").is_null()) return;
    kernels.push_back({one.at("kernel"), one.at("diagnosis")});
  };
  if (json.contains("kernels")) {
    std::ranges::for_each(json.at("kernels"), add);
  } else {
    add(json);
  }
  return kernels;
}

/// Excludes leaks and similar hazards, which do not fail the program.
std::size_t hazards_of(const Json& json) {
  return static_cast<std::size_t>(std::ranges::count_if(
      json.at("hazards"), [](const Json& hazard) { return hazard.at("fails").get<bool>(); }));
}

std::string first_cause(const ExplainedFile& kernel) {
  const Json& findings = kernel.diagnosis.at("findings");
  if (findings.empty()) return "none that costs much";
  return fmt::format("{}, {:.0f} %", findings.front().at("cause").get<std::string>(),
                     100 * findings.front().at("cost").get<double>());
}

std::string speed_up(double before, double now) {
  return before >= now ? fmt::format("{:.2f} times as fast", before / now)
                       : fmt::format("{:.2f} times as slow", now / before);
}

/// Omits parts that take less than 5 % of the time both before and now.
std::string parts_table(const ExplainedFile& before, const ExplainedFile& now) {
  Table table({"busy", "before", "now"});
  const Json& old = before.diagnosis.at("parts");
  for (const auto& [part, seconds] : now.diagnosis.at("parts").items()) {
    const double then = old.value(part, 0.0), here = seconds.get<double>();
    if (then < before.seconds() / 20 && here < now.seconds() / 20) continue;
    table.add_row({part, format_seconds(then), format_seconds(here)});
  }
  return table.str();
}

const ExplainedFile* counterpart(const std::vector<ExplainedFile>& before,
                                 const ExplainedFile& kernel, std::size_t kernels) {
  const auto same = std::ranges::find(before, kernel.kernel, &ExplainedFile::kernel);
  if (same != before.end()) return &*same;
  return before.size() == 1 && kernels == 1 ? &before.front() : nullptr;
}

std::string change_text(const ExplainedFile& before, const ExplainedFile& now) {
  const std::string head =
      fmt::format("{}: predicted {}, before {}: {}", now.kernel, format_seconds(now.seconds()),
                  format_seconds(before.seconds()), speed_up(before.seconds(), now.seconds()));
  const std::string causes =
      fmt::format("first cause: {}; before: {}", first_cause(now), first_cause(before));
  return fmt::format("{}{}{}", wrap(head, 0), wrap(causes, 0), parts_table(before, now));
}

}  // namespace

std::string changes_text(const Json& before, const Json& now, const std::string& file) {
  std::vector<ExplainedFile> old;
  std::size_t old_hazards = 0;
  try {
    if (before.at("device") != now.at("device")) {
      throw std::runtime_error(fmt::format("{}: is of a {}, not of a {}", file,
                                           before.at("device").get<std::string>(),
                                           now.at("device").get<std::string>()));
    }
    old = kernels_of(before);
    old_hazards = hazards_of(before);
  } catch (const Json::exception&) {
    throw std::runtime_error(file + ": is not what rung explain FILE.cu --json writes");
  }
  const std::vector<ExplainedFile> kernels = kernels_of(now);
  std::string text =
      fmt::format("since {}: hazards {}, before {}\n", file, hazards_of(now), old_hazards);
  for (const ExplainedFile& kernel : kernels) {
    const ExplainedFile* then = counterpart(old, kernel, kernels.size());
    text += "\n" + (then == nullptr ? wrap(kernel.kernel + ": not in that file", 0)
                                    : change_text(*then, kernel));
  }
  return text;
}

}  // namespace rung
