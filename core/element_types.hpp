#pragma once
// The supported combinations of element types: the single list from which names, kernels and tables
// derive. Shared by kernels and the host.
//
// To add a combination, add a line here. A new type also needs a storage class on the host
// (include/rung/storage_types.hpp, with conversions in types.hpp) and on devices
// (device/cuda/types.cuh), its instruction (device/cuda/ptx/), and an entry in the list at the end
// of each rung that supports it.

#include <cstdint>

namespace rung {

struct bfloat16;
struct float16;
struct tfloat32;
struct float8_e4m3;
struct float8_e5m2;

/// DTYPE(suffix, input type, result type): the types of dot products and sums.
#define RUNG_DOT_DTYPES(DTYPE)             \
  DTYPE(f32, float, float)                 \
  DTYPE(f64, double, double)               \
  DTYPE(i32, std::uint32_t, std::uint32_t) \
  DTYPE(bf16, bfloat16, float)             \
  DTYPE(f16, float16, float)

/// All types. Among several with the same inputs, the first has the widest results.
#define RUNG_DTYPES(DTYPE)              \
  RUNG_DOT_DTYPES(DTYPE)                \
  DTYPE(tf32, tfloat32, float)          \
  DTYPE(i8, std::int8_t, std::uint32_t) \
  DTYPE(e4m3, float8_e4m3, float)       \
  DTYPE(e5m2, float8_e5m2, float)       \
  DTYPE(bf16_bf16, bfloat16, bfloat16)  \
  DTYPE(f16_f16, float16, float16)

/// Named after the input type. Floating-point types narrower than f32 are summed and returned as
/// f32, and i8 as i32. bf16_bf16 and f16_f16 are summed in f32 and rounded to the input type.
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

/// The C++ types of a dtype: ElementsOf<Dtype::bf16>::In is bfloat16.
template <Dtype dtype>
struct ElementsOf;
#define RUNG_ELEMENTS(suffix, In, Out) \
  template <>                          \
  struct ElementsOf<Dtype::suffix> : Elements<In, Out> {};
RUNG_DTYPES(RUNG_ELEMENTS)
#undef RUNG_ELEMENTS

}  // namespace rung
