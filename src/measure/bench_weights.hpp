#pragma once
// Packed weights for the bench, and the same ones as a matrix of 16 bits for those who have none.

#include <cstdint>
#include <vector>

#include "core/operand.hpp"
#include "measure/workload.hpp"
#include "rung/weight_only.hpp"

namespace rung {

class BenchWeights {
 public:
  /// Without WorkloadOptions::weight_bits, empty.
  BenchWeights(const Size& size, const WorkloadOptions& options);

  /// Draws weights, packs them, and sets b, k x n or n x k, to what they are: numbers of at most eight
  /// significant bits.
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
