#pragma once
// The C++ types of lanes, and the mapping from a function's signature to operand types.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "vgpu/model/instr.hpp"

namespace rung::vgpu {

/// An f16, a bf16 or a packed pair, as bits.
struct Half {
  std::uint16_t bits;
};
struct Bfloat {
  std::uint16_t bits;
};
struct Half2 {
  Half low, high;
};
struct Bfloat2 {
  Bfloat low, high;
};
/// A packed pair of f32 (f32x2).
struct Float2 {
  float low, high;
};
/// An 8-bit integer in a 16-bit row. Reads ignore the upper half; writes fill it with the extended
/// value.
struct U8 {
  std::uint16_t bits;
};
struct S8 {
  std::uint16_t bits;
};
/// A predicate as a mask over all bits of a lane, for selections in SIMD code.
template <class Word>
struct LaneMask {
  Word bits;
};
/// The argument for OpSpec::imm, which is not an operand.
struct Imm {
  std::uint64_t bits;
};

/// The unsigned integer with that many bytes.
template <std::size_t bytes>
using WordOf = std::conditional_t<bytes == 2, std::uint16_t,
                                  std::conditional_t<bytes == 4, std::uint32_t, std::uint64_t>>;

/// The bit of each lane in a mask, as a table: GCC does not vectorize 64-bit shifts by the lane.
template <class Word>
struct alignas(64) LaneBits {
  Word bit[32] = {};
  constexpr LaneBits() {
    for (int lane = 0; lane < 32; ++lane) bit[lane] = static_cast<Word>(std::uint64_t{1} << lane);
  }
};
template <class Word>
inline constexpr LaneBits<Word> lane_bits;

/// All ones if the lane's bit of the mask is set, 0 otherwise.
template <class Word>
inline Word lane_mask(std::uint32_t mask, int lane) {
  // GCC 12 turns the second form into a masked 16-bit maximum that it cannot compile.
  if constexpr (sizeof(Word) == 2) return static_cast<Word>(0 - ((mask >> lane) & 1));
  return (mask & lane_bits<Word>.bit[lane]) != 0 ? static_cast<Word>(~Word{0}) : Word{0};
}

/// `yes` where the mask is all ones, `no` where it is 0. Uses bitwise operations, even for floating
/// point, because compilers turn `m ? a : b` into branches.
template <class T>
inline T select(LaneMask<WordOf<sizeof(T)>> mask, T yes, T no) {
  using Word = WordOf<sizeof(T)>;
  const auto yes_bits = std::bit_cast<Word>(yes), no_bits = std::bit_cast<Word>(no);
  return std::bit_cast<T>(static_cast<Word>((yes_bits & mask.bits) | (no_bits & ~mask.bits)));
}

/// True for LaneMask types.
template <class T>
constexpr bool is_lane_mask = false;
template <class Word>
constexpr bool is_lane_mask<LaneMask<Word>> = true;

/// The PTX type of a lane. Integers are untyped if only the size matters.
template <class T>
constexpr ptx::Type ptx_type() {
  using ptx::Type;
  if constexpr (std::is_same_v<T, bool> || is_lane_mask<T>) return Type::pred;
  if constexpr (std::is_same_v<T, std::uint16_t> || std::is_same_v<T, U8>) return Type::u16;
  if constexpr (std::is_same_v<T, std::int16_t> || std::is_same_v<T, S8>) return Type::s16;
  if constexpr (std::is_same_v<T, std::uint32_t>) return Type::u32;
  if constexpr (std::is_same_v<T, std::int32_t>) return Type::s32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return Type::u64;
  if constexpr (std::is_same_v<T, std::int64_t>) return Type::s64;
  if constexpr (std::is_same_v<T, float>) return Type::f32;
  if constexpr (std::is_same_v<T, double>) return Type::f64;
  if constexpr (std::is_same_v<T, Half>) return Type::f16;
  if constexpr (std::is_same_v<T, Bfloat>) return Type::bf16;
  if constexpr (std::is_same_v<T, Half2>) return Type::f16x2;
  if constexpr (std::is_same_v<T, Bfloat2>) return Type::bf16x2;
  if constexpr (std::is_same_v<T, Float2>) return Type::b64;
  return Type::none;
}

/// Deduces operand types from an operation: a struct with a static function `run`, which takes the
/// sources in PTX order, and an Imm if needed, and returns the destination.
template <class Function>
struct Signature;

template <class R, class... A>
struct Signature<R (*)(A...)> {
  using Result = R;

  static std::vector<ptx::Type> operands() {
    std::vector<ptx::Type> types = {ptx_type<R>()};
    (append<A>(types), ...);
    return types;
  }

 private:
  template <class T>
  static void append(std::vector<ptx::Type>& types) {
    if constexpr (!std::is_same_v<T, Imm>) types.push_back(ptx_type<T>());
  }
};

template <class Op>
using SignatureOf = Signature<decltype(&Op::run)>;

/// The operand index of an argument. An Imm is not an operand.
template <class... A>
constexpr int row_of_argument(int argument) {
  constexpr bool is_imm[] = {std::is_same_v<A, Imm>..., false};
  int row = 1;
  for (int i = 0; i < argument; ++i) row += is_imm[i] ? 0 : 1;
  return row;
}

}  // namespace rung::vgpu
