#pragma once
// Former names of rung/tile_signal_gemm.hpp.

#include "rung/tile_signal_gemm.hpp"

namespace rung {

using PartOfGemm [[deprecated("use TileSignalPart")]] = TileSignalPart;
using PartedGemm [[deprecated("use TileSignalGemm")]] = TileSignalGemm;

}  // namespace rung
