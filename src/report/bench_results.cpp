#include "report/bench_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "json/reader.hpp"
#include "report/numbers.hpp"

namespace rung {
namespace {

using json::Value;

constexpr std::int64_t max_extent = std::int64_t{1} << 40;
constexpr std::int64_t max_threads = 1 << 20;
constexpr std::int64_t max_samples = std::int64_t{1} << 40;
constexpr json::Range share = {0, json::quantity.most};
constexpr json::Range any = {std::numeric_limits<double>::lowest(),
                             std::numeric_limits<double>::max()};

/// Errors may be zero, and without bound.
std::optional<MeasuredErrors> errors_of(const Value& entry) {
  const auto errors = entry.find("errors");
  if (!errors) return std::nullopt;
  constexpr json::Range from_zero = {0, std::numeric_limits<double>::max()};
  return MeasuredErrors{errors->at("largest").number(from_zero),
                        errors->at("normwise").number(from_zero)};
}

std::vector<PeerResult> peers_of(const Value& entry) {
  std::vector<PeerResult> peers;
  const auto object = entry.find("peers");
  if (!object) return peers;
  for (const auto& [name, peer] : object->members()) {
    peers.push_back({name, peer.find_number("seconds", json::quantity),
                     peer.find_number("ratio", json::quantity), errors_of(peer)});
  }
  return peers;
}

/// gemm has three extents, the other ops have n alone.
void read_size(const Value& entry, Result& result) {
  result.n = entry.at("n").integer(1, max_extent);
  if (result.op != "gemm") return;
  result.m = entry.at("m").integer(1, max_extent);
  result.k = entry.at("k").integer(1, max_extent);
}

std::string read_op(const Value& entry) {
  constexpr std::array<std::string_view, 3> known = {"gemm", "dot", "sum"};
  const Value value = entry.at("op");
  const std::string op = value.text();
  if (std::find(known.begin(), known.end(), op) == known.end()) {
    value.fail("not one of gemm, dot, sum");
  }
  return op;
}

/// "batch=16 epilogue=bias"
std::string form_of(const Value& entry) {
  std::string form;
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) form += fmt::format("{}{}={}", form.empty() ? "" : " ", key, value);
  };
  for (const char* key : {"batch", "groups"}) {
    const auto count = entry.find(key);
    add(key, count ? std::to_string(count->integer(1, max_extent)) : "");
  }
  for (const char* key : {"skew", "epilogue", "scales", "weights"})
    add(key, entry.text_or_empty(key));
  return form;
}

void read_problem(const Value& entry, Result& result) {
  result.op = read_op(entry);
  result.dtype = entry.at("dtype").text();
  result.device = entry.at("device").text();
  result.layout = entry.text_or_empty("layout");
  result.operands = entry.text_or_empty("operands");
  result.math = entry.text_or_empty("math");
  result.family = entry.text_or_empty("family");
  result.form = form_of(entry);
  const auto threads = entry.find("threads");
  result.threads = threads ? static_cast<int>(threads->integer(1, max_threads)) : 1;
  result.alpha = entry.find_number("alpha", any).value_or(1);
  result.beta = entry.find_number("beta", any).value_or(0);
  read_size(entry, result);
}

void read_times(const Value& entry, Result& result) {
  const auto seconds = entry.find("seconds");
  if (seconds) {
    result.seconds = seconds->at("median").number(json::quantity);
    result.q1 = seconds->find_number("q1", json::quantity);
    result.q3 = seconds->find_number("q3", json::quantity);
    if (const auto samples = seconds->find("samples")) {
      result.samples = static_cast<std::size_t>(samples->integer(1, max_samples));
    }
    result.gflops = entry.at("gflops").number(json::quantity);
    result.gbps = entry.at("gbps").number(json::quantity);
  }
  if (const auto graph = entry.find("graph_seconds")) {
    result.graph_seconds = graph->at("median").number(json::quantity);
  }
  if (const auto ceiling = entry.find("ceiling")) {
    result.ceiling = ceiling->at("name").text();
    result.ceiling_rate =
        ceiling->at(result.counts_flops() ? "gflops" : "gbps").number(json::quantity);
    result.ceiling_ratio = ceiling->at("ratio").number(share);
  }
  if (const auto previous = entry.find("previous")) {
    result.previous = previous->at("rung").text();
    result.previous_ratio = previous->find_number("ratio", share);
  }
}

Result read_entry(const Value& entry) {
  Result result;
  result.rung = entry.at("rung").text();
  result.chose = entry.text_or_empty("chose");
  read_problem(entry, result);
  read_times(entry, result);
  result.peers = peers_of(entry);
  result.errors = errors_of(entry);
  result.verified = entry.at("verified").flag();
  result.skipped = entry.text_or_empty("skipped");
  result.wrong = entry.text_or_empty("wrong");
  return result;
}

RandomDraw read_draw(const Value& entry, const std::string& device) {
  RandomDraw draw;
  draw.dtype = entry.at("dtype").text();
  draw.layout = entry.at("layout").text();
  draw.device = device;
  draw.m = entry.at("m").integer(1, max_extent);
  draw.n = entry.at("n").integer(1, max_extent);
  draw.k = entry.at("k").integer(1, max_extent);
  draw.flops_per_byte =
      entry.at("flops").number(json::quantity) / entry.at("bytes").number(json::quantity);
  draw.ratio = entry.find_number("ratio", json::quantity);
  draw.regret = entry.find_number("regret", json::quantity);
  return draw;
}

std::vector<RandomDraw> read_random(const Value& whole) {
  std::vector<RandomDraw> draws;
  const auto random = whole.find("random");
  if (!random) return draws;
  const std::string device = random->at("device").text();
  for (const Value& entry : random->at("draws").elements()) {
    draws.push_back(read_draw(entry, device));
  }
  return draws;
}

/// Every number below a machine's "ceilings" is a rate, which a roofline may draw.
void check_rates(const Value& value) {
  if (!value.json().is_object()) {
    value.number(share);
    return;
  }
  for (const auto& [name, member] : value.members()) {
    if (!member.json().is_null()) check_rates(member);
  }
}

Value read_machine(const Value& whole) {
  const Value machine = whole.at("machine");
  if (const auto ceilings = machine.find("ceilings")) check_rates(*ceilings);
  if (const auto gpu = machine.find("gpu")) {
    if (const auto ceilings = gpu->find("ceilings")) check_rates(*ceilings);
  }
  return machine;
}

}  // namespace

void Results::add(const std::string& file, const Json& bench, Forms forms) {
  const Value whole(bench, file);
  const Value machine = read_machine(whole);
  std::vector<Result> read;
  for (const Value& entry : whole.at("results").elements()) {
    Result result = read_entry(entry);
    if (forms == Forms::single_products && !result.form.empty()) continue;
    read.push_back(std::move(result));
    read.back().source = sources.size();
  }
  const std::vector<RandomDraw> draws = read_random(whole);
  sources.push_back({file, std::make_shared<const Json>(machine.json())});
  entries.insert(entries.end(), read.begin(), read.end());
  random.insert(random.end(), draws.begin(), draws.end());
}

Results read_results(const std::vector<std::string>& files, Results::Forms forms) {
  Results results;
  for (const std::string& file : files) {
    results.add(file, json::parse(json::read_text(file), file), forms);
  }
  return results;
}

std::string size_name(const Result& result) {
  if (result.m == 0) return format_grouped(static_cast<double>(result.n));
  if (result.m == result.n && result.n == result.k) return fmt::format("{}³", result.n);
  return fmt::format("{}×{}×{}", result.m, result.n, result.k);
}

bool is_square(const Result& result) {
  if (result.m == 0) return true;
  const auto [least, most] = std::minmax({result.m, result.n, result.k});
  return static_cast<double>(most) <= 1.1 * static_cast<double>(least);
}

double volume(const Result& result) {
  const auto factor = [](std::int64_t extent) {
    return static_cast<double>(std::max<std::int64_t>(extent, 1));
  };
  return factor(result.m) * factor(result.n) * factor(result.k);
}

std::string slug_of(std::string_view id) { return std::string(id.substr(id.rfind('/') + 1)); }

}  // namespace rung
