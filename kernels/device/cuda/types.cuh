#pragma once
// rung::float16 and rung::bfloat16 in device code, by the GPU's own conversions. The host's are
// those of rung/types.hpp: the same two bytes.

#include "device/cuda/ptx.cuh"

#ifdef RUNG_HOST

#include "rung/types.hpp"

#else

namespace rung {

// No member initialisers: shared memory holds only what needs no constructor.
struct bfloat16 {
  std::uint16_t bits;

  bfloat16() = default;
  __device__ explicit bfloat16(float value) : bits(ptx::cvt_rn_bf16_f32(value)) {}
  __device__ explicit operator float() const { return ptx::mov_f32_b32(std::uint32_t{bits} << 16); }
};

struct float16 {
  std::uint16_t bits;

  float16() = default;
  __device__ explicit float16(float value) : bits(ptx::cvt_rn_f16_f32(value)) {}
  __device__ explicit operator float() const { return ptx::cvt_f32_f16(bits); }
};

}  // namespace rung

#endif
