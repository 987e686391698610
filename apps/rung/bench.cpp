// rung bench: times the selected rungs against peers and ceilings.

#include "measure/bench.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "analysis/trace_rung.hpp"
#include "arguments.hpp"
#include "backends/cuda/cuda.hpp"
#include "bench_arguments.hpp"
#include "bench_options.hpp"
#include "bench_random.hpp"
#include "command_line.hpp"
#include "device/cpu/machine.hpp"
#include "devices.hpp"
#include "measure/gpu_environment.hpp"
#include "own_contender.hpp"
#include "peers.hpp"
#include "progress.hpp"
#include "report/baseline.hpp"
#include "report/bench_csv.hpp"
#include "report/bench_table.hpp"
#include "report/gpu_summary.hpp"
#include "report/json.hpp"
#include "report/page/page.hpp"
#include "report/table.hpp"
#include "report_files.hpp"
#include "standard_output.hpp"

namespace rung {
namespace {

// The rungs of one op on one device, which are compared with each other.
struct Ladder {
  std::string op;
  const Backend* backend;
  std::vector<const RungInfo*> rungs;
  const Contender* own = nullptr;
  bool with_library = true;
};

struct Problem {
  const Ladder* ladder;
  Size size;
  std::int64_t batch;
};

// Large enough to show the effect of each rung, small enough for the first one.
constexpr Size default_gemm = {512, 512, 512};
constexpr Size default_gemm_virtual = {256, 256, 256};
constexpr Size default_dot = {1, 10'000'000, 1};
constexpr Size default_dot_virtual = {1, 1'000'000, 1};

Size default_size(const Ladder& ladder) {
  const bool is_virtual = ladder.backend->name() == "virtual";
  if (ladder.op != "gemm") return is_virtual ? default_dot_virtual : default_dot;
  return is_virtual ? default_gemm_virtual : default_gemm;
}

std::vector<Ladder> group(const std::vector<const RungInfo*>& rungs, const Devices& devices) {
  std::vector<Ladder> ladders;
  for (const RungInfo* rung : rungs) {
    const Backend* backend = &devices.of(*rung);
    const auto found = std::find_if(ladders.begin(), ladders.end(), [&](const Ladder& ladder) {
      return ladder.op == rung->op && ladder.backend == backend;
    });
    if (found == ladders.end()) {
      ladders.push_back({rung->op, backend, {rung}});
    } else {
      found->rungs.push_back(rung);
    }
  }
  return ladders;
}

/// `batches`: of each size, or of the default one.
std::vector<Problem> plan(const std::vector<Ladder>& ladders,
                          const std::vector<SizeArgument>& sizes,
                          const std::vector<std::int64_t>& batches) {
  std::vector<Problem> problems;
  for (const Ladder& ladder : ladders) {
    const bool is_gemm = ladder.op == "gemm";
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto& [m, n, k, is_single] = sizes[i];
      if (is_gemm) problems.push_back({&ladder, {m, n, k}, batches[i]});
      if (!is_gemm && is_single) problems.push_back({&ladder, {1, n, 1}, batches[i]});
    }
    if (sizes.empty()) problems.push_back({&ladder, default_size(ladder), batches.front()});
  }
  if (problems.empty()) {
    throw UsageError(fmt::format("{} takes only n: --n N or --sizes N", ladders.front().op));
  }
  return problems;
}

std::vector<const Backend*> backends_of(const std::vector<Ladder>& ladders) {
  std::vector<const Backend*> backends;
  for (const Ladder& ladder : ladders) {
    const bool is_known =
        std::find(backends.begin(), backends.end(), ladder.backend) != backends.end();
    if (!is_known) backends.push_back(ladder.backend);
  }
  return backends;
}

/// `which`: "3 of 7: ", or empty for a single problem.
BenchResult run_one(const Problem& problem, BenchRequest request, const Peers& peers,
                    const std::string& which) {
  Progress progress;
  request.op = problem.ladder->op;
  request.backend = problem.ladder->backend;
  request.rungs = problem.ladder->rungs;
  request.own = problem.ladder->own;
  request.with_library = problem.ladder->with_library;
  request.size = problem.size;
  request.options.batch = problem.batch;
  request.peers = peers.opened_for(*request.backend);
  request.progress = [&](std::string_view what, double done) {
    progress.show(fmt::format("{}{}", which, what), std::string(what), done);
  };
  return run_bench(request);
}

// The CUDA GPU among the backends, if any.
std::optional<GpuEnvironment> measure_gpu(const std::vector<const Backend*>& backends) {
  for (const Backend* backend : backends) {
    cuda::Gpu* const gpu = backend->name() == "gpu" ? gpu_of(*backend) : nullptr;
    if (gpu == nullptr) continue;
    Progress progress;
    progress.show("measuring the ceilings of this GPU");
    return gpu_environment(*gpu);
  }
  return std::nullopt;
}

/// The rates of multiply-adds that rungs, and the ceilings measured beside them, reached on the CPU
/// with one thread or all.
std::vector<ReachedRate> reached_rates(const std::vector<BenchResult>& results) {
  std::vector<ReachedRate> reached;
  for (const BenchResult& result : results) {
    const int threads = result.options.threads;
    if (!result.counts_flops || !result.device.starts_with("cpu")) continue;
    if (threads != 1 && threads != cpu::available_threads()) continue;
    double best = result.ceiling_rate;
    for (const BenchRow& row : result.rows) {
      if (row.timed()) best = std::max(best, result.flops / row.seconds.median);
    }
    reached.push_back({std::string(name(result.options.dtype)), threads, best * 1e-9});
  }
  return reached;
}

Json entries_json(const std::vector<BenchResult>& results) {
  Json entries = Json::array();
  for (const BenchResult& result : results) {
    for (Json& entry : to_json(result)) entries.push_back(std::move(entry));
  }
  return entries;
}

/// The JSON of an earlier run.
std::optional<Results> read_baseline(const std::string& file) {
  if (file.empty()) return std::nullopt;
  try {
    return read_results({file}, Results::Forms::all);
  } catch (const std::runtime_error& error) {
    throw UsageError(fmt::format("--baseline: {}", error.what()));
  }
}

/// To each result that was timed then: "baseline": {"seconds", "ratio", "change"}.
void add_changes(Json& json, const Results& baseline) {
  Results now;
  now.add("this run", json, Results::Forms::all);
  for (std::size_t i = 0; i < now.entries.size(); ++i) {
    const auto found = change_of(now.entries[i], baseline);
    if (!found) continue;
    json["results"][i]["baseline"] = {
        {"seconds", found->before}, {"ratio", found->ratio}, {"change", name(found->change)}};
  }
}

Json results_json(const std::vector<BenchResult>& results, const std::vector<const Peer*>& peers,
                  const std::optional<GpuEnvironment>& gpu, bool remeasure_ceilings) {
  Progress progress;
  progress.show("measuring the ceilings of this machine");
  Json machine = to_json(environment());
  machine["ceilings"] = to_json(cached_ceilings(remeasure_ceilings, reached_rates(results)));
  if (gpu) machine["gpu"] = to_json(*gpu);
  machine["peers"] = to_json(peers);
  return {{"machine", std::move(machine)}, {"results", entries_json(results)}};
}

void write_page(const OutputFile& page, const Json& json, const BenchArguments& arguments) {
  Results measured;
  measured.add("this run", json);
  DeviceOptions options = read_device_options(arguments);
  options.observe = true;
  page.write(report_page(measured, trace_rungs(measured, options)));
}

ExitCode exit_code(const std::vector<BenchResult>& results) {
  bool any_ran = false;
  for (const BenchResult& result : results) {
    for (const BenchRow& row : result.rows) {
      if (row.kind == Kind::peer) continue;
      if (row.wrong()) return exit_wrong;
      any_ran = any_ran || (row.kind == Kind::rung && row.timed());
    }
  }
  return any_ran ? exit_right : exit_unavailable;
}

/// Whether there are such weights.
void check_weights(const std::string& op, const Size& size, const WorkloadOptions& options) {
  if (op != "gemm") throw UsageError("--weights: only gemm has weights, " + op + " has none");
  if (size.k % options.weight_group == 0) return;
  throw UsageError(fmt::format("--weights: k is {}; it must be a multiple of {}, --weight-group",
                               size.k, options.weight_group));
}

/// Measures the ladders and writes what was asked for.
ExitCode run(const BenchArguments& arguments, const std::vector<Ladder>& ladders,
             const std::vector<SizeArgument>& sizes, const BenchRequest& request,
             const std::vector<std::string>& cleared) {
  const std::vector<Problem> problems =
      plan(ladders, sizes, read_batches(arguments, std::max<std::size_t>(1, sizes.size())));
  for (const auto& [ladder, size, batch] : problems) {
    if (batch != 1 && ladder->op != "gemm") {
      throw UsageError("--batch: only gemm has batches, " + ladder->op + " has none");
    }
    if (request.options.family != Family::symmetric && ladder->op != "gemm") {
      throw UsageError("--family: only gemm has families, " + ladder->op + " has none");
    }
    if (request.options.weight_bits > 0) check_weights(ladder->op, size, request.options);
    check_memory(ladder->op, size, request.options.dtype, batch);
  }
  const std::vector<const Backend*> backends = backends_of(ladders);
  const WantedPeers wanted = for_devices(read_peers(arguments.peers), backends);
  check_apart({{"--json", arguments.json}, {"--html", arguments.html}, {"--csv", arguments.csv}});
  const auto output = read_json(arguments.json);
  const auto page = read_output("--html", arguments.html);
  const auto csv = read_output("--csv", arguments.csv);
  const std::optional<Results> baseline = read_baseline(arguments.baseline);
  const bool keep_stdout =
      (output && output->is_stdout()) || (page && page->is_stdout()) || (csv && csv->is_stdout());
  std::FILE* out = keep_stdout ? stderr : stdout;

  const Peers peers(wanted, backends);
  for (const std::string& setting : cleared) {
    fmt::print(stderr, "ignored, because it distorts measurements: {}\n", setting);
  }
  for (const std::string& line : peers.remarks()) fmt::print(stderr, "{}\n", line);
  const std::optional<GpuEnvironment> gpu = measure_gpu(backends);
  if (gpu) fmt::print(out, "{}\n", gpu_summary(*gpu));
  std::vector<BenchResult> results;
  for (const Problem& problem : problems) {
    const std::string which =
        problems.size() == 1 ? "" : fmt::format("{} of {}: ", results.size() + 1, problems.size());
    results.push_back(run_one(problem, request, peers, which));
    fmt::print(out, "{}{}", results.size() > 1 ? "\n" : "", bench_table(results.back()));
    flush_output();  // or the rest would be measured for nothing
  }
  if (csv) csv->write(bench_csv(results));
  if (baseline) {
    Results now;
    now.add("this run", {{"machine", Json::object()}, {"results", entries_json(results)}},
            Results::Forms::all);
    fmt::print(out, "\n{}", baseline_text(now, *baseline, arguments.baseline));
  }
  if (output || page) {
    Json json = results_json(results, peers.opened(), gpu, arguments.remeasure_ceilings);
    if (baseline) add_changes(json, *baseline);
    if (output) output->write(dump(json));
    if (page) write_page(*page, json, arguments);
  }
  return exit_code(results);
}

struct Setting {
  std::vector<SizeArgument> sizes;
  BenchRequest request;
  std::vector<std::string> cleared;  // settings of the environment
};

Setting read_setting(const BenchArguments& arguments) {
  Setting setting;
  setting.sizes = read_all_sizes(arguments);
  setting.request.options = read_options(arguments);
  if (!arguments.seconds.empty()) setting.request.seconds = read_seconds(arguments.seconds);
  // Before the device is opened, because its driver reads the environment, too.
  setting.cleared = prepare_environment();
  return setting;
}

/// A kernel in a file of the user's, against what --against names.
ExitCode run_file(const BenchArguments& given) {
  if (given.selectors.size() != 1) {
    throw UsageError(
        "SELECTOR: a file of yours takes no other selector; --against names what to compare it "
        "with");
  }
  if (!given.peers.empty()) throw UsageError("--vs: for a file of yours, --against names peers");
  if (!given.batch.empty()) throw UsageError("--batch: a file of yours computes one product");
  if (!given.groups.empty()) throw UsageError("--groups: a file of yours computes one product");
  if (!given.epilogue.empty()) throw UsageError("--epilogue: a file of yours computes none");
  if (!given.scales.empty()) throw UsageError("--scales: a file of yours takes none");
  if (!given.weights.empty()) throw UsageError("--weights: a file of yours takes none");
  KernelFile file =
      read_kernel_file(given, given.selectors.front(), given.dtype, given.code, given.layout);
  BenchArguments arguments = given;
  const std::string op = file.signature.op;
  const Opponents opponents = read_opponents(given.against, file);
  arguments.peers = opponents.peers;
  arguments.dtype = name(file.signature.dtype);
  if (op == "gemm") arguments.layout = row_major_layout(file);
  const Setting setting = read_setting(arguments);
  const Devices devices(arguments);
  const Backend& backend =
      devices.of(*read_selectors({fmt::format("{}/{}", op, file.language())}).front());
  if (backend.name() == "cpu") {
    throw UsageError("--device: 'cpu': a kernel of yours runs on gpu or virtual");
  }
  return with_kernel_file([&] {
    const OwnContender own(std::move(file), backend);
    return run(arguments,
               {{op, &backend, opponents.rungs, &own.contender(), opponents.with_library}},
               setting.sizes, setting.request, setting.cleared);
  });
}

/// f32 unless no rung has it, such as those for tensor cores: then the usual type of the first.
std::string dtype_for(const std::vector<const RungInfo*>& rungs, const std::string& given) {
  if (!given.empty() || rungs.empty()) return given;
  const auto is_of_floats = [](const RungInfo* rung) {
    return analysis::usual_dtype(*rung) == Dtype::f32;
  };
  if (std::ranges::any_of(rungs, is_of_floats)) return given;
  return std::string(name(analysis::usual_dtype(*rungs.front())));
}

ExitCode run(const BenchArguments& given) {
  BenchArguments arguments = given;
  const bool has_file = std::ranges::any_of(arguments.selectors, names_kernel_file);
  const RandomArguments& random = arguments.random;
  const bool is_random = !random.count.empty() || random.regret;
  if (has_file && is_random) throw UsageError("--random: a file of yours has --sizes");
  if (has_file) return run_file(arguments);
  if (!arguments.against.empty() || !arguments.as.empty()) {
    throw UsageError("--against and --as: for a file of yours, such as my_gemm.cu");
  }
  if (!random.count.empty() || (random.regret && !arguments.sizes.empty())) {
    if (!arguments.batch.empty()) throw UsageError("--batch: cannot be combined with --random");
    if (!arguments.groups.empty()) throw UsageError("--groups: cannot be combined with --random");
    if (!arguments.epilogue.empty()) {
      throw UsageError("--epilogue: cannot be combined with --random");
    }
    if (!arguments.scales.empty()) throw UsageError("--scales: cannot be combined with --random");
    return run_random(arguments);
  }
  check_no_random(arguments.random);
  check_groups(arguments);
  const auto rungs = read_selectors(arguments.selectors);
  arguments.dtype = dtype_for(rungs, arguments.dtype);
  const Setting setting = read_setting(arguments);
  const Devices devices(arguments);
  const std::vector<Ladder> ladders = group(rungs, devices);
  return run(arguments, ladders, setting.sizes, setting.request, setting.cleared);
}

}  // namespace

Action add_bench(Options& app) {
  auto arguments = std::make_shared<BenchArguments>();
  arguments->add_all(app);
  app.footer(
      "Verifies each rung on the same problem before timing it. Samples of rungs, peers and the\n"
      "ceiling are interleaved, and ratios are computed per pair of samples.\n\n"
      "Examples:\n"
      "  rung bench gemm/cpu dot/cpu\n"
      "  rung bench gemm/cpu/05 gemm/cpu/06 --sizes 256,16x4096x4096 --threads 1\n"
      "  rung bench dot --n 1e8 --dtype f64 --vs openblas --json dot.json\n"
      "  rung bench gemm/cuda --device gpu --n 4096 --dtype f16 --vs cublas,cublaslt\n"
      "  rung bench gemm/cpu --json new.json --baseline old.json\n"
      "  rung bench my_gemm.cu --against gemm/cuda/05,library,cublas\n"
      "  rung bench gemm/cuda/60 --device gpu --batch 4096 --sizes 16,32,64\n"
      "  rung bench gemm/cuda/63 --device gpu --groups 128 --tokens 65536 \\\n"
      "      --sizes 1536x2048 --dtype bf16-bf16 --layout nt --skew zipf\n"
      "  rung bench gemm/cuda --random 100 --dtype f32,bf16-bf16 --layout all");
  return [arguments] { return run(*arguments); };
}

}  // namespace rung
