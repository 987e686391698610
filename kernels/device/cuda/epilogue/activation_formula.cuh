#pragma once
// Applies activations to sums in registers. Two formulas with run-time constants cover all
// activations but gelu_erf, which reduces the amount of compiled code.

#include "core/epilogue.hpp"
#include "device/activation.hpp"
#include "device/cuda/epilogue/element.cuh"
#include "device/cuda/keywords.cuh"

#ifndef RUNG_HOST

namespace rung::cuda {

/// Any activation except gelu_erf.
class ActivationFormula {
  using Function = Activations<GpuMath>;

 public:
  __device__ __forceinline__ explicit ActivationFormula(Activation activation) {
    const bool is_gelu = activation == Activation::gelu_tanh;
    is_smooth_ = is_gelu || activation == Activation::silu;
    linear_ = static_cast<float>(is_gelu ? gelu_tanh_step.linear : silu_step.linear);
    cubic_ = is_gelu ? static_cast<float>(gelu_tanh_step.cubic) : 0.0f;
    floor_ = activation == Activation::relu ? 0.0f : -__builtin_inff();
  }

  template <int J>
  __device__ __forceinline__ void apply(float (&t)[J][4]) const {
    if (is_smooth_) {
      RUNG_UNROLL
      for (int j = 0; j < J; ++j) {
        float by[4];
        RUNG_UNROLL
        for (int i = 0; i < 4; ++i) {
          // In this order, a cubic coefficient of 0 contributes 0 for any t.
          by[i] = Function::divisor(t[j][i] * (linear_ + cubic_ * t[j][i] * t[j][i]));
        }
        Function::divide(t[j], by);
      }
    } else {
      RUNG_UNROLL
      for (int j = 0; j < J; ++j) {
        RUNG_UNROLL
        for (int i = 0; i < 4; ++i) t[j][i] = t[j][i] < floor_ ? floor_ : t[j][i];
      }
    }
  }

 private:
  float floor_;           // lower bound: 0 for relu, otherwise none
  float linear_, cubic_;  // coefficients of a SmoothStep
  bool is_smooth_;
};

}  // namespace rung::cuda

#endif
