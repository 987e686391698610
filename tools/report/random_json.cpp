#include "tools/report/random_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "backends/rungs/cuda.hpp"
#include "core/compute_mode.hpp"
#include "core/dtype.hpp"
#include "tools/analysis/bench_file.hpp"

namespace rung {
namespace {

Json problem_of(const RandomResult& result) {
  return {{"dtype", name(result.dtype)},
          {"layout", layout_name(result.a_transposed, result.b_transposed)},
          {"m", result.size.m},
          {"n", result.size.n},
          {"k", result.size.k}};
}

/// CPU rungs have no tile to choose.
Json plan_of(std::string_view rung, Dtype dtype, const cuda::GemmConfig& config) {
  if (cuda::find_gemm_rung(rung) == nullptr) return {{"rung", rung}};
  return {{"rung", rung},
          {"tile", config.tile},
          {"splits", config.splits},
          {"whole", config.whole},
          {"packs", config.packs()},
          {"plan", describe_plan(rung, dtype, config)}};
}

Json peers_of(const RandomResult& result) {
  Json json = Json::object();
  for (const Comparison& peer : result.peers) {
    Json& entry = json[peer.peer];
    if (peer.ratio > 0) {
      entry = {{"seconds", peer.seconds}, {"ratio", peer.ratio}};
    } else {
      entry = {{"seconds", nullptr}, {"ratio", nullptr}, {"why_not", peer.why_not}};
    }
  }
  return json;
}

Json draw_of(const RandomResult& result) {
  Json json = problem_of(result);
  json["flops"] = gemm_flops(result.size);
  json["bytes"] = gemm_bytes(result.size, result.dtype);
  json["verified"] = result.skipped.empty() && result.wrong.empty();
  if (!result.skipped.empty()) json["skipped"] = result.skipped;
  if (!result.wrong.empty()) json["wrong"] = result.wrong;
  if (!result.plan.rung.empty())
    json.update(plan_of(result.plan.rung, result.dtype, result.plan.config));
  if (result.plan.threads > 0) json["threads"] = result.plan.threads;
  json["seconds"] = result.seconds > 0 ? Json(result.seconds) : Json();
  json["peers"] = peers_of(result);
  const double ratio = result.ratio();
  json["ratio"] = ratio > 0 ? Json(ratio) : Json();
  if (result.regret > 0) {
    const PlanTime& best = result.plans[result.best_plan];
    json["regret"] = result.regret;
    json["best"] = plan_of(best.rung, result.dtype, best.config);
    json["best"]["seconds"] = best.seconds;
  }
  return json;
}

Json plan_time_of(const RandomResult& result, const PlanTime& time) {
  Json json = problem_of(result);
  json.update(plan_of(time.rung, result.dtype, time.config));
  json["seconds"] = time.seconds > 0 ? Json(time.seconds) : Json();
  json["finalist"] = time.is_finalist;
  json["chosen"] = time.is_chosen;
  if (!time.refused.empty()) json["refused"] = time.refused;
  if (!time.wrong.empty()) json["wrong"] = time.wrong;
  return json;
}

Json names_of(const std::vector<Dtype>& dtypes) {
  Json names = Json::array();
  for (const Dtype dtype : dtypes) names.push_back(name(dtype));
  return names;
}

/// On one line. Text of a driver may be invalid UTF-8.
std::string compact(const Json& record) {
  return record.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string array_of(const std::vector<std::string>& lines) {
  if (lines.empty()) return "[]";
  return fmt::format("[\n{}\n]", fmt::join(lines, ",\n"));
}

}  // namespace

std::string describe_plan(std::string_view rung, Dtype dtype, const cuda::GemmConfig& config) {
  const cuda::GemmRung* const gemm = cuda::find_gemm_rung(rung);
  if (gemm == nullptr) return "";
  const cuda::Tiling tiling = cuda::tiling(*gemm, dtype, config.tile);
  const std::string depth = tiling.BK == 0 ? "" : fmt::format("x{}", tiling.BK);
  const std::string tile =
      tiling.BM == 0 ? "" : fmt::format("{}x{}{}, ", tiling.BM, tiling.BN, depth);
  const std::string after =
      config.whole == 0 ? "" : fmt::format(" after {} whole tiles", config.whole);
  return fmt::format("{}{} split{}{}", tile, config.splits, config.splits == 1 ? "" : "s", after);
}

RandomJson::RandomJson(Json machine, const RandomRequest& request, std::string device, Form form,
                       const std::string& command)
    : run_({{"seed", request.seed},
            {"count", request.count},
            {"max_size", request.limits.max_size},
            {"max_bytes", request.limits.max_bytes},
            {"max_seconds", request.limits.max_seconds},
            {"beta", request.beta},
            {"device", std::move(device)},
            {"dtypes", names_of(request.dtypes)}}),
      form_(form) {
  head_["machine"] = std::move(machine);
  if (!command.empty()) head_["command"] = command;
  if (request.compute_mode != ComputeMode::standard) run_["math"] = name(request.compute_mode);
  run_["layouts"] = run_["rungs"] = Json::array();
  for (const Layout& layout : request.layouts) {
    run_["layouts"].push_back(layout_name(layout.a_transposed, layout.b_transposed));
  }
  for (const cuda::NamedGemmRung& rung : request.rungs) run_["rungs"].push_back(rung.id);
  for (const RungInfo* rung : request.cpu_rungs) run_["rungs"].push_back(rung->id);
  if (request.gpu == nullptr) run_["threads"] = request.threads;
}

void RandomJson::add(const RandomResult& result) {
  const bool as_lines = form_ == Form::lines;
  const Json draw = draw_of(result);
  draws_.push_back(as_lines ? line_of(draw) : compact(draw));
  for (const PlanTime& time : result.plans) {
    const Json plan = plan_time_of(result, time);
    if (!as_lines) {
      plans_.push_back(compact(plan));
      continue;
    }
    Json record = {{"record", "plan"}};
    record.update(plan);
    plans_.push_back(line_of(record));
  }
}

std::string RandomJson::text(bool is_complete) const {
  Json run = run_;
  run["complete"] = is_complete;
  return form_ == Form::lines ? lines(run) : document(run);
}

std::string RandomJson::document(const Json& run) const {
  std::string text = "{\n";
  for (const auto& [key, value] : head_.items()) {
    text += fmt::format("\"{}\": {},\n", key,
                        value.dump(2, ' ', false, Json::error_handler_t::replace));
  }
  std::string head = run.dump(2);
  head.erase(head.rfind("\n}"));  // its end, before which the records go
  return text +
         fmt::format("\"results\": [],\n\"random\": {},\n\"draws\": {},\n\"plans\": {}\n}}\n}}\n",
                     head, array_of(draws_), array_of(plans_));
}

std::string RandomJson::lines(const Json& run) const {
  Json header = head_;
  header["random"] = run;
  return line_of(header) + fmt::format("{}{}", fmt::join(draws_, ""), fmt::join(plans_, ""));
}

}  // namespace rung
