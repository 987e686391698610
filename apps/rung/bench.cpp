// rung bench: times the selected rungs against peers and ceilings.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "arguments.hpp"
#include "bench_arguments.hpp"
#include "bench_extras.hpp"
#include "bench_gpu.hpp"
#include "bench_kernel_file.hpp"
#include "bench_options.hpp"
#include "bench_random.hpp"
#include "bench_run.hpp"
#include "command_line.hpp"
#include "core/dtype.hpp"
#include "device/cpu/machine.hpp"
#include "devices.hpp"
#include "interruption.hpp"
#include "peers.hpp"
#include "progress.hpp"
#include "standard_output.hpp"
#include "tools/analysis/bench_file.hpp"
#include "tools/analysis/usual_dtype.hpp"
#include "tools/kernel_file/file_name.hpp"
#include "tools/measure/quiet_machine.hpp"
#include "tools/report/bench_csv.hpp"
#include "tools/report/bench_table.hpp"
#include "tools/report/json.hpp"

namespace rung {
namespace {

struct Problem {
  const BenchLadder* ladder;
  Size size;
  std::int64_t batch;
};

// Large enough to show the effect of each rung, small enough for the first one.
constexpr Size default_gemm = {512, 512, 512};
constexpr Size default_gemm_virtual = {256, 256, 256};
constexpr Size default_dot = {1, 10'000'000, 1};
constexpr Size default_dot_virtual = {1, 1'000'000, 1};

Size default_size(const BenchLadder& ladder) {
  const bool is_virtual = ladder.backend->name() == "virtual";
  if (ladder.op != "gemm") return is_virtual ? default_dot_virtual : default_dot;
  return is_virtual ? default_gemm_virtual : default_gemm;
}

std::vector<BenchLadder> group(const std::vector<const RungInfo*>& rungs, const Devices& devices) {
  std::vector<BenchLadder> ladders;
  for (const RungInfo* rung : rungs) {
    const Backend* backend = &devices.of(*rung);
    const auto found = std::find_if(ladders.begin(), ladders.end(), [&](const BenchLadder& ladder) {
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
std::vector<Problem> plan(const std::vector<BenchLadder>& ladders,
                          const std::vector<SizeArgument>& sizes,
                          const std::vector<std::int64_t>& batches) {
  std::vector<Problem> problems;
  for (const BenchLadder& ladder : ladders) {
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

std::vector<const Backend*> backends_of(const std::vector<BenchLadder>& ladders) {
  std::vector<const Backend*> backends;
  for (const BenchLadder& ladder : ladders) {
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
  request.stopped = [] { return Interruption::noted() != 0; };
  request.progress = [&](std::string_view what, double done) {
    progress.show(fmt::format("{}{}", which, what), std::string(what), done);
  };
  return run_bench(request);
}

/// Prints a line if the CPU is timed and other programs use a part of it.
void print_load(const std::vector<const Backend*>& backends, const BenchRequest& request) {
  constexpr double max_waiting = 10;  // times what one contender may take
  if (std::ranges::none_of(backends, [](const Backend* each) { return each->name() == "cpu"; })) {
    return;
  }
  const std::string load = [&] {
    Progress progress;
    progress.show("waiting for other programs to become idle");
    return wait_for_quiet_machine(request.options.dtype, request.options.threads,
                                  max_waiting * request.seconds);
  }();
  if (!load.empty()) fmt::print(stderr, "{}\n", load);
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

/// `is_whole`: not interrupted. Otherwise the ceilings of the machine, which take seconds, are left out.
Json results_json(const std::vector<BenchResult>& results, const std::vector<const Peer*>& peers,
                  const std::optional<GpuEnvironment>& gpu, bool remeasure_ceilings,
                  bool is_whole) {
  Json machine = to_json(environment());
  if (is_whole) {
    Progress progress;
    progress.show("measuring the ceilings of this machine");
    machine["ceilings"] = to_json(cached_ceilings(remeasure_ceilings, reached_rates(results)));
  }
  if (gpu) machine["gpu"] = to_json(*gpu);
  machine["peers"] = to_json(peers);
  Json json = {{"machine", std::move(machine)}, {"command", command_line()}};
  if (!is_whole) json["interrupted"] = true;
  json["results"] = entries_json(results);
  return json;
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

/// Throws UsageError unless gemm has such weights.
void check_weights(const std::string& op, const Size& size, const WorkloadOptions& options) {
  if (op != "gemm") throw UsageError("--weights: only gemm has weights, " + op + " has none");
  if (size.k % options.weight_group == 0) return;
  throw UsageError(fmt::format("--weights: k is {}; it must be a multiple of {}, --weight-group",
                               size.k, options.weight_group));
}

/// f32 unless no rung has it, such as those for tensor cores: then the usual type of the first.
std::string dtype_for(const std::vector<const RungInfo*>& rungs, const std::string& given) {
  if (!given.empty() || rungs.empty()) return given;
  const auto is_of_floats = [](const RungInfo* rung) {
    return is_for(*rung, "cpu") || analysis::usual_dtype(*rung) == Dtype::f32;
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
  if (has_file) return run_kernel_file(arguments);
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
  const BenchSetting setting = read_setting(arguments);
  const Devices devices(arguments);
  return run_ladders(arguments, group(rungs, devices), setting);
}

}  // namespace

BenchSetting read_setting(const BenchArguments& arguments) {
  BenchSetting setting;
  setting.sizes = read_all_sizes(arguments);
  setting.request.options = read_options(arguments);
  if (!arguments.seconds.empty()) setting.request.seconds = read_seconds(arguments.seconds);
  // Before the device is opened, because its driver reads the environment, too.
  setting.cleared = prepare_environment();
  return setting;
}

ExitCode run_ladders(const BenchArguments& arguments, const std::vector<BenchLadder>& ladders,
                     const BenchSetting& setting) {
  const auto& [sizes, request, cleared] = setting;
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
  WantedPeers named = read_peers(arguments.peers);
  named.may_be_missing = !arguments.against.empty();
  const WantedPeers wanted = for_devices(named, backends);
  check_apart({{"--json", arguments.json}, {"--html", arguments.html}, {"--csv", arguments.csv}});
  const std::unique_ptr<BenchExtras> extras = read_extras(arguments);
  const auto output = read_json(arguments.json);
  const auto csv = read_output("--csv", arguments.csv);
  const bool keep_stdout = (output && output->is_stdout()) || (csv && csv->is_stdout()) ||
                           (extras && extras->uses_stdout());
  std::FILE* out = keep_stdout ? stderr : stdout;

  const Peers peers(wanted, backends);
  for (const std::string& variable : cleared) {
    fmt::print(stderr, "ignored, because it distorts measurements: {}\n", variable);
  }
  for (const std::string& line : peers.remarks()) fmt::print(stderr, "{}\n", line);
  const std::optional<GpuEnvironment> gpu = measure_gpu(backends, out);
  print_load(backends, request);
  const Interruption interruption;
  std::vector<BenchResult> results;
  for (const Problem& problem : problems) {
    if (Interruption::noted() != 0) break;
    const std::string which =
        problems.size() == 1 ? "" : fmt::format("{} of {}: ", results.size() + 1, problems.size());
    results.push_back(run_one(problem, request, peers, which));
    fmt::print(out, "{}{}", results.size() > 1 ? "\n" : "", bench_table(results.back()));
    flush_output();  // or the rest would be measured for nothing
  }
  const bool is_interrupted = Interruption::noted() != 0;
  if (is_interrupted) fmt::print(out, "\ninterrupted: these are the results so far\n");
  if (csv) csv->write(bench_csv(results));
  if (extras) fmt::print(out, "{}", extras->comparison(results));
  if (output || (extras && extras->needs_machine())) {
    Json json =
        results_json(results, peers.opened(), gpu, arguments.remeasure_ceilings, !is_interrupted);
    if (extras) extras->add_comparison(json, results);
    if (output) output->write(is_lines_file(arguments.json) ? lines_of(json) : dump(json));
    if (extras) extras->write_page(results, json["machine"]);
  }
  const ExitCode code = exit_code(results);
  flush_output();
  Interruption::end_by_noted();
  return code;
}

Action add_bench(Options& app) {
  auto arguments = std::make_shared<BenchArguments>();
  arguments->add_all(app);
  app.footer(
      "Verifies each rung on the same problem before timing it. Samples of rungs, peers and the\n"
      "ceiling are interleaved, and ratios are computed per pair of samples.\n\n"
      "--json writes one JSON document; if FILE ends in .jsonl, JSON Lines: a header, then one\n"
      "measurement per line.\n\n"
      "Examples:\n"
      "  rung bench gemm/cpu dot/cpu\n"
      "  rung bench gemm/cpu/05 gemm/cpu/06 --sizes 256,16x4096x4096 --threads 1\n"
      "  rung bench dot --n 1e8 --dtype f64 --vs openblas --json dot.json\n"
      "  rung bench gemm/cuda --device gpu --n 4096 --dtype f16 --vs cublas,cublaslt\n"
      "  rung bench gemm/cpu --json new.jsonl --baseline old.jsonl\n"
      "  rung bench my_gemm.cu --vs gemm/cuda/05,library,cublas\n"
      "  rung bench gemm/cuda/small_matrices --device gpu --batch 4096 --sizes 16,32,64\n"
      "  rung bench gemm/cuda/grouped --device gpu --groups 128 --tokens 65536 \\\n"
      "      --sizes 1536x2048 --dtype bf16-bf16 --layout nt --skew zipf\n"
      "  rung bench gemm/cuda --random 100 --dtype f32,bf16-bf16 --layout all");
  return [arguments] { return run(*arguments); };
}

}  // namespace rung
