#pragma once
// Loads of one word, or four, for as many lanes as a register holds.

#include <cstdint>
#include <span>

#include "vgpu/model/kernel.hpp"
#include "vgpu/native/emitter.hpp"

namespace rung::vgpu::native {

/// The number of 32-bit lanes of a register.
inline int words_of(const Vectors& vectors) {
  return vectors.bytes / static_cast<int>(sizeof(std::uint32_t));
}

/// Offset of a lane's address from the lowest address of the warp. The pattern must not be
/// scattered.
std::int32_t offset_of_lane(const LoadPattern& pattern, int lane);

/// Loads one word per lane, `stride` bytes apart. Changes the emitter's temporaries.
void load_strided(Emitter& c, const Vector& to, const Xbyak::RegExp& from, std::int32_t stride);

/// Loads four adjacent words per lane, one register for each of the four. Changes the emitter's
/// temporaries.
void load_transposed(Emitter& c, std::span<const Vector, 4> to, const Xbyak::RegExp& from,
                     std::int32_t stride);

}  // namespace rung::vgpu::native
