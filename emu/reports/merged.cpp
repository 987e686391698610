#include "emu/reports/merged.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "emu/reports/remedy.hpp"
#include "vgpu/launch.hpp"

namespace rung::emu {
namespace {

constexpr std::size_t max_ranges = 8;  // of launches in a message

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The part of a party that is the same in all launches and in all copies of an unrolled loop.
std::string site_of(const Json& party) {
  const std::string source = text_of(party, "source");
  return source.empty() ? text_of(party, "instruction") : source + '\n' + text_of(party, "access");
}

/// An operation. The order decides which of its accesses is found to conflict.
std::string operation_of(const Json& party) {
  return text_of(party, "instruction") + '\n' + text_of(party, "source");
}

}  // namespace

std::string merged_key(const Json& hazard) {
  const auto site =
      text_of(hazard, "kind") == name(vgpu::HazardKind::unordered) ? operation_of : site_of;
  std::string first = site(hazard.at("first"));
  std::string other = hazard.contains("other") ? site(hazard.at("other")) : std::string();
  if (hazard.contains("other") && other < first) std::swap(first, other);
  return fmt::format("{}\n{}\n{}\n{}", text_of(hazard, "kind"), text_of(hazard, "kernel"), first,
                     other);
}

namespace {

/// "1-4, 7 and 9".
std::string ranges(const std::vector<std::size_t>& numbers) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    texts.push_back(last == i ? std::to_string(numbers[i])
                              : fmt::format("{}-{}", numbers[i], numbers[last]));
    i = last + 1;
    if (texts.size() == max_ranges && i < numbers.size()) {
      texts.push_back(fmt::format("{} more", numbers.size() - i));
      break;
    }
  }
  std::string joined;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    joined += i == 0 ? "" : i + 1 == texts.size() ? " and " : ", ";
    joined += texts[i];
  }
  return joined;
}

}  // namespace

SourceLine Report::where() const {
  const bool first_is_known = other.is_null() || !text_of(first, "file").empty();
  const Json& party = first_is_known ? first : other;
  return {text_of(party, "file"), party.value("line", 0)};
}

std::string Report::rule() const {
  std::string rule = kind;
  std::replace(rule.begin(), rule.end(), ' ', '-');
  return rule;
}

Report& Reports::find(const Json& hazard) {
  const auto [at, is_new] = index_.try_emplace(merged_key(hazard), reports_.size());
  if (!is_new) return reports_[at->second];
  Report& report = reports_.emplace_back();
  report.kind = text_of(hazard, "kind");
  report.kernel = text_of(hazard, "kernel");
  report.message = text_of(hazard, "message");
  report.address = text_of(hazard, "address");
  report.first = hazard.at("first");
  if (report.kernel.empty()) report.kernel = text_of(report.first, "access");
  if (hazard.contains("other")) report.other = hazard.at("other");
  report.severity = severity_of(report.kind, report.message);
  report.fails = report.severity != Severity::note;
  return report;
}

void Reports::add_launch(const Json& launch) {
  const std::size_t times = times_of(launch);
  launches_ += times;
  const std::string name = launch.at("name");
  auto kernel = std::find_if(kernels_.begin(), kernels_.end(),
                             [&](const KernelRuns& runs) { return runs.name == name; });
  if (kernel == kernels_.end()) kernel = kernels_.insert(kernels_.end(), {name});
  kernel->launches += times;
  kernel->seconds += launch.at("seconds").get<double>();
  for (const Json& hazard : launch.at("hazards")) {
    Report& report = find(hazard);
    report.count += hazard.at("count").get<std::uint64_t>();
    if (report.launches.empty() || report.launches.back() != launches_) {
      report.launches.push_back(launches_);
    }
  }
}

void Reports::add_hazard(const Json& hazard) {
  Report& report = find(hazard);
  report.count += hazard.value("count", std::uint64_t{1});
  report.bytes += hazard.value("bytes", std::uint64_t{0});
  if (report.count > 1 && report.bytes > 0) {
    const std::string source = text_of(report.first, "source");
    report.message = fmt::format("leak: {} bytes in {} allocations from {}{} were never freed",
                                 report.bytes, report.count, report.kernel,
                                 source.empty() ? "" : fmt::format(" at {}", source));
  }
}

std::size_t Reports::failing() const {
  return static_cast<std::size_t>(std::count_if(reports_.begin(), reports_.end(),
                                                [](const Report& report) { return report.fails; }));
}

std::string describe(const Report& report) {
  const bool is_merged = report.launches.size() > 1;
  const bool has_count = report.bytes > 0;  // of leaks
  if (!is_merged && (report.count <= 1 || has_count)) return report.message;
  return fmt::format("{} ({} times{})", report.message, report.count,
                     is_merged ? fmt::format(", in launches {}", ranges(report.launches)) : "");
}

Json to_json(const Reports& reports) {
  Json array = Json::array();
  for (const Report& report : reports.all()) {
    Json json = {{"kind", report.kind},       {"kernel", report.kernel},
                 {"message", report.message}, {"address", report.address},
                 {"count", report.count},     {"launches", report.launches},
                 {"fails", report.fails},     {"severity", name(report.severity)},
                 {"advice", remedy(report)},  {"first", report.first}};
    if (!report.other.is_null()) json["other"] = report.other;
    if (!report.suppressed_by.empty()) json["suppression"] = report.suppressed_by;
    array.push_back(std::move(json));
  }
  return array;
}

}  // namespace rung::emu
