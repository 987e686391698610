#pragma once
// What the files of cuFFT share.

#include <optional>

#include "cufft.h"

namespace rung::emu {

/// Of a plan that was made; nothing if there is no such plan, or it was only created.
std::optional<cufftType> cufft_type(cufftHandle handle);

}  // namespace rung::emu
