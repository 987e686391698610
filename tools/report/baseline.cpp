#include "tools/report/baseline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <tuple>

#include "tools/measure/statistics.hpp"
#include "tools/report/table.hpp"

namespace rung {
namespace {

/// Times of the virtual GPU, CPUs and GPUs are never compared with each other.
std::string_view kind_of(std::string_view device) { return device.substr(0, device.find(' ')); }

bool is_same_problem(const Result& a, const Result& b) {
  const auto key = [](const Result& of) {
    return std::tie(of.rung, of.op, of.dtype, of.m, of.n, of.k, of.layout, of.operands, of.math,
                    of.family, of.form, of.threads, of.alpha, of.beta);
  };
  return key(a) == key(b) && kind_of(a.device) == kind_of(b.device);
}

Summary summary_of(const Result& result) {
  Summary summary;
  summary.median = *result.seconds;
  if (!result.q1 || !result.q3) return summary;
  summary.count = result.samples;
  summary.q1 = *result.q1;
  summary.q3 = *result.q3;
  return summary;
}

Change change_between(const Summary& before, const Summary& now) {
  if (std::min(before.count, now.count) < least_samples) return Change::unknown;
  if (!medians_differ(before, now)) return Change::none;
  return now.median < before.median ? Change::faster : Change::slower;
}

const Result* same_in(const Results& results, const Result& as) {
  const auto found = std::ranges::find_if(results.entries, [&](const Result& entry) {
    return entry.timed() && is_same_problem(entry, as);
  });
  return found == results.entries.end() ? nullptr : &*found;
}

std::string problem_of(const Result& result) {
  std::string text = fmt::format("{} {}", result.dtype, size_name(result));
  for (const std::string& part : {result.layout, result.form.text()}) {
    if (!part.empty()) text += " " + part;
  }
  return text;
}

std::string text_of(Change change) {
  if (change == Change::none) return "no change";
  if (change == Change::unknown) return "too few samples";
  return std::string(name(change));
}

std::string seconds_text(double seconds) {
  std::string text = format_seconds(seconds);
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

/// " (1a2b3c4, 2026-11-20)": commit and date of the baseline.
std::string origin_of(const Results& before) {
  std::string origin;
  for (const char* key : {"commit", "date"}) {
    const Json& machine = *before.sources.front().machine;
    if (!machine.contains(key) || !machine[key].is_string()) continue;
    origin += fmt::format("{}{}", origin.empty() ? "" : ", ", machine[key].get<std::string>());
  }
  return origin.empty() ? "" : " (" + origin + ")";
}

/// If the device has a different name than in the baseline, changes in time may not be due to the
/// code.
std::string other_device(const Results& now, const Results& before) {
  for (const Result& result : now.entries) {
    const Result* const then = result.timed() ? same_in(before, result) : nullptr;
    if (then == nullptr || then->device == result.device) continue;
    return wrap("warning: the baseline was measured on another device: " + then->device, 0);
  }
  return "";
}

}  // namespace

std::string_view name(Change change) {
  constexpr std::array<std::string_view, 4> names = {"faster", "slower", "none", "unknown"};
  return names[static_cast<std::size_t>(change)];
}

std::optional<BaselineChange> change_of(const Result& now, const Results& before) {
  const Result* const then = now.timed() ? same_in(before, now) : nullptr;
  if (then == nullptr) return std::nullopt;
  return BaselineChange{*then->seconds, *then->seconds / *now.seconds,
                        change_between(summary_of(*then), summary_of(now))};
}

std::string baseline_text(const Results& now, const Results& before, const std::string& file) {
  Table table({"rung", "problem", "then", "now", "speed", "change"});
  int faster = 0, slower = 0, others = 0, missing = 0;
  for (const Result& result : now.entries) {
    if (!result.timed()) continue;
    const std::string rung(slug_of(result.rung)), seconds = seconds_text(*result.seconds);
    const auto found = change_of(result, before);
    if (!found) {
      ++missing;
      table.add_row({rung, problem_of(result), "-", seconds, "-", "new"});
      continue;
    }
    const bool is_faster = found->change == Change::faster;
    ++(is_faster ? faster : found->change == Change::slower ? slower : others);
    table.add_row({rung, problem_of(result), seconds_text(found->before), seconds,
                   fmt::format("{:.2f}x", found->ratio), text_of(found->change)});
  }
  const std::string head = wrap(fmt::format("against {}{}", file, origin_of(before)), 0);
  const std::string more = missing == 0 ? "" : fmt::format(", {} new", missing);
  return head + "\n" + table.str() +
         fmt::format("\n{} faster, {} slower, {} without a significant change{}\n", faster, slower,
                     others, more) +
         "significant: the 95 % intervals of the two medians do not overlap\n" +
         other_device(now, before);
}

}  // namespace rung
