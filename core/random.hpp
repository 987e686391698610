#pragma once
// Test data as a function of the element's index, so that any element can be recomputed.

#include <cstdint>
#include <limits>
#include <type_traits>

namespace rung {

struct float16;
struct float8_e4m3;
struct float8_e5m2;

/// The kinds of values that fill operands. i32 and i8 use their full range for every kind.
enum class Values : std::uint8_t {
  reals,     // uniform in [-1, 1], every bit of the significand random
  tiny,      // like reals, scaled towards the smallest normal number
  wide,      // like reals, each scaled by a random power of two from 2^-8 to 2^7
  integers,  // integers in [-4, 4]: sums of products are exact in any order
  nan,       // like reals, with one NaN in each input
  infinity,  // like reals, with one infinity in each input
};

/// 64 random bits for an index: the finalizer of SplitMix64 (Steele, Lea and Flood, 2014).
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t bits = seed * 0xD1342543DE82EF95u + (index + 1) * 0x9E3779B97F4A7C15u;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  return bits ^ (bits >> 31);
}

/// A random number in [0, count), for count > 0.
constexpr std::int64_t random_below(std::int64_t count, std::uint64_t seed, std::uint64_t index) {
  return static_cast<std::int64_t>(random_bits(seed, index) % static_cast<std::uint64_t>(count));
}

/// The power of two that scales an element if values is `wide`, otherwise 1.
constexpr float widening(Values values, std::uint64_t bits) {
  return values == Values::wide ? static_cast<float>(1u << (bits & 15)) * 0x1p-8f : 1.0f;
}

/// The scale of `tiny` values of a type. Products of two are still normal floats.
template <class T>
constexpr float tiny_scale = 0x1p-71f;
template <>
inline constexpr float tiny_scale<float16> = 0x1p-39f;
template <>
inline constexpr float tiny_scale<float8_e4m3> = 0x1p-36f;
template <>
inline constexpr float tiny_scale<float8_e5m2> = 0x1p-41f;

/// Element `index` of the operand with seed `seed`. For nan and infinity, returns the underlying
/// reals.
template <class T>
T random_element(Values values, std::uint64_t seed, std::int64_t index) {
  const std::uint64_t bits = random_bits(seed, static_cast<std::uint64_t>(index));
  if constexpr (std::is_same_v<T, std::uint32_t>) {
    return static_cast<std::uint32_t>(bits >> 32);
  } else if constexpr (std::is_same_v<T, std::int8_t>) {
    return static_cast<std::int8_t>(bits >> 56);
  } else if (values == Values::integers) {
    return T(static_cast<float>(static_cast<int>((bits >> 32) % 9) - 4));
  } else if constexpr (std::is_same_v<T, double>) {
    const double scale = values == Values::tiny ? 0x1p-363 : 0x1p-63;
    return static_cast<double>(static_cast<std::int64_t>(bits)) * scale * widening(values, bits);
  } else {
    const float scale = values == Values::tiny ? tiny_scale<T> : 0x1p-31f;
    return T(static_cast<float>(static_cast<std::int32_t>(bits >> 32)) * scale *
             widening(values, bits));
  }
}

}  // namespace rung
