#include "analysis/results.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/embed.hpp"

// RUNG_EMBED(symbol, path) for each file of results.
#include "analysis/embedded_results.inc"

namespace rung::analysis {
namespace {

using Json = nlohmann::json;

struct EmbeddedResults {
  const char* source;
  std::string_view json;
};

const std::array embedded = {RUNG_RESULTS_TABLE};

std::int64_t extent(const Json& run, const char* name) {
  return run.contains(name) && !run[name].is_null() ? run[name].get<std::int64_t>() : 1;
}

void add_run(Results& results, const Json& run, const std::string& source) {
  if (!run.contains("seconds") || run["seconds"].is_null()) return;  // skipped, or wrong
  results.runs.push_back({run.at("rung"), run.at("dtype"), extent(run, "m"), extent(run, "n"),
                          extent(run, "k"), run.at("device"),
                          run["seconds"].at("median").get<double>(), source});
}

void add_gpu(Results& results, const Json& gpu, const std::string& source) {
  MeasuredGpu measured;
  measured.name = gpu.at("name");
  measured.source = source;
  for (const auto& [dtype, rate] : gpu.at("ceilings").at("multiply_add").items()) {
    measured.multiply_add[dtype] = rate.get<double>() * 1e9;
  }
  measured.memory_read = gpu["ceilings"].at("memory_read").get<double>() * 1e9;
  results.gpus.push_back(std::move(measured));
}

}  // namespace

void Results::add(const Results& other) {
  runs.insert(runs.end(), other.runs.begin(), other.runs.end());
  gpus.insert(gpus.end(), other.gpus.begin(), other.gpus.end());
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
  for (auto gpu = gpus.rbegin(); gpu != gpus.rend(); ++gpu) {
    if (gpu->name == name) return &*gpu;
  }
  return nullptr;
}

Results parse_results(std::string_view json, const std::string& source) {
  Results results;
  try {
    const Json file = Json::parse(json);
    for (const Json& run : file.at("results")) add_run(results, run, source);
    const Json& machine = file.at("machine");
    if (machine.contains("gpu") && !machine["gpu"].is_null()) {
      add_gpu(results, machine["gpu"], source);
    }
  } catch (const Json::exception& error) {
    throw std::runtime_error(
        fmt::format("{}: not results of rung bench: {}", source, error.what()));
  }
  return results;
}

Results read_results(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(fmt::format("'{}' cannot be read", path));
  return parse_results(std::string(std::istreambuf_iterator<char>(file), {}), path);
}

const Results& built_in_results() {
  static const Results results = [] {
    Results all;
    for (const EmbeddedResults& file : embedded) all.add(parse_results(file.json, file.source));
    return all;
  }();
  return results;
}

}  // namespace rung::analysis
