#pragma once
// Outputs of rung bench that need more than its results: --baseline and --html.

#include <memory>
#include <string>
#include <vector>

#include "bench_arguments.hpp"
#include "tools/measure/bench.hpp"
#include "tools/report/json.hpp"

namespace rung {

class BenchExtras {
 public:
  virtual ~BenchExtras() = default;

  virtual bool uses_stdout() const = 0;
  virtual bool needs_machine() const = 0;
  /// The comparison with the baseline, to be printed; empty without one.
  virtual std::string comparison(const std::vector<BenchResult>& results) const = 0;
  /// Adds the comparison to each result that the baseline has: "baseline": {"seconds", "ratio", "change"}.
  virtual void add_comparison(Json& json, const std::vector<BenchResult>& results) const = 0;
  /// Writes the page, if there is one.
  virtual void write_page(const std::vector<BenchResult>& results, const Json& machine) const = 0;
};

/// Null if the arguments ask for neither. Throws UsageError.
std::unique_ptr<BenchExtras> read_extras(const BenchArguments& arguments);

}  // namespace rung
