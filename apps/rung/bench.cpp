// rung bench: how fast is every selected rung, against peers and ceilings?

#include "measure/bench.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "arguments.hpp"
#include "command.hpp"
#include "peers.hpp"
#include "progress.hpp"
#include "report/bench_table.hpp"
#include "report/json.hpp"
#include "report/table.hpp"

namespace rung {
namespace {

struct Arguments : CommonArguments {
  std::string m, n, k;
  std::string sizes;
  std::vector<std::string> peers;
  std::string layout = "nn";
  std::string alpha = "1";
  std::string beta = "0";
  std::string seconds = "0.5";
  bool cold = false;
  bool remeasure_ceilings = false;
};

struct Problem {
  std::string op;
  Size size;
};

// Large enough to show what each rung is about, small enough for the first one.
constexpr Size default_gemm = {512, 512, 512};
constexpr Size default_dot = {1, 10'000'000, 1};

WorkloadOptions read_options(const Arguments& arguments) {
  WorkloadOptions options;
  options.dtype = arguments.dtype.empty() ? Dtype::f32 : read_dtype(arguments.dtype);
  options.threads = read_threads(arguments.threads);
  const std::string& layout = arguments.layout;
  if (layout != "nn" && layout != "nt" && layout != "tn" && layout != "tt") {
    throw UsageError(fmt::format("--layout: '{}' is not one of nn, nt, tn, tt", layout));
  }
  options.a_transposed = layout[0] == 't';
  options.b_transposed = layout[1] == 't';
  options.alpha = read_number("--alpha", arguments.alpha);
  options.beta = read_number("--beta", arguments.beta);
  options.cold = arguments.cold;
  return options;
}

double read_seconds(const std::string& text) {
  const double seconds = read_number("--seconds", text);
  if (seconds > 0 && seconds <= 3600) return seconds;
  throw UsageError(fmt::format("--seconds: '{}' is not above 0 and up to 3600", text));
}

// The sizes of --m, --n and --k: one that is missing is as the first of n, m, k that is given.
SizeArgument read_extents(const Arguments& arguments) {
  const auto read = [](const std::string& option, const std::string& text) {
    return text.empty() ? 0 : read_integer(option, text, 1, max_extent);
  };
  const std::int64_t m = read("--m", arguments.m);
  const std::int64_t n = read("--n", arguments.n);
  const std::int64_t k = read("--k", arguments.k);
  const std::int64_t first = n != 0 ? n : m != 0 ? m : k;
  const bool is_single = m == 0 && k == 0;
  return {m != 0 ? m : first, n != 0 ? n : first, k != 0 ? k : first, is_single};
}

std::vector<SizeArgument> read_all_sizes(const Arguments& arguments) {
  const bool any_extent = !arguments.m.empty() || !arguments.n.empty() || !arguments.k.empty();
  if (!arguments.sizes.empty() && any_extent) {
    throw UsageError("--sizes: not together with --m, --n or --k");
  }
  if (any_extent) return {read_extents(arguments)};
  if (!arguments.sizes.empty()) return read_sizes(arguments.sizes, 1);
  return {};
}

// Operands that do not fit would be swapped, or end the process.
void check_memory(const Problem& problem, const WorkloadOptions& options) {
  const auto area = [](std::int64_t rows, std::int64_t cols) {
    return static_cast<double>(rows) * static_cast<double>(cols);
  };
  const auto& [m, n, k] = problem.size;
  const double in = static_cast<double>(input_bytes(options.dtype));
  const double out = static_cast<double>(output_bytes(options.dtype));
  const double bytes = problem.op == "gemm" ? (area(m, k) + area(k, n)) * in + area(m, n) * out
                                            : 2 * static_cast<double>(n) * in;
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes <= 0.8 * memory) return;
  throw UsageError(fmt::format(
      "{} {}: the operands take {:.3g} GB, this machine has {:.3g} GB of memory", problem.op,
      problem.op == "gemm" ? fmt::format("{}x{}x{}", m, n, k) : fmt::format("{}", n), bytes * 1e-9,
      memory * 1e-9));
}

std::vector<Problem> plan(const std::vector<const RungInfo*>& rungs,
                          const std::vector<SizeArgument>& sizes) {
  std::vector<std::string> ops;
  for (const RungInfo* rung : rungs) {
    if (std::find(ops.begin(), ops.end(), rung->op) == ops.end()) ops.push_back(rung->op);
  }
  std::vector<Problem> problems;
  for (const std::string& op : ops) {
    const bool is_gemm = op == "gemm";
    const std::size_t before = problems.size();
    for (const auto& [m, n, k, is_single] : sizes) {
      if (is_gemm) problems.push_back({op, {m, n, k}});
      if (!is_gemm && is_single) problems.push_back({op, {1, n, 1}});
    }
    if (sizes.empty()) problems.push_back({op, is_gemm ? default_gemm : default_dot});
    if (problems.size() == before && ops.size() == 1) {
      throw UsageError(fmt::format("{} takes n alone: --n N or --sizes N", op));
    }
  }
  return problems;
}

BenchResult run_one(const Problem& problem, const std::vector<const RungInfo*>& rungs,
                    BenchRequest request) {
  Progress progress;
  request.op = problem.op;
  request.size = problem.size;
  for (const RungInfo* rung : rungs) {
    if (rung->op == problem.op) request.rungs.push_back(rung);
  }
  request.progress = [&](std::string_view what, double done) {
    progress.show(done > 0 ? fmt::format("{} {:.0f}%", what, 100 * done) : std::string(what));
  };
  return run_bench(request);
}

Json to_json(const std::vector<BenchResult>& results, const std::vector<const Peer*>& peers,
             bool remeasure_ceilings) {
  Progress progress;
  progress.show("measuring the ceilings of this machine");
  Json machine = to_json(environment());
  machine["ceilings"] = to_json(cached_ceilings(remeasure_ceilings));
  machine["peers"] = to_json(peers);
  Json entries = Json::array();
  for (const BenchResult& result : results) {
    for (Json& entry : to_json(result)) entries.push_back(std::move(entry));
  }
  return {{"machine", std::move(machine)}, {"results", std::move(entries)}};
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

ExitCode run(const Arguments& arguments) {
  const auto rungs = read_selectors(arguments.selectors);
  const std::vector<Problem> problems = plan(rungs, read_all_sizes(arguments));
  BenchRequest request;
  request.options = read_options(arguments);
  request.seconds = read_seconds(arguments.seconds);
  for (const Problem& problem : problems) check_memory(problem, request.options);
  const std::vector<std::string> wanted = read_peers(arguments.peers);
  request.backend = &read_device(arguments.device);
  const auto output = read_json(arguments.json);
  std::FILE* out = output && output->is_stdout() ? stderr : stdout;

  const Peers peers(wanted);
  request.peers = peers.opened();
  for (const std::string& line : peers.remarks()) fmt::print(stderr, "{}\n", line);
  std::vector<BenchResult> results;
  for (const Problem& problem : problems) {
    results.push_back(run_one(problem, rungs, request));
    fmt::print(out, "{}{}", results.size() > 1 ? "\n" : "", bench_table(results.back()));
    std::fflush(out);
  }
  if (output) output->write(dump(to_json(results, request.peers, arguments.remeasure_ceilings)));
  return exit_code(results);
}

}  // namespace

Action add_bench(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  arguments->add_selectors(app, true);
  app.add_option("--m", arguments->m, "Rows of A and C")->type_name("N");
  app.add_option("--n", arguments->n, "Columns of B and C; the length of dot")->type_name("N");
  app.add_option("--k", arguments->k, "Columns of A, rows of B")->type_name("N");
  app.add_option("--sizes", arguments->sizes, "Several sizes instead")->type_name("N|MxNxK,...");
  arguments->add_device_dtype_threads(app);
  app.add_option("--vs", arguments->peers,
                 "Peers: openblas, blis, onednn, mkl, or none (default: all that are here)")
      ->type_name("PEER")
      ->delimiter(',')
      ->take_all();
  app.add_option("--layout", arguments->layout, "nn, nt, tn or tt: t for a transposed operand")
      ->type_name("AB")
      ->capture_default_str();
  app.add_option("--alpha", arguments->alpha, "C = alpha A B + beta C")
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--beta", arguments->beta, "See --alpha")->type_name("X")->capture_default_str();
  app.add_option("--seconds", arguments->seconds, "Time budget of each measurement")
      ->type_name("S")
      ->capture_default_str();
  app.add_flag("--cold", arguments->cold, "New operands for each call, from beyond the caches");
  app.add_flag("--remeasure-ceilings", arguments->remeasure_ceilings,
               "Measure the ceilings that the JSON gives anew, not from the cache");
  arguments->add_json(app);
  app.footer(
      "Each rung is verified on the very problem before it is timed. Rungs, peers and the ceiling\n"
      "are timed in turn, and ratios are taken pair by pair.\n\n"
      "Examples:\n"
      "  rung bench gemm/cpu dot/cpu\n"
      "  rung bench gemm/cpu/05 gemm/cpu/06 --sizes 256,16x4096x4096 --threads 1\n"
      "  rung bench dot --n 1e8 --dtype f64 --vs openblas --json dot.json");
  return [arguments] { return run(*arguments); };
}

}  // namespace rung
