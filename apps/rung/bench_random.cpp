#include "bench_random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "backends/cuda/cuda.hpp"
#include "backends/cuda/select_image.hpp"
#include "bench_gpu.hpp"
#include "bench_options.hpp"
#include "command_line.hpp"
#include "core/dtype.hpp"
#include "devices.hpp"
#include "interruption.hpp"
#include "peers.hpp"
#include "progress.hpp"
#include "standard_output.hpp"
#include "tools/analysis/bench_file.hpp"
#include "tools/measure/random/random_bench.hpp"
#include "tools/report/random_json.hpp"
#include "tools/report/random_table.hpp"

namespace rung {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t max_size_on_cpu = 4096;  // default of --max-size
constexpr std::int64_t max_shapes = 1'000'000;
constexpr std::int64_t most_max_size = 1 << 20;
constexpr auto time_between_files = std::chrono::seconds(30);

void check_combinations(const BenchArguments& arguments) {
  const auto refuse = [](bool given, const char* option) {
    if (given) throw UsageError(fmt::format("--random: cannot be combined with {}", option));
  };
  const BenchArguments defaults;
  refuse(!arguments.random.count.empty() && !arguments.sizes.empty(), "--sizes");
  refuse(arguments.any(), "--m, --n or --k");
  refuse(arguments.alpha != defaults.alpha, "--alpha");
  refuse(arguments.math == "reproducible", "--math reproducible");  // its error bound uses norms
  refuse(arguments.random.regret && arguments.math != defaults.math, "--regret with --math");
  refuse(arguments.family != defaults.family, "--family");
  refuse(arguments.cold, "--cold");
  refuse(arguments.remeasure_ceilings, "--remeasure-ceilings");
  refuse(!arguments.html.empty(), "--html; see rung report");
  refuse(!arguments.csv.empty(), "--csv; see --json");
  refuse(!arguments.baseline.empty(), "--baseline");
}

std::vector<Layout> read_layouts(const std::string& text) {
  const std::string all = "nn,nt,tn,tt";
  std::vector<Layout> layouts;
  for (const std::string& layout : split(text == "all" ? all : text, ',')) {
    if (layout.size() != 2 || layout.find_first_not_of("nt") != std::string::npos) {
      throw UsageError(
          fmt::format("--layout: '{}' is not one of nn, nt, tn, tt, or all alone", layout));
    }
    layouts.push_back({layout[0] == 't', layout[1] == 't'});
  }
  return layouts;
}

std::vector<Dtype> read_dtypes(const std::string& text) {
  if (text.empty()) return {Dtype::f32};
  std::vector<Dtype> dtypes;
  for (const std::string& dtype : split(text, ',')) dtypes.push_back(read_dtype(dtype));
  return dtypes;
}

/// The device of the rungs. All must be of gemm/cuda or all of gemm/cpu.
const Backend& backend_of(const std::vector<const RungInfo*>& rungs, const Devices& devices) {
  const RungInfo& first = *rungs.front();
  const bool is_known = first.op == "gemm" && (first.backend == "cpu" || first.backend == "cuda");
  if (!is_known) {
    throw UsageError(fmt::format("--random: '{}' is not one of gemm/cpu or gemm/cuda", first.id));
  }
  for (const RungInfo* rung : rungs) {
    if (rung->op == "gemm" && rung->backend == first.backend) continue;
    throw UsageError(fmt::format("--random: '{}' is not one of gemm/{}", rung->id, first.backend));
  }
  const Backend& backend = devices.of(first);
  const bool is_cpu = first.backend == "cpu";
  if (is_cpu ? backend.name() == "cpu" : gpu_of(backend) != nullptr) return backend;
  throw UnavailableError(
      fmt::format("{} does not run on the {}; see --device", first.id, backend.name()));
}

/// True if every selector names a rung or kernel, such as "gemm/cpu/07", rather than a ladder.
bool select_by_id(const std::vector<std::string>& selectors) {
  return std::all_of(selectors.begin(), selectors.end(), [](const auto& selector) {
    return std::count(selector.begin(), selector.end(), '/') == 2;
  });
}

/// For --regret on the CPU: the selected rungs. If whole ladders are selected, only those of their
/// rungs that the library uses.
std::vector<const RungInfo*> rungs_of_regret(const std::vector<std::string>& selectors,
                                             const std::vector<const RungInfo*>& selected) {
  if (select_by_id(selectors)) return selected;
  std::vector<const RungInfo*> rungs;
  for (const RungInfo* rung : selected) {
    if (library_uses(rung->id)) rungs.push_back(rung);
  }
  return rungs;
}

/// For --regret on a GPU: the selected rungs that it supports. If whole ladders are selected, the
/// rungs that the library uses.
std::vector<cuda::NamedGemmRung> rungs_of_regret(const std::vector<std::string>& selectors,
                                                 const std::vector<const RungInfo*>& selected,
                                                 const cuda::Gpu& gpu) {
  if (!select_by_id(selectors)) return rungs_for_plans(gpu);
  std::vector<cuda::NamedGemmRung> rungs;
  for (const cuda::NamedGemmRung& named : cuda::gemm_rungs) {
    const bool is_selected = std::any_of(selected.begin(), selected.end(),
                                         [&](const auto* rung) { return rung->id == named.id; });
    if (is_selected && cuda::select_image(named.id, gpu.target()) != nullptr) {
      rungs.push_back(named);
    }
  }
  return rungs;
}

RandomRequest read_request(const BenchArguments& arguments) {
  RandomRequest request;
  const RandomArguments& random = arguments.random;
  if (random.count.empty()) {
    for (const auto& [m, n, k, is_single] : read_sizes(arguments.sizes, 1)) {
      request.sizes.push_back({m, n, k});
    }
    request.count = static_cast<std::int64_t>(request.sizes.size());
  } else {
    request.count = read_integer("--random", random.count, 1, max_shapes);
  }
  if (!random.seed.empty()) {
    request.seed =
        static_cast<std::uint64_t>(read_integer("--seed", random.seed, 0, std::int64_t{1} << 53));
  }
  if (!random.max_size.empty()) {
    request.limits.max_size = read_integer("--max-size", random.max_size, 1, most_max_size);
  }
  request.dtypes = read_dtypes(arguments.dtype);
  request.layouts = read_layouts(arguments.layout);
  request.beta = read_number("--beta", arguments.beta);
  request.compute_mode = read_mode(arguments);
  request.threads = arguments.thread_count();
  if (!arguments.seconds.empty()) request.seconds = read_seconds(arguments.seconds);
  return request;
}

/// Sets the device, and with it the largest size and the rungs of --regret.
void set_device(RandomRequest& request, const Backend& backend, const BenchArguments& arguments,
                const std::vector<const RungInfo*>& selected) {
  request.gpu = gpu_of(backend);
  const bool is_cpu = request.gpu == nullptr;
  if (arguments.random.max_size.empty()) {
    if (is_cpu)
      request.limits.max_size = max_size_on_cpu;
    else if (request.gpu->is_virtual())
      request.limits.max_size = max_size_on_virtual_gpu;
  }
  if (!arguments.random.regret) return;
  if (is_cpu) {
    request.cpu_rungs = rungs_of_regret(arguments.selectors, selected);
  } else {
    request.rungs = rungs_of_regret(arguments.selectors, selected, *request.gpu);
  }
}

/// The named peers or, without names, all that have a gemm.
WantedPeers read_gemm_peers(const std::vector<std::string>& names) {
  WantedPeers wanted = read_peers(names);
  if (!wanted.are_named) {
    std::erase_if(wanted.kinds, [](const PeerKind* kind) { return kind->name == "cub"; });
  }
  return wanted;
}

Json machine_json(const Peers& peers, const std::optional<GpuEnvironment>& gpu) {
  Json machine = to_json(environment());
  if (gpu) machine["gpu"] = to_json(*gpu);
  machine["peers"] = to_json(peers.opened());
  return machine;
}

/// Collects the results, and writes them to the file every time_between_files.
class Collector {
 public:
  Collector(RandomJson json, const OutputFile* output) : json_(std::move(json)), output_(output) {}

  void add(const RandomResult& result) {
    json_.add(result);
    results_.push_back(result);
    const bool is_due = Clock::now() - written_ > time_between_files;
    if (output_ != nullptr && output_->is_replaced() && is_due) write(false);
  }
  void write(bool is_complete) {
    if (output_ != nullptr) output_->write(json_.text(is_complete));
    written_ = Clock::now();
  }
  const std::vector<RandomResult>& results() const { return results_; }

 private:
  RandomJson json_;
  const OutputFile* output_;
  std::vector<RandomResult> results_;
  Clock::time_point written_ = Clock::now();
};

std::string describe(const RandomResult& result) {
  const auto& [m, n, k] = result.size;
  return fmt::format("{} {} {}x{}x{}", name(result.dtype),
                     layout_name(result.a_transposed, result.b_transposed), m, n, k);
}

/// Prints a line for each error to standard error. Returns true if one is the library's, rather
/// than a peer's.
bool print_errors(const RandomResult& result) {
  bool any_wrong = false;
  const auto print_error = [&](const std::string& who, const std::string& error) {
    fmt::print(stderr, "{}: {}: WRONG: {}\n", describe(result), who, error);
  };
  if (!result.skipped.empty()) fmt::print(stderr, "{}: {}\n", describe(result), result.skipped);
  if (!result.wrong.empty()) {
    any_wrong = true;
    print_error("library", result.wrong);
  }
  for (const PlanTime& time : result.plans) {
    if (time.wrong.empty()) continue;
    any_wrong = true;
    const std::string plan = describe_plan(time.rung, result.dtype, time.config);
    print_error(plan.empty() ? time.rung : fmt::format("{} {}", time.rung, plan), time.wrong);
  }
  for (const Comparison& peer : result.peers) {
    if (!peer.why_not.starts_with("wrong: ")) continue;
    fmt::print(stderr, "{}: {} is not compared, because it is {}\n", describe(result), peer.peer,
               peer.why_not);
  }
  return any_wrong;
}

ExitCode verdict(const std::vector<RandomResult>& results) {
  bool any_ran = false, any_wrong = false;
  for (const RandomResult& result : results) {
    any_ran = any_ran || result.seconds > 0;
    any_wrong = print_errors(result) || any_wrong;
  }
  if (any_wrong) return exit_wrong;
  return any_ran ? exit_right : exit_unavailable;
}

void measure(RandomRequest& request, Collector& collector) {
  Progress progress;
  request.progress = [&](std::string_view what, double done) {
    progress.show(std::string(what), "random shapes", done);
  };
  request.measured = [&](const RandomResult& result) { collector.add(result); };
  request.stops = [] { return Interruption::noted() != 0; };
  try {
    run_random_bench(request);
  } catch (...) {
    collector.write(false);
    throw;
  }
}

}  // namespace

ExitCode run_random(const BenchArguments& arguments) {
  const auto rungs = read_selectors(arguments.selectors);
  check_combinations(arguments);
  RandomRequest request = read_request(arguments);
  const std::vector<std::string> cleared = prepare_environment();
  const Devices devices(arguments);
  const Backend& backend = backend_of(rungs, devices);
  set_device(request, backend, arguments, rungs);
  const auto output = read_json(arguments.json);
  std::FILE* const out = output && output->is_stdout() ? stderr : stdout;
  const Peers peers(for_devices(read_gemm_peers(arguments.peers), {&backend}), {&backend});
  for (const std::string& setting : cleared) {
    fmt::print(stderr, "ignored, because it distorts measurements: {}\n", setting);
  }
  for (const std::string& line : peers.remarks()) fmt::print(stderr, "{}\n", line);
  const std::optional<GpuEnvironment> gpu = measure_gpu({&backend}, out);

  request.peers = peers.opened();
  const auto form =
      is_lines_file(arguments.json) ? RandomJson::Form::lines : RandomJson::Form::document;
  Collector collector({machine_json(peers, gpu), request, backend.device(), form, command_line()},
                      output ? &*output : nullptr);
  const Interruption interruption;
  measure(request, collector);
  const bool is_complete = Interruption::noted() == 0;
  collector.write(is_complete);
  fmt::print(out, "{}", random_table(request, collector.results()));
  if (!is_complete) fmt::print(out, "\ninterrupted: these are the results so far\n");
  const ExitCode code = verdict(collector.results());
  flush_output();
  Interruption::end_by_noted();
  return code;
}

}  // namespace rung
