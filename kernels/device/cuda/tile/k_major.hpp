#pragma once
// The types that wgmma reads from K-major tiles only: tf32, and those of one byte. The host packs other
// operands first (library/pack_operand.cu).

namespace rung {

struct tfloat32;

namespace cuda {

template <class In>
inline constexpr bool requires_k_major = sizeof(In) == 1;
template <>
inline constexpr bool requires_k_major<tfloat32> = true;

}  // namespace cuda
}  // namespace rung
