#include "tools/report/json.hpp"

#include <cmath>

#include "core/dtype.hpp"

namespace rung {
namespace {

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json rates(const std::vector<Ceiling>& ceilings) {
  Json json = Json::object();
  for (const auto& [ceiling, one_thread, all_threads] : ceilings) {
    json[ceiling] = {{"one_thread", one_thread}, {"all_threads", all_threads}};
  }
  return json;
}

Json seconds_of(const Summary& summary) {
  return {{"median", summary.median}, {"min", summary.min}, {"max", summary.max},
          {"q1", summary.q1},         {"q3", summary.q3},   {"samples", summary.count}};
}

/// Adds the errors, if measured.
void add_errors(Json& json, const std::optional<ElementErrors>& errors) {
  if (!errors) return;
  json["errors"] = {{"largest", finite(errors->largest)}, {"normwise", finite(errors->normwise)}};
}

Json peers_of(const BenchRow& row) {
  Json json = Json::object();
  for (const Comparison& comparison : row.peers) {
    if (comparison.ratio > 0) {
      json[comparison.peer] = {{"seconds", comparison.seconds},
                               {"ratio", comparison.ratio},
                               {"margin", finite_or_null(comparison.margin)}};
      if (comparison.graph_ratio > 0) {
        json[comparison.peer].update(
            {{"graph_seconds", comparison.graph_seconds}, {"graph_ratio", comparison.graph_ratio}});
      }
      add_errors(json[comparison.peer], comparison.errors);
    } else {
      json[comparison.peer] = {{"seconds", nullptr}, {"ratio", nullptr}};
      if (!comparison.why_not.empty()) json[comparison.peer]["why_not"] = comparison.why_not;
    }
  }
  return json;
}

Json problem_of(const BenchResult& result) {
  const auto& [dtype, threads, a_transposed, b_transposed, alpha, beta, cold, mode, batch, groups,
               zipf, family, epilogue, block_scales, weight_bits, weight_group] = result.options;
  const auto& [m, n, k] = result.size;
  Json json = {{"op", result.op}, {"dtype", name(dtype)}};
  if (result.op == "gemm") {
    const std::string layout = {a_transposed ? 't' : 'n', b_transposed ? 't' : 'n'};
    json.update(
        {{"m", m}, {"n", n}, {"k", k}, {"layout", layout}, {"alpha", alpha}, {"beta", beta}});
    json["leading_dimensions"] = result.leading_dimensions;
    json["math"] = name(mode);  // the library's mode; each rung has its own
    json["family"] = name(family);
    if (batch != 1) json["batch"] = batch;
    if (epilogue != EpilogueParts{}) json["epilogue"] = name(epilogue);
    if (block_scales) json["scales"] = "block";
    if (weight_bits > 0) {
      json.update({{"weights", "int" + std::to_string(weight_bits)}, {"group", weight_group}});
    }
    if (groups != 0) json.update({{"groups", groups}, {"skew", zipf ? "zipf" : "none"}});
  } else {
    json.update({{"m", nullptr}, {"n", n}, {"k", nullptr}});
  }
  json.update({{"device", result.device},
               {"threads", threads},
               {"operands", cold ? "cold" : "warm"},
               {"operand_sets", result.operand_sets}});
  return json;
}

}  // namespace

Json to_json(const Environment& environment) {
  const auto& [isa, caches] = environment.machine;
  return {{"model", environment.cpu},
          {"isa", name(isa)},
          {"cores", environment.threads},
          {"caches", {{"l1", caches.l1}, {"l2", caches.l2}, {"l3", caches.l3}}},
          {"os", environment.os},
          {"compiler", environment.compiler},
          {"version", environment.version},
          {"commit", environment.commit},
          {"date", environment.date}};
}

Json to_json(const Ceilings& ceilings) {
  return {{"multiply_add", rates(ceilings.multiply_add)}, {"read", rates(ceilings.read)}};
}

Json to_json(const GpuEnvironment& gpu) {
  const auto known = [](auto value) { return value > 0 ? Json(value) : Json(); };
  const NvmlFacts& nvml = gpu.nvml;
  Json multiply_add = Json::object();
  for (const auto& [type, rate] : gpu.ceilings.multiply_add) multiply_add[type] = rate;
  return {{"name", gpu.name},
          {"arch", "sm_" + std::to_string(gpu.arch)},
          {"driver", nvml.driver_version.empty() ? Json() : Json(nvml.driver_version)},
          {"cuda", std::to_string(gpu.cuda_version / 1000) + "." +
                       std::to_string(gpu.cuda_version % 1000 / 10)},
          {"multiprocessors", gpu.multiprocessors},
          {"memory_bytes", gpu.memory_bytes},
          {"l2_bytes", gpu.l2_bytes},
          {"peak_bandwidth_gbps", known(1e-9 * gpu.peak_bandwidth)},
          {"clock_mhz", known(nvml.clock_mhz)},
          {"max_clock_mhz", known(nvml.max_clock_mhz)},
          {"memory_clock_mhz", known(nvml.memory_clock_mhz)},
          {"power_limit_watts", known(nvml.power_limit_watts)},
          {"ceilings",
           {{"multiply_add", std::move(multiply_add)}, {"memory_read", gpu.ceilings.memory_read}}}};
}

Json to_json(const std::vector<const Peer*>& peers) {
  Json json = Json::object();
  for (const Peer* peer : peers) {
    json[peer->name()] = {{"version", peer->version()},
                          {"kernels", peer->kernels()},
                          {"path", peer->path()},
                          {"note", peer->note()}};
  }
  return json;
}

Json to_json(const BenchResult& result) {
  const Json problem = problem_of(result);
  const char* unit = result.counts_flops ? "gflops" : "gbps";
  Json results = Json::array();
  for (const BenchRow& row : result.rows) {
    if (row.kind == Kind::peer) continue;
    Json json = {{"rung", row.name}};
    json.update(problem);
    if (result.op == "gemm") json["math"] = name(row.compute_mode);
    if (!row.chose.empty()) json["chose"] = row.chose;
    const bool ran = row.skipped.empty();
    json["verified"] = ran && row.verdict.right;
    json["max_error_ratio"] = ran ? Json(finite(row.verdict.max_error_ratio)) : Json();
    add_errors(json, row.errors);
    if (!ran) json["skipped"] = row.skipped;
    if (row.wrong()) json["wrong"] = row.verdict.message;
    if (row.timed()) {
      json["seconds"] = seconds_of(row.seconds);
      if (row.own_clock) json["clock"] = "device";
      if (row.graph_seconds.count > 0) json["graph_seconds"] = seconds_of(row.graph_seconds);
      if (row.host_seconds.count > 0) json["host_seconds"] = seconds_of(row.host_seconds);
      json["gflops"] = result.flops / row.seconds.median * 1e-9;
      json["gbps"] = result.bytes / row.seconds.median * 1e-9;
      if (!result.ceiling.empty()) {
        json["ceiling"] = {{"name", result.ceiling},
                           {unit, result.ceiling_rate * 1e-9},
                           {"ratio", row.ceiling_ratio}};
      }
    } else {
      json.update({{"seconds", nullptr}, {"gflops", nullptr}, {"gbps", nullptr}});
    }
    if (!row.previous.empty()) {
      json["previous"] = {{"rung", row.previous},
                          {"ratio", row.previous_ratio},
                          {"margin", finite_or_null(row.previous_margin)}};
    }
    json["peers"] = peers_of(row);
    results.push_back(std::move(json));
  }
  return results;
}

double finite(double value) {
  return std::isfinite(value) ? value : std::numeric_limits<double>::max();
}

std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rung
