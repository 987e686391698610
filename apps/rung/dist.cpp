// rung dist plan: how librung_dist would divide a product among MPI ranks, and what that costs.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>

#include "arguments.hpp"
#include "choices.hpp"
#include "command_line.hpp"
#include "rung/dist_plan.hpp"
#include "tools/report/json.hpp"
#include "tools/report/table.hpp"

namespace rung {
namespace {

/// Measured rates of librung's products on one GPU, the best in results/<device>/ of each type.
struct GpuRate {
  const char* name;
  double f32, f64, bf16;  // TFLOP/s
  double memory;          // GB
};
constexpr std::array gpu_rates = {GpuRate{"h200", 52.0, 51.7, 770, 141},
                                  GpuRate{"h100", 51.8, 54.6, 692, 80}};

struct DistArguments : ExtentArguments {
  std::string action, ranks, dtype = "f64", gpu, rate, grid, block, into, json;
  std::string latency = "5", bandwidth = "50", memory;
};

const GpuRate& find_gpu(const std::string& text) {
  std::vector<std::string_view> names;
  for (const GpuRate& gpu : gpu_rates) {
    if (text == gpu.name) return gpu;
    names.push_back(gpu.name);
  }
  throw UsageError(not_one_of("--gpu", text, names));
}

double read_positive(const std::string& option, const std::string& text) {
  const double value = read_number(option, text);
  if (value <= 0) throw UsageError(fmt::format("{}: '{}' is not above 0", option, text));
  return value;
}

std::vector<int> read_integers(const std::string& option, const std::string& text, char separator) {
  std::vector<int> values;
  for (const std::string& part : split(text, separator)) {
    values.push_back(static_cast<int>(read_integer(option, part, 1, 1 << 20)));
  }
  return values;
}

/// PxQ, or PxQxL.
std::vector<int> read_grid(const std::string& option, const std::string& text, std::size_t count) {
  const std::vector<int> grid = read_integers(option, text, 'x');
  if (grid.size() == count) return grid;
  throw UsageError(fmt::format("{}: '{}' is not {}", option, text, count == 2 ? "PxQ" : "PxQxL"));
}

/// The grid of all ranks that is closest to square.
std::vector<int> squarest(int ranks) {
  int rows = static_cast<int>(std::sqrt(ranks));
  while (ranks % rows != 0) --rows;
  return {rows, ranks / rows};
}

dist::Machine read_machine(const DistArguments& arguments) {
  dist::Machine machine;
  machine.latency = read_positive("--latency", arguments.latency) * 1e-6;
  machine.bandwidth = read_positive("--bandwidth", arguments.bandwidth) * 1e9;
  if (arguments.gpu.empty() && arguments.rate.empty()) {
    throw UsageError("--gpu or --rate: one is needed, for the rate of a rank's products");
  }
  if (!arguments.gpu.empty()) {
    const GpuRate& gpu = find_gpu(arguments.gpu);
    const double rate = arguments.dtype == "bf16"  ? gpu.bf16
                        : arguments.dtype == "f32" ? gpu.f32
                                                   : gpu.f64;
    machine.flops = rate * 1e12;
    machine.memory = static_cast<std::int64_t>(gpu.memory / 2 * 1e9);
  }
  if (!arguments.rate.empty()) machine.flops = read_positive("--rate", arguments.rate) * 1e12;
  if (!arguments.memory.empty()) {
    machine.memory = static_cast<std::int64_t>(read_positive("--memory", arguments.memory) * 1e9);
  }
  return machine;
}

dist::Problem read_problem(const DistArguments& arguments, int ranks) {
  if (!arguments.any()) throw UsageError("--m, --n, --k: at least one is needed");
  const SizeArgument size = read_extents(arguments);
  const std::vector<int> grid =
      arguments.grid.empty() ? squarest(ranks) : read_grid("--grid", arguments.grid, 2);
  const auto layout = [&](std::int64_t rows, std::int64_t cols) {
    if (arguments.block.empty()) return dist::blocks_2d(rows, cols, grid[0], grid[1]);
    const std::int64_t block = read_integer("--block", arguments.block, 1, max_extent);
    return dist::block_cyclic(rows, cols, block, block, grid[0], grid[1]);
  };
  const int result_bytes = arguments.dtype == "f64" ? 8 : 4;
  return {layout(size.m, size.k), layout(size.k, size.n),
          layout(size.m, size.n), arguments.dtype == "bf16" ? 2 : result_bytes,
          result_bytes,           ranks};
}

dist::Plan plan_of(const DistArguments& arguments, const dist::Machine& machine, int ranks) {
  try {
    const dist::Problem problem = read_problem(arguments, ranks);
    if (arguments.into.empty()) return make_plan(problem, machine);
    const std::vector<int> into = read_grid("--into", arguments.into, 3);
    const bool in_place =
        into[0] == problem.c.rows.procs && into[1] == problem.c.cols.procs && into[2] == 1;
    return make_plan(problem, machine,
                     {.rows = into[0], .cols = into[1], .layers = into[2], .in_place = in_place});
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

/// The bytes of all ranks: of the busiest, and the mean.
struct Summary {
  dist::Traffic most, sum;
  int ranks = 0;

  void add(const dist::Traffic& traffic) {
    most.sent = std::max(most.sent, traffic.sent);
    most.received = std::max(most.received, traffic.received);
    sum.sent += traffic.sent;
    sum.received += traffic.received;
    ++ranks;
  }
};

struct Bytes {
  Summary moves, summa, sums, all;
  std::int64_t least = 0;  // of the rank with the largest

  explicit Bytes(const dist::Plan& plan) {
    for (int rank = 0; rank < plan.problem.ranks; ++rank) {
      const dist::RankTraffic traffic = dry_run(plan, rank);
      moves.add(traffic.moves);
      summa.add(traffic.summa);
      sums.add(traffic.sums);
      all.add(traffic.total());
      least = std::max(least, least_for_layout(plan, rank));
    }
  }
};

std::string format_bytes(double bytes) {
  constexpr std::array units = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < units.size()) {
    bytes /= 1000;
    ++unit;
  }
  return fmt::format("{:.3g} {}", bytes, units[unit]);
}

double efficiency(const dist::Plan& plan, const dist::Machine& machine) {
  const auto extent = [](const dist::Axis& axis) { return static_cast<double>(axis.extent); };
  const dist::Problem& problem = plan.problem;
  const double flops = 2 * extent(problem.c.rows) * extent(problem.c.cols) * extent(problem.a.cols);
  return flops / (problem.ranks * machine.flops * plan.time.total());
}

std::string grid_text(const dist::Decomposition& grid) {
  return fmt::format("{} x {} x {}", grid.rows, grid.cols, grid.layers);
}

void print_layout(const dist::Plan& plan, const DistArguments& arguments) {
  const dist::Problem& problem = plan.problem;
  fmt::print("C = A B, {} x {} x {}, {}, on {} ranks\n\n", problem.c.rows.extent,
             problem.c.cols.extent, problem.a.cols.extent, arguments.dtype, problem.ranks);
  const std::string blocks = arguments.block.empty()
                                 ? "one block per rank"
                                 : fmt::format("{0} x {0} blocks in turn", arguments.block);
  fmt::print("operands       {} on a grid of {} x {}\n", blocks, problem.c.rows.procs,
             problem.c.cols.procs);
  fmt::print("divided into   {} (rows x columns x layers of k), {}\n", grid_text(plan.grid),
             plan.grid.in_place ? "C in place" : "copies of C are summed");
  fmt::print("moved first    {}\n", plan.moves_a && plan.moves_b ? "A and B"
                                    : plan.moves_a               ? "A"
                                    : plan.moves_b               ? "B"
                                                                 : "nothing");
  fmt::print("steps          {} of {} indices of k\n", plan.steps, plan.grid.panel);
  fmt::print("memory         {} per rank for copies and buffers\n\n",
             format_bytes(static_cast<double>(plan.copies)));
}

void print_bytes(const dist::Plan& plan, const Bytes& bytes, double bound) {
  Table table({"bytes per rank", "sent, most", "mean", "received, most", "mean"});
  const auto row = [&](const char* name, const Summary& summary) {
    const auto mean = [&](std::int64_t sum) {
      return format_bytes(static_cast<double>(sum) / summary.ranks);
    };
    const auto most = [](std::int64_t value) { return format_bytes(static_cast<double>(value)); };
    table.add_row({name, most(summary.most.sent), mean(summary.sum.sent),
                   most(summary.most.received), mean(summary.sum.received)});
  };
  row("moves of A and B", bytes.moves);
  row("panels", bytes.summa);
  row("sums of C", bytes.sums);
  row("all", bytes.all);
  fmt::print("{}\n", table.str());
  fmt::print("least for this division    {} sent and received, by one rank\n",
             format_bytes(static_cast<double>(bytes.least)));
  fmt::print("least for any algorithm    {} sent or received, by one rank of {}\n\n",
             format_bytes(bound), plan.problem.ranks);
}

void print_time(const dist::Plan& plan, const dist::Machine& machine) {
  fmt::print("expected time, at {} per message, {}/s each way and {} TFLOP/s per rank\n",
             format_seconds(machine.latency), format_bytes(machine.bandwidth),
             format_rate(machine.flops * 1e-12));
  const auto line = [](const char* name, double seconds) {
    fmt::print("  {:<14}{:>9}\n", name, seconds == 0 ? "0" : format_seconds(seconds));
  };
  line("moves", plan.time.moves);
  line("first panel", plan.time.fill);
  line("steps", plan.time.steps);
  line("sums", plan.time.sums);
  line("total", plan.time.total());
  fmt::print("The products alone take {}; {:.1f} % of all ranks' rate.\n",
             format_seconds(plan.time.product), 100 * efficiency(plan, machine));
}

Json to_json(const Summary& summary) {
  return {{"sent_most", summary.most.sent},
          {"sent_sum", summary.sum.sent},
          {"received_most", summary.most.received},
          {"received_sum", summary.sum.received}};
}

Json to_json(const dist::Plan& plan, const Bytes& bytes, double bound) {
  const dist::Problem& problem = plan.problem;
  return {{"ranks", problem.ranks},
          {"m", problem.c.rows.extent},
          {"n", problem.c.cols.extent},
          {"k", problem.a.cols.extent},
          {"grid", {problem.c.rows.procs, problem.c.cols.procs}},
          {"divided_into", {plan.grid.rows, plan.grid.cols, plan.grid.layers}},
          {"in_place", plan.grid.in_place},
          {"steps", plan.steps},
          {"panel", plan.grid.panel},
          {"copies_bytes", plan.copies},
          {"bytes",
           {{"moves", to_json(bytes.moves)},
            {"panels", to_json(bytes.summa)},
            {"sums", to_json(bytes.sums)},
            {"all", to_json(bytes.all)},
            {"least_for_division", bytes.least},
            {"lower_bound", bound}}},
          {"seconds",
           {{"moves", plan.time.moves},
            {"first_panel", plan.time.fill},
            {"steps", plan.time.steps},
            {"sums", plan.time.sums},
            {"product", plan.time.product},
            {"total", plan.time.total()}}}};
}

void print_scaling(const std::vector<dist::Plan>& plans, const std::vector<Bytes>& bytes,
                   const dist::Machine& machine) {
  Table table({"ranks", "divided into", "sent, most", "least", "product", "expected", "of rate"});
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const dist::Plan& plan = plans[i];
    table.add_row({std::to_string(plan.problem.ranks), grid_text(plan.grid),
                   format_bytes(static_cast<double>(bytes[i].all.most.sent)),
                   format_bytes(lower_bound(plan.problem, machine)),
                   format_seconds(plan.time.product), format_seconds(plan.time.total()),
                   fmt::format("{:.1f} %", 100 * efficiency(plan, machine))});
  }
  fmt::print("{}", table.str());
}

ExitCode run(const DistArguments& arguments) {
  if (arguments.action != "plan") {
    throw UsageError(fmt::format("ACTION: '{}' is not plan", arguments.action));
  }
  const std::string& dtype = arguments.dtype;
  if (dtype != "f32" && dtype != "f64" && dtype != "bf16") {
    throw unknown_choice("--dtype", dtype, "f32", "f64", "bf16");
  }
  const auto json = read_json(arguments.json);
  const dist::Machine machine = read_machine(arguments);
  std::vector<dist::Plan> plans;
  for (const int ranks : read_integers("--ranks", arguments.ranks, ',')) {
    plans.push_back(plan_of(arguments, machine, ranks));
  }
  const std::vector<Bytes> bytes(plans.begin(), plans.end());
  if (json) {
    Json all = Json::array();
    for (std::size_t i = 0; i < plans.size(); ++i) {
      all.push_back(to_json(plans[i], bytes[i], lower_bound(plans[i].problem, machine)));
    }
    json->write(dump({{"plans", all}}));
    if (json->is_stdout()) return exit_right;
  }
  if (plans.size() > 1) {
    print_scaling(plans, bytes, machine);
    return exit_right;
  }
  print_layout(plans[0], arguments);
  print_bytes(plans[0], bytes[0], lower_bound(plans[0].problem, machine));
  print_time(plans[0], machine);
  return exit_right;
}

}  // namespace

Action add_dist(Options& app) {
  auto arguments = std::make_shared<DistArguments>();
  app.add_option("ACTION", arguments->action, "plan")->type_name("")->required();
  app.add_option("--ranks", arguments->ranks,
                 "MPI ranks; several numbers give a table, a line for each")
      ->type_name("N,...")
      ->required();
  arguments->add_extents(app);
  app.add_option("--dtype", arguments->dtype, "Element type: f32, f64, or bf16 with f32 results")
      ->type_name("T")
      ->capture_default_str();
  app.add_option("--gpu", arguments->gpu, "GPU of each rank, for its measured rate: h200 or h100")
      ->type_name("GPU");
  app.add_option("--rate", arguments->rate, "Rate of a rank's products, in TFLOP/s")
      ->type_name("X");
  app.add_option("--latency", arguments->latency, "Time of a message, in microseconds")
      ->type_name("US")
      ->capture_default_str();
  app.add_option("--bandwidth", arguments->bandwidth,
                 "Bandwidth of a rank's link in each direction, in GB/s")
      ->type_name("X")
      ->capture_default_str();
  app.add_option("--memory", arguments->memory,
                 "Memory of a rank for copies, in GB (default: half of the GPU's, otherwise 1.07)")
      ->type_name("X");
  app.add_option("--grid", arguments->grid,
                 "Grid that A, B and C are on (default: the most square one of all ranks)")
      ->type_name("PxQ");
  app.add_option("--block", arguments->block,
                 "Block-cyclic operands, in blocks of NxN (default: one block per rank)")
      ->type_name("N");
  app.add_option("--into", arguments->into,
                 "Divide the product like this (default: what takes the least expected time)")
      ->type_name("PxQxL");
  app.add_option("--json", arguments->json, "Write JSON to FILE; - for standard output")
      ->type_name("FILE");
  app.footer(
      "Prints how librung_dist divides the product, the bytes that its ranks send and receive,\n"
      "counted by a dry run, the least that any algorithm sends, and the time that a model of\n"
      "latency, bandwidth and rate expects. Needs no MPI. docs/distributed.md explains both.\n\n"
      "Examples:\n"
      "  rung dist plan --ranks 512 --n 65536 --dtype bf16 --gpu h200\n"
      "  rung dist plan --ranks 1,8,64,512,4096 --n 131072 --dtype bf16 --gpu h200\n"
      "  rung dist plan --ranks 64 --m 1e6 --n 1000 --k 1000 --rate 0.05 --block 64");
  return [arguments] { return run(*arguments); };
}

}  // namespace rung
