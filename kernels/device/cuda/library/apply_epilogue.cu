// Applies an epilogue to products whose kernel has none: reads sums from device memory and writes
// results of any type and layout. Registered like a rung, but not on the ladder.
// needs: sm_80

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/epilogue/element.cuh"
#include "device/cuda/library/apply_epilogue.hpp"

#ifdef RUNG_HOST

namespace rung {

extern const cuda::GemmRung gemm_cuda_library_apply_epilogue = {
    .entry = "gemm_cuda_library_apply_epilogue", .launches = {}, .tiles = {}};

}  // namespace rung

#else

namespace rung::cuda {

/// Steps 1 to 5 of rung::Epilogue for one element of the product.
template <class Sum, class E>
__device__ __forceinline__ E before_activation(const ApplyEpilogue& apply, E factor,
                                               std::int64_t row, std::int64_t col) {
  const EpilogueArgs& args = apply.args;
  E t = 0;
  if (apply.sums != nullptr) {
    t = factor * static_cast<E>(static_cast<const Sum*>(apply.sums)[row * args.n + col]);
  }
  if (args.row_scale.data != nullptr) t *= load<E>(args.row_scale, row, col);
  if (args.col_scale.data != nullptr) t *= load<E>(args.col_scale, row, col);
  if (args.beta != 0.0) t += static_cast<E>(args.beta) * load<E>(args.c, row, col);
  if (args.row_bias.data != nullptr) t += load<E>(args.row_bias, row, col);
  if (args.col_bias.data != nullptr) t += load<E>(args.col_bias, row, col);
  if (args.aux.data != nullptr) store(args.aux, row, col, t);
  return t;
}

template <class Sum, class E>
__device__ __forceinline__ E result(const ApplyEpilogue& apply, E factor, std::int64_t row,
                                    std::int64_t col) {
  const EpilogueArgs& args = apply.args;
  const bool of_rows = args.pairs == Pairs::of_rows, of_cols = args.pairs == Pairs::of_columns;
  const std::int64_t first_row = of_rows ? 2 * row : row, first_col = of_cols ? 2 * col : col;
  E u = activated(args.activation, before_activation<Sum, E>(apply, factor, first_row, first_col));
  if (args.pairs != Pairs::none) {
    u *= before_activation<Sum, E>(apply, factor, first_row + (of_rows ? 1 : 0),
                                   first_col + (of_cols ? 1 : 0));
  }
  if (args.residual.data != nullptr) u += load<E>(args.residual, row, col);
  return u;
}

template <class Sum, class E>
__device__ __forceinline__ void apply_epilogue(const ApplyEpilogue& apply) {
  const EpilogueArgs& args = apply.args;
  const E factor =
      static_cast<E>(args.alpha) * scale_of<E>(args.scale_a) * scale_of<E>(args.scale_b);
  const E result_factor = static_cast<E>(args.result_factor) * scale_of<E>(args.result_scale);
  const std::int64_t rows = args.result_rows(), cols = args.result_cols();
  const auto tiles_in_row = static_cast<unsigned>(ceil_div(cols, ApplyEpilogue::cols));
  const std::int64_t first = std::int64_t{blockIdx.x / tiles_in_row} * ApplyEpilogue::rows;
  const std::int64_t col =
      std::int64_t{blockIdx.x % tiles_in_row} * ApplyEpilogue::cols + threadIdx.x;
  std::uint32_t largest = 0;
  RUNG_NO_UNROLL
  for (int i = 0; i < ApplyEpilogue::rows; i += ApplyEpilogue::rows_at_once) {
    const std::int64_t row = first + i + threadIdx.y;
    if (row >= rows || col >= cols) continue;
    const E v = result<Sum, E>(apply, factor, row, col);
    const std::uint32_t magnitude = magnitude_of(static_cast<float>(v));
    largest = magnitude > largest ? magnitude : largest;
    store(args.c, row, col, result_factor * v);
  }
  if (args.amax == nullptr) return;
  largest = ptx::redux_max_u32(largest);
  if (threadIdx.x % 32 == 0) ptx::red_max_u32(args.amax, largest);
}

}  // namespace rung::cuda

// One entry for each type of sums.
#define RUNG_APPLY_EPILOGUE(suffix, Sum, E)                                        \
  extern "C" __global__ void __launch_bounds__(                                    \
      rung::cuda::ApplyEpilogue::cols* rung::cuda::ApplyEpilogue::rows_at_once)    \
      gemm_cuda_library_apply_epilogue_##suffix(rung::cuda::ApplyEpilogue apply) { \
    rung::cuda::apply_epilogue<Sum, E>(apply);                                     \
  }
RUNG_APPLY_EPILOGUE(f32, float, float)
RUNG_APPLY_EPILOGUE(f64, double, double)
RUNG_APPLY_EPILOGUE(i32, std::int32_t, float)

#endif
