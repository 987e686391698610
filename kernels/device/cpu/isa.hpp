#pragma once
// Sets of instruction-set extensions: requirements of kernels and capabilities of this CPU.

#include <cstdint>
#include <string_view>

namespace rung::cpu {

/// A set of instruction-set extensions. Sets are compared by inclusion, because extensions have no
/// linear order: NEON and SSE4 do not contain each other.
class Isa {
 public:
  static const Isa scalar, neon, neon_dotprod, neon_bf16, sse2, sse4, avx2, avx_vnni, avx512,
      avx512_vnni, avx512_bf16, amx;

  constexpr bool contains(Isa other) const { return (bits_ & other.bits_) == other.bits_; }
  /// True if vectors have at most 256 bits: AVX2 with or without AVX-VNNI.
  constexpr bool ends_with_avx2() const;

  friend constexpr Isa operator|(Isa a, Isa b) { return Isa(a.bits_ | b.bits_); }
  friend constexpr bool operator==(Isa, Isa) = default;

 private:
  explicit constexpr Isa(std::uint32_t bits) : bits_(bits) {}

  std::uint32_t bits_;
};

inline constexpr Isa Isa::scalar{0};
inline constexpr Isa Isa::neon{1u << 0};
/// Dot products of bytes in 128-bit vectors: FEAT_DotProd.
inline constexpr Isa Isa::neon_dotprod = neon | Isa{1u << 9};
/// Dot products of bfloat16: FEAT_BF16.
inline constexpr Isa Isa::neon_bf16 = neon_dotprod | Isa{1u << 10};
inline constexpr Isa Isa::sse2{1u << 1};
inline constexpr Isa Isa::sse4 = sse2 | Isa{1u << 2};
/// Includes FMA, BMI2 and F16C.
inline constexpr Isa Isa::avx2 = sse4 | Isa{1u << 3};
/// Dot products of bytes in 256-bit vectors, with VEX encoding.
inline constexpr Isa Isa::avx_vnni = avx2 | Isa{1u << 5};
/// F, VL, DQ, BW and CD.
inline constexpr Isa Isa::avx512 = avx2 | Isa{1u << 4};
/// Dot products of bytes in 512-bit vectors.
inline constexpr Isa Isa::avx512_vnni = avx512 | Isa{1u << 6};
/// Dot products of bfloat16.
inline constexpr Isa Isa::avx512_bf16 = avx512_vnni | Isa{1u << 7};
/// Tiles, with products of bfloat16 and of bytes. The process must also request the tile state from
/// the operating system.
inline constexpr Isa Isa::amx = avx512_bf16 | Isa{1u << 8};

constexpr bool Isa::ends_with_avx2() const { return contains(avx2) && !contains(avx512); }

/// The name of the largest set that `isa` contains, as in RUNG_ISA.
std::string_view name(Isa isa);

/// The extensions of this CPU. If the environment variable RUNG_ISA names a set that the CPU has,
/// returns that set.
Isa find_isa();

}  // namespace rung::cpu
