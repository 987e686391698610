#pragma once
// The comparable results of one operation and data type on one device: the contents of one table or
// plot.

#include <map>
#include <string>
#include <vector>

#include "tools/report/bench_results.hpp"

namespace rung {

class Study {
 public:
  explicit Study(const Result& first) : entries_{&first} {}

  void add(const Result& result) { entries_.push_back(&result); }

  const Result& first() const { return *entries_.front(); }
  const std::vector<const Result*>& entries() const { return entries_; }
  bool on_gpu() const { return first().device.starts_with("gpu"); }

  /// "gemm f32", or "gemm f32, 2 threads" on a CPU; with layout and operands unless they are the
  /// defaults.
  std::string name() const;
  /// "GFLOP/s" or "GB/s".
  std::string unit() const { return first().counts_flops() ? "GFLOP/s" : "GB/s"; }

  /// All rungs for one problem: the square problem with the most timed rungs, or the largest of
  /// several. Uses the last of repeated measurements.
  std::vector<const Result*> ladder() const;
  /// The library at every size: square ones first, by size. Uses the last of repeated measurements.
  std::vector<const Result*> library() const;
  /// By rung, and for "library": the results at square sizes, by size.
  std::map<std::string, std::vector<const Result*>> curves() const;
  /// Peers that were timed together with the library, or with a rung if there is no library.
  std::vector<std::string> peers() const;

 private:
  std::vector<const Result*> entries_;
};

/// Groups results with the same operation, data type, device, layout, operands, family, alpha, beta
/// and number of threads and, for the library, compute mode. Sorted by their first entry, with gemm
/// before other operations. The results must outlive the studies.
std::vector<Study> studies_of(const Results& results);

/// The ratio to a peer, if it was timed.
std::optional<double> ratio_to(const Result& result, const std::string& peer);
/// The peer's seconds, if it was timed.
std::optional<double> seconds_of(const Result& result, const std::string& peer);
/// The geometric mean of the available ratios to a peer.
std::optional<double> mean_ratio(const std::vector<const Result*>& results,
                                 const std::string& peer);

}  // namespace rung
