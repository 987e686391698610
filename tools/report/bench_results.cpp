#include "tools/report/bench_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/json/reader.hpp"
#include "tools/analysis/bench_file.hpp"
#include "tools/report/numbers.hpp"

namespace rung {
namespace {

using json::Value;

constexpr std::int64_t max_extent = std::int64_t{1} << 40;
constexpr std::int64_t max_threads = 1 << 20;
constexpr std::int64_t max_samples = std::int64_t{1} << 40;
constexpr std::int64_t max_seed = std::int64_t{1} << 53;
constexpr json::Range share = {0, json::quantity.most};
constexpr json::Range any = {std::numeric_limits<double>::lowest(),
                             std::numeric_limits<double>::max()};

/// Errors may be zero, and have no upper bound.
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
                     peer.find_number("ratio", json::quantity), errors_of(peer),
                     peer.find_number("graph_ratio", json::quantity)});
  }
  return peers;
}

/// gemm has three extents, other operations only n.
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

std::int64_t integer_or(const Value& entry, const char* key, std::int64_t otherwise,
                        std::int64_t most) {
  const auto found = entry.find(key);
  return found ? found->integer(1, most) : otherwise;
}

ProblemForm form_of(const Value& entry) {
  return {integer_or(entry, "batch", 1, max_extent),
          integer_or(entry, "groups", 0, max_extent),
          entry.text_or_empty("skew"),
          entry.text_or_empty("epilogue"),
          entry.text_or_empty("scales"),
          entry.text_or_empty("weights")};
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
  result.threads = static_cast<int>(integer_or(entry, "threads", 1, max_threads));
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
    result.samples = static_cast<std::size_t>(integer_or(*seconds, "samples", 0, max_samples));
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

/// `run`: what the draws of a file share.
RandomDraw read_draw(const Value& entry, const RandomDraw& run) {
  RandomDraw draw = run;
  draw.dtype = entry.at("dtype").text();
  draw.layout = entry.at("layout").text();
  draw.m = entry.at("m").integer(1, max_extent);
  draw.n = entry.at("n").integer(1, max_extent);
  draw.k = entry.at("k").integer(1, max_extent);
  draw.flops_per_byte =
      entry.at("flops").number(json::quantity) / entry.at("bytes").number(json::quantity);
  draw.ratio = entry.find_number("ratio", json::quantity);
  draw.regret = entry.find_number("regret", json::quantity);
  return draw;
}

std::vector<RandomDraw> read_random(const BenchFile& file) {
  std::vector<RandomDraw> draws;
  const auto random = file.head().find("random");
  if (!random) return draws;
  RandomDraw run;
  run.device = random->at("device").text();
  if (const auto seed = random->find("seed")) run.seed = seed->integer(0, max_seed);
  run.max_size = integer_or(*random, "max_size", 0, max_extent);
  run.threads = static_cast<int>(integer_or(*random, "threads", 0, max_threads));
  for (const Value& entry : file.draws()) draws.push_back(read_draw(entry, run));
  return draws;
}

/// Every number in a machine's "ceilings" is a rate, which a roofline may show.
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

std::string ProblemForm::text() const {
  std::string text;
  const auto add = [&](const char* key, const std::string& value) {
    if (!value.empty()) text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
  };
  add("batch", batch == 1 ? "" : std::to_string(batch));
  add("groups", groups == 0 ? "" : std::to_string(groups));
  add("skew", skew);
  add("epilogue", epilogue);
  add("scales", scales);
  add("weights", weights);
  return text;
}

void Results::add(const BenchFile& file, Forms forms) {
  const Value machine = read_machine(file.head());
  std::vector<Result> read;
  for (const Value& entry : file.results()) {
    Result result = read_entry(entry);
    if (forms == Forms::single_products && !result.form.is_plain()) continue;
    read.push_back(std::move(result));
    read.back().source = sources.size();
  }
  std::vector<RandomDraw> draws = read_random(file);
  for (RandomDraw& draw : draws) draw.source = sources.size();
  sources.push_back({file.name(), std::make_shared<const Json>(machine.json())});
  entries.insert(entries.end(), read.begin(), read.end());
  random.insert(random.end(), draws.begin(), draws.end());
}

void Results::add(const std::string& file, const Json& document, Forms forms) {
  add(BenchFile::of_document(document, file), forms);
}

Results read_results(const std::vector<std::string>& files, Results::Forms forms) {
  Results results;
  for (const std::string& file : files) {
    for (const BenchFile& run : bench_files(json::read_text(file), file)) results.add(run, forms);
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

std::string short_name(std::string_view id) {
  const std::string slug = slug_of(id);
  return !slug.empty() && slug.front() >= '0' && slug.front() <= '9' ? slug.substr(0, 2) : slug;
}

}  // namespace rung
