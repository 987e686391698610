#pragma once
// The element types of rung/types.hpp in device code: the same bytes. Those of 16 bits are
// converted by the GPU itself; the others are for tensor cores alone.

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

struct tfloat32 {
  float value;
};
struct float8_e4m3 {
  std::uint8_t bits;
};
struct float8_e5m2 {
  std::uint8_t bits;
};

}  // namespace rung

#endif
