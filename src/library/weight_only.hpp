#pragma once
// Products by packed weights: checked, and on the CPU.

#include <cstdint>

#include "core/call.hpp"
#include "device/pack_weights.hpp"
#include "rung/weight_only.hpp"

namespace rung {

/// Checked weights to be packed, and what becomes of them.
struct PackCall {
  QuantizedRows from;
  WeightLayout layout;
  void* to;
  PackedWeights packed;
};

/// Throws rung::Error (Status::invalid_argument).
PackCall canonical(const QuantizedWeights& weights, void* packed);

/// `product` is of bf16, f16 or their forms with rounded results. It has no B; C has any strides. If
/// alpha or k was 0, k is.
struct WeightOnlyCall {
  GemmCall product;
  const unsigned char* weights;
  WeightLayout layout;
};

/// Throws rung::Error (Status::invalid_argument).
WeightOnlyCall canonical(double alpha, const InputMatrix& a, const PackedWeights& weights,
                         double beta, const OutputMatrix& c);

namespace check {

/// Throws rung::Error for modes in which these products are not computed.
void mode_of_weight_only(ComputeMode mode);

}  // namespace check

namespace cpu {

/// They throw std::bad_alloc.
PackedWeights pack_weights(const PackCall& call, const GemmOptions& options);
void gemm_weight_only(const WeightOnlyCall& call, const GemmOptions& options);

}  // namespace cpu
}  // namespace rung
