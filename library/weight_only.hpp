#pragma once
// Products by packed weights: argument checks, and the CPU implementation.

#include <cstdint>

#include "core/call.hpp"
#include "device/pack_weights.hpp"
#include "rung/weight_only.hpp"

namespace rung {

/// Checked weights to be packed, and the resulting description.
struct PackCall {
  QuantizedRows from;
  WeightLayout layout;
  void* to;
  PackedWeights packed;
};

/// Throws rung::Error (Status::invalid_argument).
PackCall canonical(const QuantizedWeights& weights, void* packed);

/// `product` is bf16 or f16, or the variants with rounded results. It has no B, and C may have any
/// strides. If alpha or k is 0, k is set to 0.
struct WeightOnlyCall {
  GemmCall product;
  const unsigned char* weights;
  WeightLayout layout;
};

/// Throws rung::Error (Status::invalid_argument).
WeightOnlyCall canonical(double alpha, const InputMatrix& a, const PackedWeights& weights,
                         double beta, const OutputMatrix& c);

namespace check {

/// Throws rung::Error for unsupported modes.
void mode_of_weight_only(ComputeMode mode);

}  // namespace check

namespace cpu {

/// Throw std::bad_alloc.
PackedWeights pack_weights(const PackCall& call, const GemmOptions& options);
void gemm_weight_only(const WeightOnlyCall& call, const GemmOptions& options);

}  // namespace cpu
}  // namespace rung
