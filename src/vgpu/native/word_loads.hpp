#pragma once
// Loads of sixteen lanes' words whose addresses are a constant stride apart.

#include <cstdint>
#include <span>

#include "vgpu/native/emitter.hpp"

namespace rung::vgpu::native {

/// One word per lane, `stride` bytes apart. Changes the emitter's temporaries.
void load_strided(Emitter& c, const Xbyak::Zmm& to, const Xbyak::RegExp& from, std::int32_t stride);

/// Four adjacent words per lane, word by word. Changes the emitter's temporaries.
void load_transposed(Emitter& c, std::span<const Xbyak::Zmm, 4> to, const Xbyak::RegExp& from,
                     std::int32_t stride);

}  // namespace rung::vgpu::native
