#pragma once
// <metal_pack>: normalized integers in a word.

namespace metal {
namespace rung_detail {

/// The component of `bits` bits at index i of a word, as a number in [0, 1] or [-1, 1].
template <int bits, bool is_signed>
RUNG_METAL float unpack(uint word, int i) {
  const uint field = word << (32 - bits * (i + 1));
  if (is_signed) {
    const float most = static_cast<float>((1 << (bits - 1)) - 1);
    return __builtin_fmaxf(static_cast<float>(static_cast<int>(field) >> (32 - bits)) / most, -1);
  }
  return static_cast<float>(field >> (32 - bits)) / static_cast<float>((1u << bits) - 1);
}
template <int bits, bool is_signed>
RUNG_METAL uint pack(float value, int i) {
  const float most = static_cast<float>(is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1);
  const float low = is_signed ? -1.0f : 0.0f;
  const float scaled = __builtin_rintf(__builtin_fminf(__builtin_fmaxf(value, low), 1.0f) * most);
  return (static_cast<uint>(static_cast<int>(scaled)) & ((1u << bits) - 1)) << (bits * i);
}

}  // namespace rung_detail

#define RUNG_METAL_PACK(name, T, N, bits, is_signed)                             \
  RUNG_METAL vec<T, N> unpack_##name##_to_##T(uint word) {                       \
    vec<T, N> result;                                                            \
    for (int i = 0; i < N; ++i) {                                                \
      result[i] = static_cast<T>(rung_detail::unpack<bits, is_signed>(word, i)); \
    }                                                                            \
    return result;                                                               \
  }                                                                              \
  RUNG_METAL uint pack_##T##_to_##name(vec<T, N> v) {                            \
    uint word = 0;                                                               \
    for (int i = 0; i < N; ++i) {                                                \
      word |= rung_detail::pack<bits, is_signed>(static_cast<float>(v[i]), i);   \
    }                                                                            \
    return word;                                                                 \
  }
RUNG_METAL_PACK(unorm4x8, float, 4, 8, false)
RUNG_METAL_PACK(snorm4x8, float, 4, 8, true)
RUNG_METAL_PACK(unorm4x8, half, 4, 8, false)
RUNG_METAL_PACK(snorm4x8, half, 4, 8, true)
RUNG_METAL_PACK(unorm2x16, float, 2, 16, false)
RUNG_METAL_PACK(snorm2x16, float, 2, 16, true)
RUNG_METAL_PACK(unorm2x16, half, 2, 16, false)
RUNG_METAL_PACK(snorm2x16, half, 2, 16, true)
#undef RUNG_METAL_PACK

}  // namespace metal
