// The properties that GitHub's code scanning asks for, and those that the standard does: sections
// 3.14 (run), 3.27 (result), 3.49 (reportingDescriptor) of SARIF 2.1.0.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "core/fnv1a.hpp"
#include "emu/reports/metal_kinds.hpp"
#include "emu/reports/output_formats.hpp"
#include "emu/reports/remedy.hpp"
#include "emu/reports/source_files.hpp"
#include "rung/version.hpp"
#include "vgpu/launch.hpp"

namespace rung::emu {
namespace {

constexpr const char* schema =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
constexpr const char* root_name = "%SRCROOT%";

struct RuleText {
  vgpu::HazardKind kind;
  const char* text;
};

constexpr std::array rule_texts = {
    RuleText{vgpu::HazardKind::shared_race,
             "Two threads of a block access a word of shared memory, at least one writes, and no "
             "barrier orders them."},
    RuleText{vgpu::HazardKind::global_race,
             "Two threads access a word of global memory, at least one writes, and neither a "
             "barrier nor a release and acquire orders them."},
    RuleText{vgpu::HazardKind::same_value,
             "Several threads write the same value to one place without order."},
    RuleText{vgpu::HazardKind::divergent_barrier,
             "A barrier of the block that not all threads of the warp reach."},
    RuleText{vgpu::HazardKind::deadlock, "All threads wait, and nothing will end their wait."},
    RuleText{vgpu::HazardKind::out_of_bounds,
             "An access outside of the array or allocation that the pointer belongs to."},
    RuleText{vgpu::HazardKind::misaligned,
             "An address that is not a multiple of the size of the access."},
    RuleText{vgpu::HazardKind::unaligned_vector,
             "A vector at an address that is aligned to its elements alone (Metal)."},
    RuleText{vgpu::HazardKind::uninitialised_read, "A value that nothing has written is used."},
    RuleText{vgpu::HazardKind::read_only_write, "A store to constant memory."},
    RuleText{vgpu::HazardKind::bad_participant,
             "A warp-wide instruction names lanes that do not take part in it."},
    RuleText{vgpu::HazardKind::missing_fence,
             "An asynchronous unit may see old data: a proxy fence is missing."},
    RuleText{vgpu::HazardKind::in_flight,
             "An access to data that an asynchronous operation still reads or writes."},
    RuleText{vgpu::HazardKind::early_access,
             "Global memory is accessed while the previous kernel may still run."},
    RuleText{vgpu::HazardKind::barrier_misuse,
             "A barrier that is not initialised, or that too many threads arrive at."},
    RuleText{vgpu::HazardKind::tensor_memory,
             "Tensor memory that is not allocated, not reached by the warp, or never released."},
    RuleText{
        vgpu::HazardKind::descriptor,
        "A descriptor of tcgen05 that does not exist, or does not fit the tile in shared memory."},
    RuleText{vgpu::HazardKind::trap, "The kernel ended itself: a trap or a failed assertion."},
    RuleText{vgpu::HazardKind::instruction_limit,
             "The launch executed more instructions than --limit allows."},
    RuleText{vgpu::HazardKind::leak, "Device memory that the program never freed."},
    RuleText{vgpu::HazardKind::failed_call,
             "A call of the host failed, and the program neither uses its result nor asks for its "
             "error."},
    RuleText{vgpu::HazardKind::host_access,
             "Host code reads or writes device memory, which only kernels and copies may."},
};

std::string_view rule_text(const std::string& kind) {
  for (const RuleText& rule : rule_texts) {
    if (kind == name(rule.kind)) return rule.text;
  }
  if (kind == use_after_free) return "A kernel accesses memory that has been freed.";
  if (kind == host_pointer) return "A kernel accesses memory that only the host can access.";
  if (kind == null_pointer) return "A kernel accesses memory through a null pointer.";
  if (kind == over_release) return "An object is released more often than it was retained.";
  if (kind == api_misuse) return "A call that Metal's validation would refuse.";
  return kind;
}

const char* level_of(const Report& report) {
  if (report.fails || !report.suppressed_by.empty()) {
    return report.severity == Severity::warning ? "warning" : "error";
  }
  return report.kind == name(vgpu::HazardKind::leak) ? "warning" : "note";
}

SourceLine line_of(const Json& party) {
  return {party.value("file", std::string()), party.value("line", 0)};
}

Json location(const SourceLine& source, const ProgramRun& run) {
  const std::string name = relative_name(source.file, run.root);
  Json artifact = {{"uri", uri_of(name)}};
  if (!name.starts_with('/')) artifact["uriBaseId"] = root_name;
  Json physical = {{"artifactLocation", std::move(artifact)}};
  if (source.line > 0) physical["region"] = {{"startLine", source.line}};
  return {{"physicalLocation", std::move(physical)}};
}

/// A hash that identifies the report in every run, as long as its source lines keep their numbers.
std::string fingerprint(const Report& report) {
  std::uint64_t hash = fnv1a("");
  const auto add = [&](const std::string& text) { hash = fnv1a(text + '\n', hash); };
  add(report.kind);
  add(report.kernel);
  const std::string first = report.first.value("source", std::string());
  const std::string other = report.other.is_null() ? first : report.other.value("source", first);
  add(std::min(first, other));
  if (!report.other.is_null()) add(std::max(first, other));
  return fmt::format("{:016x}", hash);
}

Json result_of(const Report& report, std::size_t rule, const ProgramRun& run) {
  SourceLine source = report.where();
  // Code scanning shows nothing that has no place in a file.
  if (source.file.empty() && !run.first_source.empty()) source = {run.first_source.string(), 1};
  Json result = {{"ruleId", report.rule()},
                 {"ruleIndex", rule},
                 {"level", level_of(report)},
                 {"message", {{"text", describe(report)}}},
                 {"occurrenceCount", std::max<std::uint64_t>(report.count, 1)},
                 {"partialFingerprints", {{"rungReport/v1", fingerprint(report)}}},
                 {"locations", Json::array()}};
  if (!source.file.empty()) {
    Json at = location(source, run);
    if (!report.kernel.empty()) {
      at["logicalLocations"] = Json::array({Json{{"name", report.kernel}, {"kind", "function"}}});
    }
    result["locations"].push_back(std::move(at));
  }
  if (const SourceLine other = report.other.is_null() ? SourceLine() : line_of(report.other);
      !other.file.empty()) {
    Json at = location(other, run);
    at["message"] = {{"text", fmt::format("the other {}", report.other.value("access", ""))}};
    result["relatedLocations"] = Json::array({std::move(at)});
  }
  if (!report.suppressed_by.empty()) {
    result["suppressions"] = Json::array({Json{
        {"kind", "external"}, {"status", "accepted"}, {"justification", report.suppressed_by}}});
  }
  return result;
}

Json invocation_of(const Reports& reports, const ProgramRun& run) {
  Json notifications = Json::array();
  for (const std::string& failure : reports.failures()) {
    notifications.push_back({{"level", "error"}, {"message", {{"text", failure}}}});
  }
  Json invocation = {{"executionSuccessful", run.signal == 0 && reports.failures().empty()},
                     {"arguments", run.command}};
  if (run.exit_code) invocation["exitCode"] = *run.exit_code;
  if (run.signal != 0) invocation["exitSignalNumber"] = run.signal;
  if (!notifications.empty()) {
    invocation["toolExecutionNotifications"] = std::move(notifications);
  }
  return invocation;
}

}  // namespace

Json to_sarif(const Reports& reports, const ProgramRun& run) {
  Json rules = Json::array(), results = Json::array();
  std::map<std::string, std::size_t> index;
  for (const Report& report : reports.all()) {
    const auto [at, is_new] = index.try_emplace(report.kind, rules.size());
    if (is_new) {
      rules.push_back({{"id", report.rule()},
                       {"name", report.kind},
                       {"shortDescription", {{"text", rule_text(report.kind)}}}});
      if (const std::string advice = remedy(report); !advice.empty()) {
        rules.back()["help"] = {{"text", advice}};
      }
    }
    results.push_back(result_of(report, at->second, run));
  }
  Json one = {
      {"tool",
       {{"driver", {{"name", "rung emu"}, {"version", version}, {"rules", std::move(rules)}}}}},
      {"automationDetails", {{"id", fmt::format("rung-emu/{}/", run.program)}}},
      {"originalUriBaseIds", {{root_name, {{"uri", uri_of(run.root.generic_string() + "/")}}}}},
      {"invocations", Json::array({invocation_of(reports, run)})},
      {"results", std::move(results)}};
  return {{"$schema", schema}, {"version", "2.1.0"}, {"runs", Json::array({std::move(one)})}};
}

}  // namespace rung::emu
