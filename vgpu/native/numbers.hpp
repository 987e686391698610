#pragma once
// Numbers that AVX2 code loads from memory, replicated to all lanes of a register.

#include <array>
#include <cstdint>

namespace rung::vgpu::native {

struct Numbers {
  using Words = std::array<std::uint32_t, 8>;
  using Doublewords = std::array<std::uint64_t, 4>;

  static constexpr Words words(std::uint32_t bits) {
    return {bits, bits, bits, bits, bits, bits, bits, bits};
  }
  static constexpr Doublewords doublewords(std::uint64_t bits) { return {bits, bits, bits, bits}; }

  // Shift counts that move the bit of a lane, out of eight, to the highest bit of its words.
  Words shifts_of_32 = {31, 30, 29, 28, 27, 26, 25, 24};
  std::array<Words, 2> shifts_of_64 = {
      {{31, 31, 30, 30, 29, 29, 28, 28}, {27, 27, 26, 26, 25, 25, 24, 24}}};
  Words nan = words(0x7FFFFFFF);  // PTX's canonical NaN
  Words ones = words(0xFFFFFFFF);
  Words highest_of_32 = words(0x80000000);
  Doublewords highest_of_64 = doublewords(std::uint64_t{1} << 63);
  Doublewords max_shift = doublewords(63);
  Words float_2_16 = words(0x47800000);
  Words float_2_31 = words(0x4F000000);
  Words float_2_32 = words(0x4F800000);
  Doublewords double_2_52 = doublewords(0x4330000000000000);

  static const Numbers all;
};

}  // namespace rung::vgpu::native
