#include "tune_cpu.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "command_line.hpp"
#include "core/dtype.hpp"
#include "core/tuned_path.hpp"
#include "device/cpu/machine.hpp"
#include "progress.hpp"
#include "standard_output.hpp"
#include "tools/measure/tune_cpu.hpp"
#include "tools/report/json.hpp"
#include "tuned_file.hpp"

namespace rung {
namespace {

constexpr double seconds_per_rung = 0.05;

/// The file of factors, which other runs may have filled for the other type.
class FactorsFile {
 public:
  explicit FactorsFile(const std::string& path)
      : path_(results_path(path, tuned_path(cpu::model()))) {
    try {
      factors_ = parse_cost_factors(text_of(path_));
    } catch (const std::runtime_error& error) {
      throw UsageError(fmt::format("-o: {}", error.what()));
    }
  }

  const std::string& path() const { return path_; }

  void set(Dtype dtype, const CpuTuneResult& result) {
    factors_.of(dtype) = result.factors;
    OutputFile(path_).write(format_cost_factors(factors_, cpu::model()));
  }

 private:
  std::string path_;
  CostFactors factors_;
};

std::vector<Dtype> read_dtypes(const TuneArguments& arguments) {
  if (arguments.dtype.empty()) return {Dtype::f32, Dtype::f64};
  const Dtype dtype = read_dtype(arguments.dtype);
  if (dtype == Dtype::f32 || dtype == Dtype::f64) return {dtype};
  throw UsageError(fmt::format(
      "--dtype: '{}' has rules on the CPU and no costs; tune gemm/cpu takes f32 and f64",
      arguments.dtype));
}

std::vector<Size> read_shapes(const TuneArguments& arguments, Dtype dtype) {
  std::vector<Size> shapes;
  if (arguments.sizes.empty()) return shapes;
  for (const auto& [m, n, k, is_single] : read_sizes(arguments.sizes, 1)) {
    check_memory("gemm", {m, n, k}, dtype);
    shapes.push_back({m, n, k});
  }
  return shapes;
}

void print(std::FILE* out, Dtype dtype, const CpuTuneResult& result) {
  fmt::print(out, "gemm/cpu {}: {} problems\n", name(dtype), result.shapes);
  for (std::size_t i = 0; i < rungs_with_costs; ++i) {
    fmt::print(out, "  {:<28}{:>7.3f}\n", ids_with_costs()[i], result.factors[i]);
  }
  fmt::print(out, "  chosen over fastest: {:.3f} before, {:.3f} after\n", result.regret_before,
             result.regret_after);
  for (const std::string& wrong : result.wrong) fmt::print(out, "WRONG: {}\n", wrong);
  if (out == stdout) flush_output();
}

Json to_json(Dtype dtype, const CpuTuneResult& result) {
  Json factors = Json::object();
  for (std::size_t i = 0; i < rungs_with_costs; ++i) {
    factors[std::string(ids_with_costs()[i])] = result.factors[i];
  }
  return {{"dtype", name(dtype)},
          {"device", cpu::model()},
          {"problems", result.shapes},
          {"factors", std::move(factors)},
          {"regret_before", result.regret_before},
          {"regret_after", result.regret_after},
          {"wrong", result.wrong}};
}

}  // namespace

ExitCode tune_gemm_cpu(const TuneArguments& arguments) {
  const std::vector<Dtype> dtypes = read_dtypes(arguments);
  CpuTuneRequest request;
  request.seconds = arguments.seconds.empty() ? seconds_per_rung : read_seconds(arguments.seconds);
  request.sizes = read_shapes(arguments, dtypes.back());
  FactorsFile file(arguments.output);
  const auto output = read_json(arguments.json);
  std::FILE* const out = output && output->is_stdout() ? stderr : stdout;

  fmt::print(out, "on {}: factors of the expected times, one thread\n\n", cpu::model());
  Json results = Json::array();
  bool any_wrong = false;
  for (const Dtype dtype : dtypes) {
    request.dtype = dtype;
    CpuTuneResult result;
    {
      Progress progress;
      request.progress = [&](std::string_view what, double done) {
        progress.show(fmt::format("gemm/cpu: {}", what), std::string(name(dtype)), done);
      };
      result = tune_cpu(request);
    }
    print(out, dtype, result);
    any_wrong = any_wrong || !result.wrong.empty();
    if (result.wrong.empty()) file.set(dtype, result);
    results.push_back(to_json(dtype, result));
  }
  if (!any_wrong) fmt::print(out, "\nkept in {}\n", file.path());
  if (output) output->write(dump(results));
  return any_wrong ? exit_wrong : exit_right;
}

}  // namespace rung
