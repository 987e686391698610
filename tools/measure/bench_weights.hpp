#pragma once
// Packed weights for the benchmark, and the same weights as a 16-bit matrix for contenders without
// support for packed weights.

#include <cstdint>
#include <vector>

#include "core/operand.hpp"
#include "rung/weight_only.hpp"
#include "tools/measure/workload.hpp"

namespace rung {

class BenchWeights {
 public:
  /// Empty if WorkloadOptions::weight_bits is 0.
  BenchWeights(const Size& size, const WorkloadOptions& options);

  /// Generates random weights, packs them, and sets b (k x n, or n x k if transposed) to their
  /// values: numbers with at most eight significant bits.
  void fill(const Operand& b, bool b_transposed);

  const Operand& memory() const { return memory_; }
  PackedWeights packed() const { return packed_; }
  double bytes() const { return static_cast<double>(memory_.cols()); }

 private:
  QuantizedWeights quantized() const;
  void set(std::int64_t row, std::int64_t step, int element);

  std::int64_t n_ = 0, k_ = 0;
  int bits_, group_;
  std::vector<std::uint8_t> elements_;
  std::vector<float> scales_;
  Operand memory_;
  PackedWeights packed_;
};

}  // namespace rung
