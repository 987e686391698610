#pragma once
// Loads of as many lanes' words as a register holds.

#include <cstdint>
#include <span>

#include "vgpu/model/kernel.hpp"
#include "vgpu/native/emitter.hpp"

namespace rung::vgpu::native {

/// The number of lanes of a register of words.
inline int words_of(const Vectors& vectors) {
  return vectors.bytes / static_cast<int>(sizeof(std::uint32_t));
}

/// From the lowest address of a warp's lanes to that of a lane. The pattern must not be scattered.
std::int32_t offset_of_lane(const LoadPattern& pattern, int lane);

/// One word per lane, `stride` bytes apart. Changes the emitter's temporaries.
void load_strided(Emitter& c, const Vector& to, const Xbyak::RegExp& from, std::int32_t stride);

/// Four adjacent words per lane, word by word. Changes the emitter's temporaries.
void load_transposed(Emitter& c, std::span<const Vector, 4> to, const Xbyak::RegExp& from,
                     std::int32_t stride);

}  // namespace rung::vgpu::native
