#pragma once
// The parameter of the kernels in tile_signal_gemm.cu.

#include <cstddef>
#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/entry/launch.hpp"

namespace rung::cuda {

/// A range of rows of a product. Row numbers are relative to a tensor map; A and C have two maps
/// each.
struct PartOfRows {
  std::int32_t tiles_end = 0;  // number of tiles up to the end of this part
  std::int32_t a_row = 0, c_row = 0, addend_row = 0;
  std::int32_t c_end = 0;  // first row after the part
  bool a_is_other = false, c_is_other = false, has_addend = false;
  /// If not null: the addend (or A, without one) is available once the word is nonzero.
  const unsigned* awaited = nullptr;
  /// If not null: set to TileSignalArgs::finished_value when the results are stored.
  unsigned* finished = nullptr;
};

inline constexpr int max_parts_of_rows = 48;

/// Begins like KernelArgs, so that the kernel finds its tensor maps.
template <class In>
struct TileSignalArgs {
  Gemm<In, In> problem;  // C is that of the first map; m is not used
  SplitK split_k = {};
  TensorMaps maps = {};
  EncodedTensorMap other_a = {}, other_c = {}, addend = {};
  Matrix<In> matrix_of_other_c = {};
  unsigned* next_tile = nullptr;  // warpgroups that have stored a tile, per part; also 0
  unsigned* stored = nullptr;     // for each part, the number of warpgroups that have stored a
                                  // tile; 0 before and after a launch
  PartOfRows parts[max_parts_of_rows] = {};
  int count = 0;
  unsigned finished_value = 1;
};

}  // namespace rung::cuda
