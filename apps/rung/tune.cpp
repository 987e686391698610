// rung tune: finds the fastest tile and number of splits for each shape on this device; for the
// CPU see tune_cpu.hpp.

#include "tools/measure/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "arguments.hpp"
#include "backends/cuda/cuda.hpp"
#include "backends/rungs/cuda.hpp"
#include "command_line.hpp"
#include "core/dtype.hpp"
#include "devices.hpp"
#include "progress.hpp"
#include "standard_output.hpp"
#include "tools/report/json.hpp"
#include "tools/report/random_json.hpp"
#include "tools/report/table.hpp"
#include "tune_cpu.hpp"
#include "tune_quick.hpp"
#include "tuned_file.hpp"

namespace rung {
namespace {

constexpr const char* default_seconds = "0.2";

// Squares, including sizes that are not multiples of any tile, then flat, tall, deep and shallow
// shapes.
constexpr const char* default_sizes =
    "128,256,384,512,640,768,1000,1024,1536,2048,3072,4096,4097,8192,"
    "16x4096x4096,4096x16x4096,32x2048x2048,2048x32x2048,64x8192x8192,8192x64x8192,"
    "128x4096x14336,256x8192x8192,8192x8192x64,4096x4096x256,"
    "64x64x65536,128x128x8192,256x256x16384,512x512x8192";
constexpr const char* default_sizes_virtual = "256";

// The rungs to tune, and the device.
struct Target {
  const RungInfo* rung;
  const Backend* backend;
  Dtype dtype;
};

bool has_tiles(const RungInfo& rung) {
  const cuda::GemmRung* const gemm = cuda::find_gemm_rung(rung.id);
  return gemm != nullptr && std::any_of(all_dtypes.begin(), all_dtypes.end(), [&](Dtype dtype) {
           return !cuda::tiles_of(*gemm, dtype).empty();
         });
}

/// The selected rungs that have several configurations.
std::vector<const RungInfo*> read_rungs(const TuneArguments& arguments) {
  const auto selected = read_selectors(arguments.selectors);
  std::vector<const RungInfo*> rungs;
  for (const RungInfo* rung : selected) {
    if (has_tiles(*rung)) rungs.push_back(rung);
  }
  if (!rungs.empty()) return rungs;
  const RungInfo& first = *selected.front();
  if (cuda::find_gemm_rung(first.id) == nullptr) {
    throw UsageError(
        fmt::format("{} is a {} rung; tune supports cuda rungs, and gemm/cpu as a whole", first.id,
                    first.backend));
  }
  throw UsageError(fmt::format("{} has one tile size; nothing to tune", first.id));
}

std::vector<Target> read_targets(const TuneArguments& arguments,
                                 const std::vector<const RungInfo*>& rungs,
                                 const Devices& devices) {
  const Dtype dtype = arguments.dtype.empty() ? Dtype::f32 : read_dtype(arguments.dtype);
  std::vector<Target> targets;
  for (const RungInfo* rung : rungs) {
    const Backend& backend = devices.of(*rung);
    if (gpu_of(backend) == nullptr) {
      throw UnavailableError(
          fmt::format("{} does not run on the {}; see --device", rung->id, backend.name()));
    }
    if (const auto reason = backend.why_not(*rung, dtype)) {
      throw UnavailableError(fmt::format("{}: {}", rung->id, *reason));
    }
    targets.push_back({rung, &backend, dtype});
  }
  return targets;
}

std::vector<cuda::GemmSize> read_shapes(const TuneArguments& arguments, const Target& target) {
  std::string text = arguments.sizes;
  if (text.empty()) {
    text = target.backend->name() == "virtual" ? default_sizes_virtual : default_sizes;
  }
  std::vector<cuda::GemmSize> shapes;
  for (const auto& [m, n, k, is_single] : read_sizes(text, 1)) {
    check_memory("gemm", {m, n, k}, target.dtype);
    shapes.push_back({m, n, k});
  }
  return shapes;
}

std::string describe(const cuda::GemmSize& size) {
  return fmt::format("{}x{}x{}", size.m, size.n, size.k);
}

std::string describe(const Target& target, const cuda::GemmConfig& config) {
  return describe_plan(target.rung->id, target.dtype, config);
}

double flops(const cuda::GemmSize& size) {
  return 2 * static_cast<double>(size.m) * static_cast<double>(size.n) *
         static_cast<double>(size.k);
}

constexpr const char* row_format = "{:<18}{:<22}{:>10}{:>9}{:>7}{:>7}\n";

void print_heading(std::FILE* out, const Target& target) {
  fmt::print(out, "{} {}\n{}\n", target.rung->id, name(target.dtype),
             cut("on " + target.backend->device(), text_width));
  fmt::print(out, "{}\n\n", target.backend->code(*target.rung));
  fmt::print(out, row_format, "shape", "best", "time",
             is_integer(target.dtype) ? "TOP/s" : "TFLOP/s", "gain", "tried");
}

void print_row(std::FILE* out, const Target& target, const cuda::GemmSize& size,
               const TuneResult& result) {
  for (const TuneCandidate& candidate : result.candidates) {
    if (candidate.wrong.empty()) continue;
    fmt::print(out, "{:<18}{}: WRONG: {}\n", describe(size), describe(target, candidate.config),
               candidate.wrong);
  }
  if (!result.best) return;
  const TuneCandidate& best = result.candidates[*result.best];
  const double seconds = best.seconds.median;
  fmt::print(out, row_format, describe(size), describe(target, best.config),
             format_seconds(seconds), format_rate(flops(size) / seconds * 1e-12),
             result.gain > 0 ? fmt::format("{:.2f}x", result.gain) : "-", result.candidates.size());
  if (out == stdout) flush_output();
}

Json to_json(const Target& target, const cuda::GemmSize& size, const TuneResult& result) {
  Json candidates = Json::array();
  for (const TuneCandidate& candidate : result.candidates) {
    Json entry = {{"plan", describe(target, candidate.config)},
                  {"tile", candidate.config.tile},
                  {"splits", candidate.config.splits},
                  {"whole", candidate.config.whole},
                  {"verified", candidate.wrong.empty()}};
    if (!candidate.wrong.empty()) entry["message"] = candidate.wrong;
    if (candidate.wrong.empty()) entry["seconds"] = candidate.seconds.median;
    if (candidate.wrong.empty()) entry["finalist"] = candidate.is_finalist;
    candidates.push_back(std::move(entry));
  }
  Json json = {{"rung", target.rung->id},
               {"dtype", name(target.dtype)},
               {"m", size.m},
               {"n", size.n},
               {"k", size.k},
               {"device", target.backend->device()},
               {"candidates", std::move(candidates)},
               {"refused", result.refused}};
  if (result.best) json["best"] = *result.best;
  if (result.gain > 0) json["gain"] = result.gain;
  return json;
}

class TuneCommand {
 public:
  explicit TuneCommand(const TuneArguments& arguments) : arguments_(arguments) {}

  ExitCode run() {
    const auto rungs = read_rungs(arguments_);
    request_.threads = arguments_.thread_count();
    request_.seconds =
        read_seconds(arguments_.seconds.empty() ? default_seconds : arguments_.seconds);
    const Devices devices(arguments_);
    const std::vector<Target> targets = read_targets(arguments_, rungs, devices);
    const std::vector<cuda::GemmSize> shapes = read_shapes(arguments_, targets.front());
    open_file(targets.front());
    const auto output = read_json(arguments_.json);
    if (output && output->is_stdout()) out_ = stderr;

    for (const Target& target : targets) {
      if (target.rung != targets.front().rung) fmt::print(out_, "\n");
      tune_all(target, shapes);
    }
    print_end();
    if (output) output->write(dump(results_));
    return any_wrong_ ? exit_wrong : exit_right;
  }

 private:
  // Times on the virtual GPU are those of this CPU, so they are stored only on request.
  void open_file(const Target& target) {
    if (target.backend->name() == "virtual" && arguments_.output.empty()) return;
    file_.emplace(arguments_.output, gpu_of(*target.backend)->name());
  }

  void tune_all(const Target& target, const std::vector<cuda::GemmSize>& shapes) {
    request_.dtype = target.dtype;
    request_.gpu = gpu_of(*target.backend);
    const auto data = cuda::TunedConfigs::of_device(request_.gpu->name());
    const cuda::GemmRung& gemm = *cuda::find_gemm_rung(target.rung->id);
    request_.rung = {target.rung->id, &gemm};
    request_.compute_mode = target.rung->compute_mode;
    request_.model = data.models().block_model(target.rung->id, target.dtype);
    print_heading(out_, target);
    for (const cuda::GemmSize& size : shapes) {
      request_.size = size;
      request_.before =
          data.nearest(gemm, target.rung->id, target.dtype, size, request_.gpu->limits());
      take(target, size, tune_one(target, size));
    }
  }

  TuneResult tune_one(const Target& target, const cuda::GemmSize& size) {
    Progress progress;
    request_.progress = [&](std::string_view what, double done) {
      progress.show(fmt::format("{} {}: {}", target.rung->slug, describe(size), what),
                    std::string(what), done);
    };
    return tune(request_);
  }

  void take(const Target& target, const cuda::GemmSize& size, const TuneResult& result) {
    print_row(out_, target, size, result);
    for (const auto& [reason, count] : result.refused) refused_[reason] += count;
    any_wrong_ = any_wrong_ || std::any_of(result.candidates.begin(), result.candidates.end(),
                                           [](const TuneCandidate& candidate) {
                                             return !candidate.wrong.empty();
                                           });
    if (file_ && result.best) {
      file_->add({target.rung->id, target.dtype, size, result.candidates[*result.best].config});
    }
    results_.push_back(to_json(target, size, result));
  }

  void print_end() const {
    fmt::print(out_, "\n");
    for (const auto& [reason, count] : refused_) {
      fmt::print(out_, "not launched: {} configuration{}: {}\n", count, count == 1 ? "" : "s",
                 reason);
    }
    if (file_) {
      fmt::print(out_, "kept in {}\n", file_->path());
    } else {
      fmt::print(out_, "not kept, because these times are simulated; use -o FILE to keep them\n");
    }
  }

  const TuneArguments& arguments_;
  TuneRequest request_;
  std::optional<TunedFile> file_;
  std::FILE* out_ = stdout;
  std::map<std::string, int> refused_;
  bool any_wrong_ = false;
  Json results_ = Json::array();
};

}  // namespace

Action add_tune(Options& app) {
  auto arguments = std::make_shared<TuneArguments>();
  arguments->add_selectors(app, true);
  app.add_option(
         "--sizes", arguments->sizes,
         "Comma-separated shapes to tune (default: 28 square and oblong ones up to 8192; on "
         "the virtual GPU 256; on the CPU 16 random ones up to 2048)")
      ->type_name("N|MxNxK,...");
  arguments->add_device_dtype_threads(app);
  app.add_option(
         "--seconds", arguments->seconds,
         "Time budget per configuration in the long round, in seconds (default: 0.2; on the "
         "CPU 0.05 per rung)")
      ->type_name("S");
  app.add_option("-o,--output", arguments->output,
                 "Add the results to FILE instead of the user's cache")
      ->type_name("FILE");
  app.add_flag("--quick", arguments->quick,
               "Fit the models that choose for all shapes instead, to random ones, in --seconds in "
               "all (default: 100)");
  arguments->add_json(app);
  app.footer(
      "Verifies every configuration (tile and splits), times it in a short round and, if within\n"
      "1.3 times the fastest, in a long one. Gain is over the configuration used before. From "
      "then\n"
      "on, calls on this device use the configuration of the nearest shape. Results for other\n"
      "problems in the file are kept.\n\n"
      "gemm/cpu: times the rungs that the library chooses from, and stores by which factor its\n"
      "costs of each are off on this CPU, in f32 and f64 or in the type of --dtype.\n\n"
      "--quick: for a new GPU. Scales the constants of the models, which come from an H200, by "
      "what\n"
      "fits f32, f64 and bf16, or the type of --dtype; constants that choose no better on shapes "
      "held\n"
      "back are not kept.\n\n"
      "Examples:\n"
      "  rung tune gemm/cuda --quick\n"
      "  rung tune gemm/cuda/11\n"
      "  rung tune gemm/cuda/10 gemm/cuda/11 --dtype f64 --sizes 1024,64x64x65536\n"
      "  rung tune gemm/cuda/31 --dtype e4m3 --sizes 4096,128x4096x14336\n"
      "  rung tune gemm/cuda/11 -o nvidia_h200.txt\n"
      "  rung tune gemm/cpu");
  return [arguments] {
    if (arguments->quick) return tune_quick(*arguments);
    const bool is_cpu = arguments->selectors == std::vector<std::string>{"gemm/cpu"};
    return is_cpu ? tune_gemm_cpu(*arguments) : TuneCommand(*arguments).run();
  };
}

}  // namespace rung
