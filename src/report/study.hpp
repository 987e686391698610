#pragma once
// The comparable results of one op and type on one device: the contents of one table or plot.

#include <string>
#include <vector>

#include "report/results.hpp"

namespace rung {

class Study {
 public:
  explicit Study(const Result& first) : entries_{&first} {}

  /// Whether a result is of the same op, type, device, layout, alpha, beta and number of threads.
  bool takes(const Result& result) const;
  void add(const Result& result) { entries_.push_back(&result); }

  const Result& first() const { return *entries_.front(); }
  const std::vector<const Result*>& entries() const { return entries_; }
  bool on_gpu() const { return first().device.starts_with("gpu"); }

  /// "gemm f32", on a CPU "gemm f32, 2 threads"; with layout and operands unless they are the
  /// default.
  std::string name() const;
  /// "GFLOP/s" or "GB/s".
  std::string unit() const { return first().counts_flops() ? "GFLOP/s" : "GB/s"; }

  /// All rungs at one problem: the largest of the square ones at which the most rungs were timed.
  std::vector<const Result*> ladder() const;
  /// The library at every size, square ones first and by size; of repeated measurements, the last.
  std::vector<const Result*> library() const;
  /// Every rung that was timed at some square size, in order.
  std::vector<std::string> rungs() const;
  /// For one rung, or "library", at square sizes, by size.
  std::vector<const Result*> curve(const std::string& rung) const;
  /// Peers that were timed against the library or, without a library, against a rung.
  std::vector<std::string> peers() const;

 private:
  std::vector<const Result*> entries_;
};

/// In the order of the first entry of each. The results must outlive them.
std::vector<Study> studies_of(const Results& results);

/// The ratio to a peer, if it was timed.
std::optional<double> ratio_to(const Result& result, const std::string& peer);
/// The peer's seconds, if it was timed.
std::optional<double> seconds_of(const Result& result, const std::string& peer);
/// The geometric mean of the available ratios to a peer.
std::optional<double> mean_ratio(const std::vector<const Result*>& results,
                                 const std::string& peer);

}  // namespace rung
