#pragma once
// Reads the JSON of `rung bench`: the source of every figure of a report.

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rung {

using Json = nlohmann::ordered_json;

/// The largest error in units of the roundoff of C, relative to |A||B|, and that of C as a whole.
struct MeasuredErrors {
  double largest = 0, normwise = 0;
};

struct PeerResult {
  std::string name;
  std::optional<double> seconds;
  std::optional<double> ratio;  // peer time over ours: above 1, ours is faster
  std::optional<MeasuredErrors> errors;
};

/// One rung, or the library, on one problem.
struct Result {
  std::string rung;   // id, or "library"
  std::string chose;  // for the library: the rung that it ran
  std::string op, dtype, device, layout, operands;
  std::string math, family;  // of gemm: compute mode, and how elements are drawn
  int threads = 0;
  std::int64_t m = 0, n = 0, k = 0;  // 0: the op has no such extent
  double alpha = 1, beta = 0;
  std::size_t source = 0;  // index in Results::sources

  std::string form;  // of a batch, of groups, or with an epilogue: what else the problem says

  std::optional<double> seconds, q1, q3, graph_seconds;  // medians; empty if it was not timed
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
  /// GFLOP/s, or GB/s for an op that is bound by memory.
  double rate() const { return (counts_flops() ? gflops : gbps).value_or(0); }
};

/// One random shape of `rung bench --random` in one type and layout.
struct RandomDraw {
  std::string dtype, layout, device;
  std::int64_t m = 0, n = 0, k = 0;
  double flops_per_byte = 0;
  std::optional<double> ratio;   // time of the fastest peer over the library's
  std::optional<double> regret;  // time of the chosen plan over that of the fastest
};

/// One input file.
struct Source {
  std::string file;
  std::shared_ptr<const Json> machine;
};

struct Results {
  std::vector<Source> sources;
  std::vector<Result> entries;
  std::vector<RandomDraw> random;

  /// Pages have no place for batches, groups and products with an epilogue or block scales.
  enum class Forms : std::uint8_t { single_products, all };

  /// Adds what a bench gave; all of it or nothing. Throws json::ReadError with the file, the field
  /// and what is wrong there: of another type, missing, or no number that was ever measured.
  void add(const std::string& file, const Json& bench, Forms forms = Forms::single_products);
};

/// Throws json::ReadError with the file, the field and what is wrong there.
Results read_results(const std::vector<std::string>& files,
                     Results::Forms forms = Results::Forms::single_products);

/// "4096³", "16×4096×4096", "100 000 000".
std::string size_name(const Result& result);
/// Whether the extents are nearly equal; true for every length of a dot product.
bool is_square(const Result& result);
/// Multiply-adds.
double volume(const Result& result);
/// "05_vectors"
std::string slug_of(std::string_view id);

}  // namespace rung
