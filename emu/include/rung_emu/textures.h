#pragma once
// Texture and surface functions. A texture object is the address of a TextureData in device memory,
// which cudaCreateTextureObject fills, and a fetch is made of ordinary loads: the counters show
// them as such.

#include "rung_emu/texture_data.h"

// Reports name the line that calls one of these.
#pragma clang attribute push(__attribute__((nodebug)), apply_to = hasType(functionType))

#include "rung_emu/surface_access.h"
#include "rung_emu/texture_fetch.h"

#pragma clang attribute pop
