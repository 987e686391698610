// rung verify: verifies every selected rung.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "arguments.hpp"
#include "command_line.hpp"
#include "core/dtype.hpp"
#include "core/quantize.hpp"
#include "core/standard_cases.hpp"
#include "core/verify.hpp"
#include "devices.hpp"
#include "progress.hpp"
#include "tools/measure/verify_weights.hpp"
#include "tools/report/json.hpp"
#include "tools/report/table.hpp"

namespace rung {
namespace {

struct VerifyArguments : CommonArguments {
  std::string sizes;
  std::string random = "0";
  std::string seed = "1";
};

/// The random problems to generate.
struct RandomProblems {
  int count = 0;
  std::uint64_t seed = 1;
};

// The outcome for one rung and dtype.
struct Outcome {
  std::string rung;
  Dtype dtype;
  int cases = 0;
  int wrong = 0;
  double max_error_ratio = 0;
  std::string message;  // the first wrong case
  std::string skipped;

  void add(const Verdict& verdict) {
    ++cases;
    max_error_ratio = std::max(max_error_ratio, verdict.max_error_ratio);
    if (verdict.right) return;
    if (wrong++ == 0) message = verdict.message;
  }
};

class Verification {
 public:
  Verification(const Backend& backend, int threads, std::vector<SizeArgument> sizes,
               RandomProblems random)
      : backend_(backend), threads_(threads), sizes_(std::move(sizes)), random_(random) {}

  Outcome run(const RungInfo& rung, Dtype dtype) const {
    Outcome outcome{rung.id, dtype, 0, 0, 0, {}, {}};
    if (takes_packed_weights(rung.id)) {
      run_packed_weights(rung, outcome);
    } else if (const auto reason = backend_.why_not(rung, dtype)) {
      outcome.skipped = *reason;
    } else if (rung.op == "gemm") {
      run_gemm(rung, outcome);
    } else {
      run_dot(rung, outcome);
    }
    return outcome;
  }

 private:
  void run_packed_weights(const RungInfo& rung, Outcome& outcome) const {
    if (const auto reason = backend_.absent()) {
      outcome.skipped = *reason;
      return;
    }
    verify_packed_weights(rung.id, outcome.dtype, backend_, threads_,
                          [&](const Verdict& verdict) { outcome.add(verdict); });
    if (outcome.cases == 0) outcome.skipped = no_dtype(outcome.dtype);
  }

  void run_gemm(const RungInfo& rung, Outcome& outcome) const {
    std::vector<GemmSpec> specs = standard_gemm_cases(outcome.dtype, Effort::quick);
    for (const SizeArgument& size : sizes_) {
      GemmSpec spec;
      spec.dtype = outcome.dtype;
      spec.m = size.m;
      spec.n = size.n;
      spec.k = size.k;
      specs.push_back(spec);
    }
    const auto random =
        random_gemm_cases(outcome.dtype, random_.count, max_multiply_adds(), random_.seed);
    specs.insert(specs.end(), random.begin(), random.end());
    for (const GemmSpec& spec : specs) {
      GemmCase problem(spec);
      problem.set_compute_mode(rung.compute_mode);
      problem.set_format(block_format(rung.needs));
      if (backend_.why_not(rung, problem.call())) continue;
      outcome.add(verify(
          problem, [&](const GemmCall& call) { ::rung::run(backend_, rung, call, threads_); }));
    }
  }

  void run_dot(const RungInfo& rung, Outcome& outcome) const {
    const Accuracy accuracy = accuracy_of(rung);
    std::vector<DotSpec> specs = standard_dot_cases(outcome.dtype, accuracy, Effort::quick);
    for (const SizeArgument& size : sizes_) {
      if (!size.is_single) continue;
      DotSpec spec;
      spec.dtype = outcome.dtype;
      spec.n = size.n;
      spec.accuracy = accuracy;
      specs.push_back(spec);
    }
    const auto random = random_dot_cases(outcome.dtype, accuracy, random_.count, random_.seed);
    specs.insert(specs.end(), random.begin(), random.end());
    for (DotSpec& spec : specs) {
      spec.sum = rung.op == "sum";
      DotCase problem(spec);
      if (backend_.why_not(rung, problem.call())) continue;
      outcome.add(verify(problem, [&](const DotCall& call) {
        return ::rung::run(backend_, rung, call, threads_);
      }));
    }
  }

  /// The limit of a random problem; low on the virtual GPU, which is slow.
  double max_multiply_adds() const {
    return backend_.device().starts_with("virtual") ? 0x1p20 : 0x1p28;
  }

  const Backend& backend_;
  int threads_;
  std::vector<SizeArgument> sizes_;
  RandomProblems random_;
};

/// Counts of a run's results, for the line at its end.
struct Total {
  int right = 0, wrong = 0, skipped = 0;  // pairs of a rung and a type
  int cases = 0;

  void add(const Outcome& outcome) {
    cases += outcome.cases;
    ++(outcome.cases == 0 ? skipped : outcome.wrong > 0 ? wrong : right);
  }

  /// "all right: 12 pairs of rung and type, 3,456 cases; 2 skipped"
  std::string text() const {
    const std::string what =
        fmt::format("{} cases", format_count(static_cast<std::uint64_t>(cases)));
    const std::string also = skipped == 0 ? "" : fmt::format("; {} skipped", skipped);
    if (wrong > 0) {
      return fmt::format("WRONG: {} of {} pairs of rung and type, {}{}", wrong, wrong + right, what,
                         also);
    }
    if (right == 0) return fmt::format("nothing verified{}", also);
    return fmt::format("all right: {} pair{} of rung and type, {}{}", right, right == 1 ? "" : "s",
                       what, also);
  }
};

void print(const Outcome& outcome) {
  std::string text;
  if (!outcome.skipped.empty()) {
    text = "skipped: " + outcome.skipped;
  } else if (outcome.wrong > 0) {
    text =
        fmt::format("WRONG in {} of {} cases: {}", outcome.wrong, outcome.cases, outcome.message);
  } else {
    text = fmt::format("right in {} cases, error {:.2f} of bound", outcome.cases,
                       outcome.max_error_ratio);
  }
  fmt::print("{:<28} {:<9}  {}\n", outcome.rung, name(outcome.dtype), text);
}

Json to_json(const Outcome& outcome, const Backend& backend, int threads) {
  Json json = {{"rung", outcome.rung},
               {"dtype", name(outcome.dtype)},
               {"device", backend.device()},
               {"threads", threads}};
  if (!outcome.skipped.empty()) {
    json.update({{"verified", false}, {"skipped", outcome.skipped}});
    return json;
  }
  const double ratio = std::min(outcome.max_error_ratio, std::numeric_limits<double>::max());
  json.update(
      {{"cases", outcome.cases}, {"verified", outcome.wrong == 0}, {"max_error_ratio", ratio}});
  if (outcome.wrong > 0) json["wrong"] = outcome.message;
  return json;
}

/// Throws UsageError for operands that this machine's memory cannot hold.
void check_sizes(const std::vector<const RungInfo*>& rungs, const std::vector<SizeArgument>& sizes,
                 const std::vector<Dtype>& dtypes) {
  for (const RungInfo* rung : rungs) {
    for (const Dtype dtype : dtypes) {
      for (const auto& [m, n, k, is_single] : sizes) {
        if (rung->op == "gemm") check_memory(rung->op, {m, n, k}, dtype);
        if (rung->op != "gemm" && is_single) check_memory(rung->op, {1, n, 1}, dtype);
      }
    }
  }
}

ExitCode run(const VerifyArguments& arguments) {
  const auto rungs = read_selectors(arguments.selectors);
  const int threads = arguments.thread_count();
  std::vector<Dtype> dtypes(all_dtypes.begin(), all_dtypes.end());
  if (!arguments.dtype.empty()) dtypes = {read_dtype(arguments.dtype)};
  std::vector<SizeArgument> sizes;
  if (!arguments.sizes.empty()) sizes = read_sizes(arguments.sizes, 0);
  const RandomProblems random = {
      static_cast<int>(read_integer("--random", arguments.random, 0, 1'000'000)),
      static_cast<std::uint64_t>(read_integer("--seed", arguments.seed, 0, 1'000'000'000))};
  check_sizes(rungs, sizes, dtypes);
  const Devices devices(arguments);
  for (const RungInfo* rung : rungs)
    devices.of(*rung);  // the program without GPUs continues elsewhere
  const auto output = read_json(arguments.json);

  Json results = Json::array();
  const bool prints = !output || !output->is_stdout();
  Total total;
  Progress progress;
  const auto all = static_cast<double>(rungs.size() * dtypes.size());
  double done = 0;
  for (const RungInfo* rung : rungs) {
    const Backend& backend = devices.of(*rung);
    const Verification verification(backend, threads, sizes, random);
    for (const Dtype dtype : dtypes) {
      progress.show(fmt::format("verifying {} {}", rung->id, name(dtype)), "rungs", done / all);
      const Outcome outcome = verification.run(*rung, dtype);
      progress.clear();
      ++done;
      if (arguments.dtype.empty() && outcome.skipped == no_dtype(dtype)) continue;
      total.add(outcome);
      results.push_back(to_json(outcome, backend, threads));
      if (prints) print(outcome);
    }
  }
  if (prints) fmt::print("{}\n", total.text());
  if (output) output->write(dump({{"results", results}}));
  if (total.wrong > 0) return exit_wrong;
  return total.cases > 0 ? exit_right : exit_unavailable;
}

}  // namespace

Action add_verify(Options& app) {
  auto arguments = std::make_shared<VerifyArguments>();
  arguments->add_selectors(app, true);
  arguments->add_device_dtype_threads(app);
  app.add_option("--sizes", arguments->sizes, "Also verify these comma-separated sizes")
      ->type_name("N|MxNxK,...");
  app.add_option("--random", arguments->random, "Also verify N random problems (default: 0)")
      ->type_name("N");
  app.add_option("--seed", arguments->seed, "Seed of the random problems (default: 1)")
      ->type_name("S");
  arguments->add_json(app);
  app.footer(
      "Runs each rung on a standard list of sizes, layouts, alpha and beta for every type that it\n"
      "supports (or --dtype), and checks each element against its error bound.\n\n"
      "Examples:\n  rung verify gemm/cpu\n  rung verify dot/cpu/02 --dtype f64 --sizes 1e6\n"
      "  rung verify gemm/cuda/29 --device gpu --random 2000");
  return [arguments] { return run(*arguments); };
}

}  // namespace rung
