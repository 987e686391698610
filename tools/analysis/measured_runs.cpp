#include "tools/analysis/measured_runs.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/dtype.hpp"
#include "core/embed.hpp"
#include "core/json/reader.hpp"
#include "tools/analysis/bench_file.hpp"

// RUNG_EMBED(symbol, path) for each results file.
#include "analysis/embedded_results.inc"

namespace rung::analysis {
namespace {

using json::Value;

constexpr std::int64_t max_extent = std::int64_t{1} << 40;

struct EmbeddedResults {
  const char* source;
  std::string_view text;
};

const std::array embedded = {RUNG_RESULTS_TABLE};

/// The extent; 1 if the operation does not have it.
std::int64_t extent(const Value& run, const char* name) {
  const auto found = run.find(name);
  return found ? found->integer(1, max_extent) : 1;
}

void add_run(Results& results, const Value& run, const std::string& source) {
  const auto seconds = run.find("seconds");
  if (!seconds) return;  // skipped or wrong
  results.runs.push_back({run.at("rung").text(), run.at("dtype").text(), extent(run, "m"),
                          extent(run, "n"), extent(run, "k"), run.at("device").text(),
                          seconds->at("median").number(json::quantity), source});
}

/// Keeps the highest rates: GPUs with the same name differ by some percent, and ceilings are
/// achieved rates.
void keep_highest(std::vector<MeasuredGpu>& gpus, const MeasuredGpu& found) {
  const auto known = std::ranges::find(gpus, found.name, &MeasuredGpu::name);
  if (known == gpus.end()) {
    gpus.push_back(found);
    return;
  }
  for (const auto& [dtype, rate] : found.multiply_add) {
    double& highest = known->multiply_add[dtype];
    highest = std::max(highest, rate);
  }
  if (found.memory_read <= known->memory_read) return;
  known->memory_read = found.memory_read;
  known->source = found.source;
}

void add_gpu(Results& results, const Value& gpu, const std::string& source) {
  MeasuredGpu found;
  found.name = gpu.at("name").text();
  found.source = source;
  const Value ceilings = gpu.at("ceilings");
  for (const auto& [dtype, rate] : ceilings.at("multiply_add").members()) {
    found.multiply_add[dtype] = rate.number(json::quantity) * 1e9;
  }
  found.memory_read = ceilings.at("memory_read").number(json::quantity) * 1e9;
  keep_highest(results.gpus, found);
}

}  // namespace

void Results::add(const Results& other) {
  runs.insert(runs.end(), other.runs.begin(), other.runs.end());
  for (const MeasuredGpu& gpu : other.gpus) keep_highest(gpus, gpu);
}

const MeasuredRun* Results::find(std::string_view rung, Dtype dtype, std::int64_t m, std::int64_t n,
                                 std::int64_t k, std::string_view device) const {
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    if (run->rung == rung && run->dtype == name(dtype) && run->m == m && run->n == n &&
        run->k == k && run->device.find(device) != std::string::npos) {
      return &*run;
    }
  }
  return nullptr;
}

const MeasuredGpu* Results::find_gpu(std::string_view name) const {
  const auto found = std::ranges::find(gpus, name, &MeasuredGpu::name);
  return found == gpus.end() ? nullptr : &*found;
}

Results parse_results(std::string_view text, const std::string& source) {
  Results results;
  for (const BenchFile& file : bench_files(text, source)) {
    for (const Value& run : file.results()) add_run(results, run, source);
    if (const auto gpu = file.head().at("machine").find("gpu")) add_gpu(results, *gpu, source);
  }
  return results;
}

Results read_results(const std::string& path) { return parse_results(json::read_text(path), path); }

const Results& built_in_results() {
  static const Results results = [] {
    Results all;
    for (const EmbeddedResults& file : embedded) all.add(parse_results(file.text, file.source));
    return all;
  }();
  return results;
}

}  // namespace rung::analysis
