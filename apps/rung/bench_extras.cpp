#include "bench_extras.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "devices.hpp"
#include "report_files.hpp"
#include "tools/report/baseline.hpp"
#include "tools/report/measured_results.hpp"
#include "tools/report/page/page.hpp"

namespace rung {
namespace {

/// Reads the results of an earlier run; nullopt without --baseline.
std::optional<Results> read_baseline(const std::string& file) {
  if (file.empty()) return std::nullopt;
  try {
    return read_results({file}, Results::Forms::all);
  } catch (const std::runtime_error& error) {
    throw UsageError(fmt::format("--baseline: {}", error.what()));
  }
}

/// The results for a comparison, without a description of the machine.
Results all_of(const std::vector<BenchResult>& results) {
  return results_of(results, Json::object(), Results::Forms::all);
}

class Extras final : public BenchExtras {
 public:
  explicit Extras(const BenchArguments& arguments)
      : arguments_(arguments),
        page_(read_output("--html", arguments.html)),
        baseline_(read_baseline(arguments.baseline)) {}

  bool uses_stdout() const override { return page_ && page_->is_stdout(); }
  bool needs_machine() const override { return page_.has_value(); }

  std::string comparison(const std::vector<BenchResult>& results) const override {
    if (!baseline_) return "";
    return "\n" + baseline_text(all_of(results), *baseline_, arguments_.baseline);
  }

  void add_comparison(Json& json, const std::vector<BenchResult>& results) const override {
    if (!baseline_) return;
    const Results now = all_of(results);
    for (std::size_t i = 0; i < now.entries.size(); ++i) {
      const auto found = change_of(now.entries[i], *baseline_);
      if (!found) continue;
      json["results"][i]["baseline"] = {
          {"seconds", found->before}, {"ratio", found->ratio}, {"change", name(found->change)}};
    }
  }

  void write_page(const std::vector<BenchResult>& results, const Json& machine) const override {
    if (!page_) return;
    const Results measured = results_of(results, machine, Results::Forms::single_products);
    DeviceOptions options = read_device_options(arguments_);
    options.observe = true;
    page_->write(report_page(measured, trace_rungs(measured, options)));
  }

 private:
  BenchArguments arguments_;
  std::optional<OutputFile> page_;
  std::optional<Results> baseline_;
};

}  // namespace

std::unique_ptr<BenchExtras> read_extras(const BenchArguments& arguments) {
  if (arguments.html.empty() && arguments.baseline.empty()) return nullptr;
  return std::make_unique<Extras>(arguments);
}

}  // namespace rung
