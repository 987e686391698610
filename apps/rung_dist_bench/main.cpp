// rung-dist-bench: tensor parallel products on the GPUs of this machine, against NCCL with cuBLAS.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <limits>

#include "core/cuda_driver/real_driver.hpp"
#include "environment.hpp"
#include "measure.hpp"
#include "tools/measure/statistics.hpp"

namespace rung::dist_bench {
namespace {

struct Arguments {
  int ranks = 2, rounds = 7;
  std::vector<std::int64_t> m = {256, 512, 1024, 2048, 4096, 8192, 16384};
  std::int64_t n = 8192, k = 8192;
  std::vector<std::string> operations = {"all_gather_gemm", "gemm_reduce_scatter",
                                         "gemm_all_reduce"};
  bool all_schedules = false;
  std::string json, timeline;
};

/// The library's transports, as constructed on each rank.
struct Library {
  std::vector<std::unique_ptr<dist::TensorParallel>> of_rank;

  Library(Team& team, const std::vector<void*>& comms, dist::Transport transport)
      : of_rank(comms.size()) {
    team.on_each([&](Rank&, int rank) {
      const auto at = static_cast<std::size_t>(rank);
      of_rank[at] = std::make_unique<dist::TensorParallel>(
          comms[at], dist::TensorParallelOptions{.timeout = 20, .transport = transport});
    });
  }
  void close(Team& team) {
    team.on_each([&](Rank&, int rank) { of_rank[static_cast<std::size_t>(rank)].reset(); });
  }
  dist::TensorParallel& at(int rank) { return *of_rank[static_cast<std::size_t>(rank)]; }
};

struct Libraries {
  Library automatic, nccl;
};

std::vector<Contender> contenders(Libraries& libraries, bool all_schedules) {
  const auto rung = [](Library& library, dist::TensorParallelCall call = {}) {
    return [&library, call](Rank& rank, int number) { rank.rung(library.at(number), call); };
  };
  std::vector<Contender> all = {{"rung", rung(libraries.automatic)},
                                {"rung over NCCL", rung(libraries.nccl)},
                                {"NCCL + cuBLAS", [](Rank& rank, int) { rank.nccl_and(true); }},
                                {"NCCL + rung", [](Rank& rank, int) { rank.nccl_and(false); }},
                                {"cuBLAS alone", [](Rank& rank, int) { rank.product_alone(true); }},
                                {"rung alone", [](Rank& rank, int) { rank.product_alone(false); }},
                                {"NCCL alone", [](Rank& rank, int) { rank.collective_alone(); }},
                                {"rung in a graph", [&libraries](Rank& rank, int number) {
                                   rank.rung_in_graph(libraries.automatic.at(number));
                                 }}};
  if (!all_schedules) return all;
  using dist::Schedule;
  all.push_back({"sequential", rung(libraries.automatic, {.schedule = Schedule::sequential})});
  all.push_back({"exchanged", rung(libraries.automatic, {.schedule = Schedule::exchanged})});
  for (const int chunks : {1, 2, 4, 8}) {
    const dist::TensorParallelCall call = {.schedule = Schedule::fused, .chunks = chunks};
    all.push_back({fmt::format("fused {}", chunks), rung(libraries.automatic, call)});
  }
  for (const int chunks : {1, 2, 4}) {
    const dist::TensorParallelCall call = {.schedule = Schedule::overlapped, .chunks = chunks};
    all.push_back({fmt::format("overlapped {}", chunks), rung(libraries.automatic, call)});
    all.push_back({fmt::format("overlapped {}, NCCL", chunks), rung(libraries.nccl, call)});
  }
  return all;
}

bool computes_results(const Contender& contender) {
  return contender.name.find("alone") == std::string::npos;
}

/// Keeps the results of NCCL + cuBLAS as those that are right. Sums are rounded at each rank, so others
/// differ by a few units of bf16.
void keep_results(Team& team, const Contender& reference) {
  team.on_each([&](Rank& rank, int number) {
    rank.restart();
    for (int set = 0; set < 2; ++set) reference.enqueue(rank, number);
    rank.synchronize();
    rank.keep_results();
  });
}

Operation operation_of(const std::string& text) {
  for (const Operation operation :
       {Operation::all_gather_gemm, Operation::gemm_reduce_scatter, Operation::gemm_all_reduce}) {
    if (name(operation) == text) return operation;
  }
  throw std::runtime_error(fmt::format("--operations: '{}' is unknown", text));
}

Json measure(Team& team, Libraries& libraries, const Arguments& arguments,
             const std::string& operation, std::int64_t m) {
  const Size size = {m, arguments.n, arguments.k};
  team.on_each([&](Rank& rank, int) { rank.set_up(operation_of(operation), size); });
  const std::vector<Contender> all = contenders(libraries, arguments.all_schedules);
  keep_results(team, all[2]);
  Json row = {
      {"operation", operation}, {"m", m}, {"n", size.n}, {"k", size.k}, {"ranks", team.ranks()},
      {"dtype", "bf16-bf16"}};
  std::map<std::string, double> differences;
  auto seconds = team.time(all, arguments.rounds, differences);
  constexpr double tolerance = 1.0 / 64;  // four units of bf16
  for (const Contender& contender : all) {
    if (!computes_results(contender)) continue;
    const double off = differences[contender.name];
    row["difference"][contender.name] = off;
    if (!(off < tolerance)) {
      throw std::runtime_error(fmt::format("{}, m = {}: {} is off by {} of the largest element",
                                           operation, m, contender.name, off));
    }
  }
  const auto median = [&](const std::string& which) { return summarize(seconds[which]).median; };
  const double ideal =
      std::max(std::min(median("cuBLAS alone"), median("rung alone")), median("NCCL alone"));
  row["ideal_seconds"] = ideal;
  fmt::print("{:<20}{:>6}  ideal {:8.1f}", operation, m, ideal * 1e6);
  for (const Contender& contender : all) {
    row["seconds"][contender.name] = to_json(summarize(seconds[contender.name]));
    row["over_ideal"][contender.name] = median(contender.name) / ideal;
    row["over_nccl_and_cublas"][contender.name] =
        median_ratio(seconds[contender.name], seconds["NCCL + cuBLAS"]);
    fmt::print("  {} {:.1f} ({:.2f})", contender.name, median(contender.name) * 1e6,
               median(contender.name) / ideal);
  }
  fmt::print("\n");
  std::fflush(stdout);
  return row;
}

Json to_json(const std::vector<dist::TimelineSpan>& spans) {
  Json all = Json::array();
  for (const dist::TimelineSpan& span : spans) {
    all.push_back({{"lane", span.lane},
                   {"work", span.work},
                   {"rows", span.rows},
                   {"begin", span.begin},
                   {"end", span.end}});
  }
  return all;
}

/// When the parts of one call ran on each rank, in one that follows others without a pause.
Json timeline(Team& team, Library& library, const dist::TensorParallelCall& call) {
  constexpr int calls_before = 8;  // while they run, the host gets ahead
  std::vector<std::vector<dist::TimelineSpan>> spans(static_cast<std::size_t>(team.ranks()));
  team.on_each([&](Rank& rank, int number) {
    dist::TensorParallelCall recorded = call;
    recorded.timeline = &spans[static_cast<std::size_t>(number)];
    for (int i = 0; i < calls_before; ++i) rank.rung(library.at(number), call);
    rank.rung(library.at(number), recorded);
  });
  Json all = Json::array();
  for (const auto& of_rank : spans) all.push_back(to_json(of_rank));
  return all;
}

Json timelines(Team& team, Library& library, const Arguments& arguments,
               const std::string& operation, std::int64_t m) {
  using enum dist::Schedule;
  const Size size = {m, arguments.n, arguments.k};
  team.on_each([&](Rank& rank, int) { rank.set_up(operation_of(operation), size); });
  std::vector<std::pair<std::string, dist::TensorParallelCall>> calls = {{"automatic", {}}};
  if (arguments.all_schedules) {
    calls.push_back({"sequential", {.schedule = sequential}});
    calls.push_back({"exchanged", {.schedule = exchanged}});
    for (const int chunks : {1, 2, 4}) {
      calls.push_back(
          {fmt::format("overlapped {}", chunks), {.schedule = overlapped, .chunks = chunks}});
    }
  }
  Json all = Json::array();
  for (const auto& [name, call] : calls) {
    all.push_back({{"operation", operation},
                   {"m", m},
                   {"n", size.n},
                   {"k", size.k},
                   {"schedule", name},
                   {"ranks", timeline(team, library, call)}});
  }
  return all;
}

void run(const Arguments& arguments) {
  const cuda::RealDriver& driver = cuda::real_driver();
  if (driver.api == nullptr) throw std::runtime_error(driver.why_not);
  const std::vector<void*> comms = make_nccl_comms(arguments.ranks);
  Team team(*driver.api, arguments.ranks, comms);
  Libraries libraries = {Library(team, comms, dist::Transport::automatic),
                         Library(team, comms, dist::Transport::nccl)};
  const bool copies = libraries.automatic.at(0).transport() == dist::Transport::copy_engine;
  Json json = {{"environment", environment()},
               {"gpu", team.rank(0).device_name()},
               {"ranks", arguments.ranks},
               {"nccl", nccl_version()},
               {"cublas", team.rank(0).cublas().version()},
               {"transport", copies ? "copy_engine" : "nccl"},
               {"results", Json::array()}};
  Json recorded = json;
  fmt::print("{} x {}, NCCL {}, cuBLAS {}, transport {}; us (over ideal)\n", arguments.ranks,
             team.rank(0).device_name(), nccl_version(), team.rank(0).cublas().version(),
             copies ? "copy_engine" : "nccl");
  std::fflush(stdout);
  for (const std::string& operation : arguments.operations) {
    for (const std::int64_t m : arguments.m) {
      json["results"].push_back(measure(team, libraries, arguments, operation, m));
      write(json, arguments.json);
    }
  }
  for (const std::string& operation : arguments.operations) {
    for (const std::int64_t m : arguments.m) {
      if (arguments.timeline.empty()) continue;
      for (const Json& one : timelines(team, libraries.automatic, arguments, operation, m)) {
        recorded["results"].push_back(one);
      }
      write(recorded, arguments.timeline);
    }
  }
  libraries.automatic.close(team);
  libraries.nccl.close(team);
}

}  // namespace
}  // namespace rung::dist_bench

int main(int argc, char** argv) {
  rung::dist_bench::Arguments arguments;
  const CLI::Range positive(1, std::numeric_limits<int>::max());
  CLI::App app("Times librung_nccl on the GPUs of this machine, in turn with NCCL and cuBLAS.");
  app.add_option("--ranks", arguments.ranks, "GPUs")->check(positive)->capture_default_str();
  app.add_option("--m", arguments.m, "Rows of C")
      ->delimiter(',')
      ->check(positive)
      ->capture_default_str();
  app.add_option("--n", arguments.n, "Columns of C, over all ranks")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--k", arguments.k, "Columns of A, over all ranks")
      ->check(positive)
      ->capture_default_str();
  app.add_option("--operations", arguments.operations, "What is timed")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--rounds", arguments.rounds, "Rounds of all contenders")
      ->check(positive)
      ->capture_default_str();
  app.add_flag("--schedules", arguments.all_schedules, "Time each schedule, too");
  app.add_option("--json", arguments.json, "Write JSON to FILE, or JSON Lines to FILE.jsonl")
      ->type_name("FILE");
  app.add_option("--timeline", arguments.timeline,
                 "Write when the parts of a call ran on each GPU, in the same forms")
      ->type_name("FILE");
  CLI11_PARSE(app, argc, argv);
  try {
    rung::dist_bench::require_writable(arguments.json);
    rung::dist_bench::require_writable(arguments.timeline);
    rung::dist_bench::run(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "rung-dist-bench: {}\n", error.what());
    return 1;
  }
  return 0;
}
