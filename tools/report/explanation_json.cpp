#include <algorithm>

#include "tools/report/explanation.hpp"

namespace rung {
namespace {

using analysis::Explanation;

Json mix_json(const analysis::InstructionMix& mix) {
  Json parts = Json::object();
  for (const analysis::MixPart& part : mix.parts) parts[part.name] = part.count;
  return {{"all", mix.all},
          {"multiply_adds", mix.multiply_adds},
          {"loads", mix.loads},
          {"barriers", mix.barriers},
          {"multiply_add_share", mix.multiply_add_share()},
          {"parts", parts}};
}

Json traffic_json(const Explanation& e) {
  Json traffic = Json::object();
  for (const analysis::TrafficRow& row : e.traffic) {
    std::string key = row.name;
    std::replace(key.begin(), key.end(), ' ', '_');
    traffic[key] = {
        {"formula", row.expected.text.empty() ? Json(nullptr) : Json(row.expected.text)},
        {"expected_per_k", row.expected.per_k},
        {"expected_constant", row.expected.constant},
        {"counted_per_k", row.per_k},
        {"counted_constant", row.constant}};
  }
  return traffic;
}

Json roofline_json(const Explanation& e) {
  const analysis::Roofline& roofs = e.evidence.roofline;
  Json levels = Json::array();
  for (const analysis::Level& level : roofs.levels) {
    levels.push_back({{"name", level.name},
                      {"bytes", level.bytes},
                      {"flops_per_byte", level.flops_per_byte(roofs.flops)},
                      {"seconds", level.is_public ? Json(level.seconds) : Json(nullptr)}});
  }
  Json json = {{"ceilings",
                {{"flops", e.evidence.machine.flops},
                 {"data_sheet_flops", e.evidence.machine.sheet_flops},
                 {"memory_bytes", e.evidence.machine.memory_bytes},
                 {"source", e.evidence.machine.source}}},
               {"flops", roofs.flops},
               {"levels", levels},
               {"busy", roofs.busy},
               {"bound", roofs.bound().name},
               {"seconds", roofs.seconds()},
               {"measured_seconds", nullptr},
               {"ratio", nullptr}};
  if (e.measured) {
    json["measured_seconds"] = e.measured->seconds;
    json["ratio"] = roofs.seconds() / e.measured->seconds;
    json["measured_in"] = e.measured->source;
  }
  return json;
}

Json reference_json(const Explanation& e) {
  if (!e.reference) return nullptr;
  const auto uncached = uncached_flops(e);
  return {{"flops", e.reference->flops},
          {"whose", e.reference->whose},
          {"of_peak", e.reference->flops / e.evidence.machine.flops},
          {"of_uncached", uncached ? Json(e.reference->flops / *uncached) : Json(nullptr)}};
}

Json limit_json(int blocks) { return blocks == vgpu::no_limit ? Json(nullptr) : Json(blocks); }

Json occupancy_json(const Explanation& e) {
  const analysis::OccupancyFacts& facts = e.occupancy;
  const vgpu::Occupancy& o = facts.occupancy;
  if (!facts.is_public) {
    return {{"registers", nullptr},
            {"registers_from", facts.registers.source},
            {"static_shared", facts.static_shared},
            {"most_shared", facts.max_shared},
            {"threads", facts.threads},
            {"most_threads", facts.max_threads},
            {"blocks", nullptr},
            {"warps", nullptr},
            {"fraction", nullptr}};
  }
  return {{"registers", facts.registers.count},
          {"registers_from", facts.registers.source},
          {"spilled_bytes", facts.registers.spilled_bytes},
          {"static_shared", facts.static_shared},
          {"dynamic_shared", facts.dynamic_shared},
          {"threads", facts.threads},
          {"blocks", o.blocks},
          {"warps", o.warps},
          {"fraction", o.fraction},
          {"achieved", facts.achieved ? Json(*facts.achieved) : Json(nullptr)},
          {"limits",
           {{"registers", limit_json(o.limit_by_registers)},
            {"shared_memory", limit_json(o.limit_by_shared)},
            {"warps", limit_json(o.limit_by_warps)},
            {"blocks", limit_json(o.limit_by_blocks)},
            {"barriers", limit_json(o.limit_by_barriers)}}},
          {"limited_by", analysis::binding_limit(o)}};
}

Json rung_json(const analysis::diagnosis::Finding& finding) {
  return finding.rung.empty() ? Json(nullptr) : Json(finding.rung);
}

/// The findings of the diagnosis in short.
Json advice_json(const Explanation& e) {
  Json all = Json::array();
  if (!e.diagnosis) return all;
  for (const auto& finding : e.diagnosis->findings) {
    all.push_back(
        {{"cause", finding.name}, {"detail", finding.detail}, {"rung", rung_json(finding)}});
  }
  return all;
}

/// A prediction: its seconds, the error of such predictions, and the busy time of each part of the
/// device.
Json prediction_json(const Explanation& e) {
  const analysis::diagnosis::Time& time = e.diagnosis->time;
  Json parts = Json::object();
  for (const auto& part : time.parts) parts[part.name] = part.seconds;
  return {{"predicted_seconds", time.with_launch()},
          {"launch_seconds", time.launch},
          {"bound", {{"name", time.bound.name}, {"seconds", time.bound.seconds}}},
          {"error", {{"median", e.errors.median}, {"ninth_decile", e.errors.ninth_decile}}},
          {"parts", parts}};
}

Json diagnosis_json(const Explanation& e) {
  if (!e.diagnosis) return nullptr;
  Json findings = Json::array();
  for (const auto& finding : e.diagnosis->findings) {
    findings.push_back({{"cause", finding.name},
                        {"cost", finding.cost},
                        {"seconds_after", finding.seconds_after},
                        {"detail", finding.detail},
                        {"remedy", finding.remedy},
                        {"code", finding.code},
                        {"rung", rung_json(finding)}});
  }
  Json json = prediction_json(e);
  json["findings"] = findings;
  return json;
}

Json hardware_json(const Explanation& e) {
  if (!e.hardware) return nullptr;
  Json stalls = Json::object();
  for (const auto& [reason, part] : e.hardware->stalls) stalls[reason] = part;
  return {{"kernel", e.hardware->kernel},       {"counters", e.hardware->counters},
          {"registers", e.hardware->registers}, {"limits", e.hardware->limits},
          {"seconds", e.hardware->seconds},     {"stalls", stalls}};
}

}  // namespace

Json to_json(const Explanation& e) {
  return {
      {"code", e.code},
      {"sample", e.sample},
      {"tiles", e.tiles.empty() ? Json(nullptr) : Json(e.tiles)},
      {"traffic", traffic_json(e)},
      {"roofline", roofline_json(e)},
      {"occupancy", occupancy_json(e)},
      {"instructions",
       {{"ptx", mix_json(e.ptx)},
        {"machine_code", e.machine_code ? mix_json(*e.machine_code) : Json(nullptr)}}},
      {"advice", advice_json(e)},
      {"prediction",
       e.diagnosis && e.why_not_predicted.empty() ? prediction_json(e) : Json(nullptr)},
      {"not_predicted", e.why_not_predicted.empty() ? Json(nullptr) : Json(e.why_not_predicted)},
      {"diagnosis", diagnosis_json(e)},
      {"hardware", hardware_json(e)},
      {"reference", reference_json(e)},
      {"notes", e.notes}};
}

}  // namespace rung
