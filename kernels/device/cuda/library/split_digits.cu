// Splits a K-major float operand into 8-bit digits for tensor cores: scales each row of A or column
// of B by a power of two and rounds to integers of three digits. Registered like a rung, but not on
// the ladder.

#include "device/cuda/library/split_digits.hpp"

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/ptx/sums.cuh"
#include "device/cuda/types.cuh"

#ifdef RUNG_HOST

namespace rung {

extern const cuda::GemmRung gemm_cuda_library_split_digits = {
    .entry = "gemm_cuda_library_split_digits", .launches = {}, .tiles = {}};

}  // namespace rung

#else

namespace rung::cuda {

inline constexpr int lanes = 32;
inline constexpr int warps = SplitDigits::threads / lanes;
inline constexpr int width = 4;  // adjacent elements per thread

/// Loads a row's elements from `first`; zeros after its end.
__device__ __forceinline__ void load(const SplitDigits& split, const float* row, std::int64_t first,
                                     float (&x)[width]) {
  const bool is_vector =
      first + width <= split.row_length && reinterpret_cast<std::uintptr_t>(row + first) % 16 == 0;
  if (is_vector) {
    const auto vector = *reinterpret_cast<const Vector<float, width>*>(row + first);
    RUNG_UNROLL
    for (int i = 0; i < width; ++i) x[i] = vector.at[i];
  } else {
    RUNG_UNROLL
    for (int i = 0; i < width; ++i) x[i] = first + i < split.row_length ? row[first + i] : 0.0f;
  }
}

/// Each block splits whole rows.
__device__ __forceinline__ void split_rows(const SplitDigits& split) {
  __shared__ unsigned largest[warps];
  __shared__ unsigned long long squares[warps];
  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / lanes;
  const std::int64_t bytes = SplitDigits::bytes_in_row(split.row_length);
  for (std::int64_t row = blockIdx.x; row < split.rows; row += gridDim.x) {
    const float* const from = split.from + row * split.from_ld;
    unsigned most = 0;
    for (std::int64_t i = thread * width; i < split.row_length; i += width * SplitDigits::threads) {
      float x[width];
      load(split, from, i, x);
      RUNG_UNROLL
      for (int w = 0; w < width; ++w) {
        const unsigned bits = digits::magnitude_bits(x[w]);
        most = bits > most ? bits : most;
      }
    }
    RUNG_UNROLL
    for (unsigned by = lanes / 2; by > 0; by /= 2) {
      const unsigned other = ptx::shfl_down(most, by);
      most = other > most ? other : most;
    }
    if (thread % lanes == 0) largest[warp] = most;
    // sync: all warps have found their maximum
    __syncthreads();
    RUNG_UNROLL
    for (int w = 0; w < warps; ++w) most = largest[w] > most ? largest[w] : most;

    const bool is_finite = most < digits::infinity_bits;
    const int unit = is_finite ? digits::unit_of(most) : 0;
    std::int64_t sum = 0;
    auto* const to = static_cast<std::int8_t*>(split.to) + row * bytes;
    for (std::int64_t i = thread * width; i < bytes / digits::count;
         i += width * SplitDigits::threads) {
      float x[width];
      load(split, from, i, x);
      Vector<std::int8_t, width> result[digits::count];
      RUNG_UNROLL
      for (int w = 0; w < width; ++w) {
        const std::int32_t q = is_finite ? digits::integer_of(x[w], unit) : 0;
        const digits::Digits all = digits::digits_of(q);
        RUNG_UNROLL
        for (int d = 0; d < digits::count; ++d) result[d].at[w] = all.at[d];
        sum += digits::square_of(q);
      }
      constexpr int chunk = SplitDigits::chunk;
      auto* const first = to + i / chunk * digits::count * chunk + i % chunk;
      RUNG_UNROLL
      for (int d = 0; d < digits::count; ++d) {
        *reinterpret_cast<Vector<std::int8_t, width>*>(first + d * chunk) = result[d];
      }
    }
    // Integer sums do not depend on the order.
    RUNG_UNROLL
    for (unsigned by = lanes / 2; by > 0; by /= 2) {
      const auto low = static_cast<std::uint32_t>(sum);
      const auto high = static_cast<std::uint32_t>(sum >> 32);
      sum += static_cast<std::int64_t>(std::uint64_t{ptx::shfl_down(high, by)} << 32 |
                                       ptx::shfl_down(low, by));
    }
    if (thread % lanes == 0) squares[warp] = static_cast<unsigned long long>(sum);
    // sync: all warps have added up their squares and read the maxima
    __syncthreads();
    if (thread != 0) continue;
    sum = 0;
    RUNG_UNROLL
    for (int w = 0; w < warps; ++w) sum += static_cast<std::int64_t>(squares[w]);
    const float lost = ptx::mov_f32_b32(digits::infinity_bits);
    split.scales[row] = {unit, digits::fit(most, sum, split.row_length) ? 0.0f : lost, 1.0f, 0.0f};
  }
}

}  // namespace rung::cuda

extern "C" __global__ void __launch_bounds__(rung::cuda::SplitDigits::threads)
    gemm_cuda_library_split_digits_f32(rung::cuda::SplitDigits split) {
  rung::cuda::split_rows(split);
}

#endif
