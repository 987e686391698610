#pragma once
// The combinations of element types that Rung computes with: the one list from which names, kernels
// and tables derive. Kernels and the host include it.
//
// A new combination is a line here. A type that is new as well needs its storage class on the host
// (include/rung/types.hpp) and on devices (device/cuda/types.cuh), its instruction
// (device/cuda/ptx/), and a place in the list at the end of each rung that multiplies it.

#include <cstdint>

namespace rung {

struct bfloat16;
struct float16;
struct tfloat32;
struct float8_e4m3;
struct float8_e5m2;

/// DTYPE(suffix, type of the inputs, type of the results): those of dot products and sums.
#define RUNG_DOT_DTYPES(DTYPE)             \
  DTYPE(f32, float, float)                 \
  DTYPE(f64, double, double)               \
  DTYPE(i32, std::uint32_t, std::uint32_t) \
  DTYPE(bf16, bfloat16, float)             \
  DTYPE(f16, float16, float)

/// All of them. Of several with the same inputs, the first has the widest results.
#define RUNG_DTYPES(DTYPE)              \
  RUNG_DOT_DTYPES(DTYPE)                \
  DTYPE(tf32, tfloat32, float)          \
  DTYPE(i8, std::int8_t, std::uint32_t) \
  DTYPE(e4m3, float8_e4m3, float)       \
  DTYPE(e5m2, float8_e5m2, float)       \
  DTYPE(bf16_bf16, bfloat16, bfloat16)  \
  DTYPE(f16_f16, float16, float16)

/// Named after the inputs. What is narrower than f32 is summed and returned as f32, i8 as i32;
/// bf16_bf16 and f16_f16 are summed in f32 and rounded to the type of the inputs.
enum class Dtype : std::uint8_t {
#define RUNG_ENUMERATOR(suffix, In, Out) suffix,
  RUNG_DTYPES(RUNG_ENUMERATOR)
#undef RUNG_ENUMERATOR
};

template <class InType, class OutType>
struct Elements {
  using In = InType;
  using Out = OutType;
};

/// The types behind a dtype: ElementsOf<Dtype::bf16>::In is bfloat16.
template <Dtype dtype>
struct ElementsOf;
#define RUNG_ELEMENTS(suffix, In, Out) \
  template <>                          \
  struct ElementsOf<Dtype::suffix> : Elements<In, Out> {};
RUNG_DTYPES(RUNG_ELEMENTS)
#undef RUNG_ELEMENTS

}  // namespace rung
