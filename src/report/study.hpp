#pragma once
// The comparable results of one op and type on one device: the contents of one table or plot.

#include <map>
#include <string>
#include <vector>

#include "report/bench_results.hpp"

namespace rung {

class Study {
 public:
  explicit Study(const Result& first) : entries_{&first} {}

  void add(const Result& result) { entries_.push_back(&result); }

  const Result& first() const { return *entries_.front(); }
  const std::vector<const Result*>& entries() const { return entries_; }
  bool on_gpu() const { return first().device.starts_with("gpu"); }

  /// "gemm f32", on a CPU "gemm f32, 2 threads"; with layout and operands unless they are the
  /// default.
  std::string name() const;
  /// "GFLOP/s" or "GB/s".
  std::string unit() const { return first().counts_flops() ? "GFLOP/s" : "GB/s"; }

  /// All rungs at one problem: the square one at which the most were timed, the largest of these;
  /// where a rung was measured twice, the last.
  std::vector<const Result*> ladder() const;
  /// The library at every size, square ones first and by size; of repeated measurements, the last.
  std::vector<const Result*> library() const;
  /// Of each rung, and "library", that was timed at some square size: the results there, by size.
  std::map<std::string, std::vector<const Result*>> curves() const;
  /// Peers that were timed against the library, or against a rung where there is no library.
  std::vector<std::string> peers() const;

 private:
  std::vector<const Result*> entries_;
};

/// Results of the same op, type, device, layout, operands, family, alpha, beta and number of
/// threads, and of the library in the same compute mode, in
/// the order of the first entry of each, gemm before other ops. The results must outlive them.
std::vector<Study> studies_of(const Results& results);

/// The ratio to a peer, if it was timed.
std::optional<double> ratio_to(const Result& result, const std::string& peer);
/// The peer's seconds, if it was timed.
std::optional<double> seconds_of(const Result& result, const std::string& peer);
/// The geometric mean of the available ratios to a peer.
std::optional<double> mean_ratio(const std::vector<const Result*>& results,
                                 const std::string& peer);

}  // namespace rung
