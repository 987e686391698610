#pragma once
// Reads the JSON of `rung bench`, the source of all figures of a report.

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rung {

using Json = nlohmann::ordered_json;

/// The largest elementwise error of C in units of its roundoff, relative to |A||B|, and the
/// normwise error.
struct MeasuredErrors {
  double largest = 0, normwise = 0;
};

struct PeerResult {
  std::string name;
  std::optional<double> seconds;
  std::optional<double> ratio;  // peer time divided by ours; above 1, ours is faster
  std::optional<MeasuredErrors> errors;
  std::optional<double> graph_ratio;  // the same inside a graph
};

/// The parts of a problem beyond one plain product.
struct ProblemForm {
  std::int64_t batch = 1, groups = 0;
  std::string skew, epilogue, scales, weights;

  bool operator==(const ProblemForm&) const = default;
  bool is_plain() const { return *this == ProblemForm{}; }
  /// "batch=16 epilogue=bias"; empty for a plain product.
  std::string text() const;
};

/// A rung, or the library, on one problem.
struct Result {
  std::string rung;   // id, or "library"
  std::string chose;  // for the library: the rung that it used
  std::string op, dtype, device, layout, operands;
  std::string math, family;  // for gemm: compute mode, and distribution of the elements
  int threads = 0;
  std::int64_t m = 0, n = 0, k = 0;  // 0 if the operation has no such extent
  double alpha = 1, beta = 0;
  std::size_t source = 0;  // index in Results::sources

  ProblemForm form;

  std::optional<double> seconds, q1, q3, graph_seconds;  // medians; empty if not timed
  std::size_t samples = 0;
  std::optional<double> gflops, gbps;
  std::string ceiling;                                // name
  std::optional<double> ceiling_rate, ceiling_ratio;  // GFLOP/s or GB/s
  std::string previous;                               // id of the rung that it improves on
  std::optional<double> previous_ratio;
  std::vector<PeerResult> peers;
  std::optional<MeasuredErrors> errors;
  bool verified = false;
  std::string skipped, wrong;

  bool timed() const { return seconds.has_value(); }
  bool is_library() const { return rung == "library"; }
  bool counts_flops() const { return op == "gemm"; }
  /// The rate in GFLOP/s, or in GB/s for memory-bound operations.
  double rate() const { return (counts_flops() ? gflops : gbps).value_or(0); }
};

/// A random shape of `rung bench --random` with data type and layout.
struct RandomDraw {
  std::string dtype, layout, device;
  std::int64_t seed = 0, max_size = 0;  // of the run
  int threads = 0;                      // of the run on a CPU; 0 on a GPU
  std::int64_t m = 0, n = 0, k = 0;
  double flops_per_byte = 0;
  std::optional<double> ratio;   // time of the fastest peer divided by the library's
  std::optional<double> regret;  // time of the chosen plan divided by the fastest plan's
  std::size_t source = 0;        // index in Results::sources
};

class BenchFile;

/// One input file.
struct Source {
  std::string file;
  std::shared_ptr<const Json> machine;
};

struct Results {
  std::vector<Source> sources;
  std::vector<Result> entries;
  std::vector<RandomDraw> random;

  /// Pages do not show batches, groups and products with an epilogue or block scales.
  enum class Forms : std::uint8_t { single_products, all };

  /// Adds the contents of a file; all of them or nothing. Throws json::ReadError with the file, the
  /// line or result, the field and what is wrong there: a wrong type, a missing value, or a number
  /// that cannot be a measurement.
  void add(const BenchFile& file, Forms forms = Forms::single_products);
  void add(const std::string& file, const Json& document, Forms forms = Forms::single_products);
};

/// Reads files in either form (tools/analysis/bench_file.hpp). Throws json::ReadError as add() does.
Results read_results(const std::vector<std::string>& files,
                     Results::Forms forms = Results::Forms::single_products);

/// "4096³", "16×4096×4096", "100 000 000".
std::string size_name(const Result& result);
/// True if the extents are nearly equal; always true for dot products.
bool is_square(const Result& result);
/// The number of multiply-adds.
double volume(const Result& result);
/// "05_vectors"
std::string slug_of(std::string_view id);
/// The number of a ladder rung, such as "07", or the whole name of a library kernel, from an id or slug.
std::string short_name(std::string_view id);

}  // namespace rung
