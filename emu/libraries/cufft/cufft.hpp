#pragma once
// Declarations that the files of cuFFT share.

#include <optional>

#include "cufft.h"

namespace rung::emu {

/// The type of a plan; empty for an unknown handle and for a plan that was created but not made.
std::optional<cufftType> cufft_type(cufftHandle handle);

}  // namespace rung::emu
