#include "tune_quick.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "backends/cuda/cuda.hpp"
#include "command_line.hpp"
#include "core/dtype.hpp"
#include "core/tuned_path.hpp"
#include "devices.hpp"
#include "progress.hpp"
#include "standard_output.hpp"
#include "tools/measure/quick_tune.hpp"
#include "tools/measure/random/plan_times.hpp"
#include "tools/report/json.hpp"
#include "tuned_file.hpp"

namespace rung {
namespace {

constexpr double default_seconds = 100;

/// The file of models, in which those of other rungs and types are kept.
class ModelsFile {
 public:
  ModelsFile(const std::string& path, const std::string& device)
      : path_(results_path(path, models_path(device))), device_(device) {
    try {
      before_ = cuda::parse_cost_models(text_of(path_));
    } catch (const std::runtime_error& error) {
      throw UsageError(fmt::format("-o: {}", error.what()));
    }
  }

  const std::string& path() const { return path_; }

  void write(const cuda::CostModels& models) const {
    std::string text = fmt::format("# Found by `rung tune --quick` on {}.\n", device_);
    for (const auto& model : models.blocks) text += cuda::format_model(model);
    for (const auto& model : models.waves) text += cuda::format_model(model);
    for (const auto& model : before_.blocks) {
      if (models.block_model(model.rung, model.dtype) == nullptr) text += cuda::format_model(model);
    }
    for (const auto& model : before_.waves) {
      if (models.wave_model(model.rung) == nullptr) text += cuda::format_model(model);
    }
    OutputFile(path_).write(text);
  }

 private:
  std::string path_, device_;
  cuda::CostModels before_;
};

cuda::Gpu& gpu_for(const std::vector<const RungInfo*>& selected, const Devices& devices) {
  const RungInfo& first = *selected.front();
  if (cuda::find_gemm_rung(first.id) == nullptr) {
    throw UsageError(fmt::format("--quick: '{}' is not one of gemm/cuda", first.id));
  }
  const Backend& backend = devices.of(first);
  if (gpu_of(backend) != nullptr) return *gpu_of(backend);
  throw UnavailableError(
      fmt::format("{} does not run on the {}; see --device", first.id, backend.name()));
}

/// The selected rungs that the library chooses from.
std::vector<cuda::NamedGemmRung> rungs_of(const std::vector<const RungInfo*>& selected,
                                          const cuda::Gpu& gpu) {
  std::vector<cuda::NamedGemmRung> rungs = rungs_for_plans(gpu);
  std::erase_if(rungs, [&](const cuda::NamedGemmRung& named) {
    return std::none_of(selected.begin(), selected.end(),
                        [&](const RungInfo* rung) { return rung->id == named.id; });
  });
  return rungs;
}

void print(std::FILE* out, const QuickTuneResult& result) {
  constexpr const char* row_format = "{:<34}{:<7}{:>7}{:>8}{:>9}{:>8}  {}\n";
  fmt::print(out, row_format, "rung", "type", "shapes", "plans", "before", "after", "");
  for (const QuickTuneRow& row : result.rows) {
    fmt::print(out, row_format, row.rung, name(row.dtype), row.shapes, row.plans,
               fmt::format("{:.3f}", row.regret_before), fmt::format("{:.3f}", row.regret_after),
               row.is_kept ? "kept" : "not kept");
  }
  fmt::print(out,
             "\nbefore, after: time of the configuration chosen over the fastest one's, on shapes "
             "held back\n");
  for (const std::string& wrong : result.wrong) fmt::print(out, "WRONG: {}\n", wrong);
  if (out == stdout) flush_output();
}

Json to_json(const QuickTuneRow& row, const std::string& device) {
  return {{"rung", row.rung},
          {"dtype", name(row.dtype)},
          {"device", device},
          {"shapes", row.shapes},
          {"plans", row.plans},
          {"regret_before", row.regret_before},
          {"regret_after", row.regret_after},
          {"kept", row.is_kept}};
}

}  // namespace

ExitCode tune_quick(const TuneArguments& arguments) {
  if (!arguments.sizes.empty()) throw UsageError("--quick: cannot be combined with --sizes");
  const auto selected = read_selectors(arguments.selectors);
  const Devices devices(arguments);
  QuickTuneRequest request;
  request.gpu = &gpu_for(selected, devices);
  request.rungs = rungs_of(selected, *request.gpu);
  request.threads = arguments.thread_count();
  request.seconds = arguments.seconds.empty() ? default_seconds : read_seconds(arguments.seconds);
  request.dtypes = {Dtype::f32, Dtype::f64, Dtype::bf16};
  if (!arguments.dtype.empty()) request.dtypes = {read_dtype(arguments.dtype)};
  const bool is_kept = !request.gpu->is_virtual() || !arguments.output.empty();
  std::optional<ModelsFile> file;
  if (is_kept) file.emplace(arguments.output, request.gpu->name());
  const auto output = read_json(arguments.json);
  std::FILE* const out = output && output->is_stdout() ? stderr : stdout;

  QuickTuneResult result;
  {
    Progress progress;
    request.progress = [&](std::string_view what, double done) {
      progress.show(fmt::format("tune --quick: {}", what), "quick", done);
    };
    result = quick_tune(request);
  }
  print(out, result);
  if (file && result.wrong.empty()) {
    file->write(result.models);
    fmt::print(out, "kept in {}\n", file->path());
  }
  if (!file) {
    fmt::print(out, "not kept, because these times are simulated; use -o FILE to keep them\n");
  }
  Json rows = Json::array();
  for (const QuickTuneRow& row : result.rows) rows.push_back(to_json(row, request.gpu->name()));
  if (output) output->write(dump(rows));
  return result.wrong.empty() ? exit_right : exit_wrong;
}

}  // namespace rung
