#pragma once
// The argument of the kernels of parted_gemm.cu.

#include <cstddef>
#include <cstdint>

#include "core/problem.hpp"
#include "device/cuda/entry/launch.hpp"

namespace rung::cuda {

/// Some rows of a product. Rows count from the first one of a tensor map: A and C have two each.
struct PartOfRows {
  std::int32_t tiles_end = 0;  // the tiles of this part and of all before
  std::int32_t a_row = 0, c_row = 0, addend_row = 0;
  std::int32_t c_end = 0;  // the row behind the last one
  bool a_is_other = false, c_is_other = false, has_addend = false;
  /// If not null, the addend or, without one, A is there once the word is not 0.
  const unsigned* awaited = nullptr;
  /// If not null, becomes PartedArgs::finished_value when the results are stored.
  unsigned* finished = nullptr;
};

inline constexpr int most_parts_of_rows = 48;

/// The beginning is that of KernelArgs, so that the kernel finds its tensor maps.
template <class In>
struct PartedArgs {
  Gemm<In, In> problem;  // C is that of the first map, m is of no use
  SplitK split_k = {};
  TensorMaps maps = {};
  EncodedTensorMap other_a = {}, other_c = {}, addend = {};
  Matrix<In> matrix_of_other_c = {};
  unsigned* next_tile = nullptr;  // 0 before and after
  unsigned* stored = nullptr;     // for each part, how many warpgroups stored a tile; likewise
  PartOfRows parts[most_parts_of_rows] = {};
  int count = 0;
  unsigned finished_value = 1;
};

}  // namespace rung::cuda
