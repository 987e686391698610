// Splits a double operand into residues for tensor cores: scales each row of A or column of B by a
// power of two, rounds to integers, and stores their residues modulo 8-bit numbers, K-major.
// Registered like a rung, but not on the ladder.
// needs: sm_90a

#include "device/cuda/library/split_residues.hpp"

#include "device/cuda/entry/gemm.cuh"
#include "device/cuda/ptx/sums.cuh"
#include "device/cuda/ptx/warp.cuh"
#include "device/cuda/tile/operand.cuh"
#include "device/cuda/types.cuh"

#ifdef RUNG_HOST

namespace rung {

extern const cuda::GemmRung gemm_cuda_library_split_residues = {
    .entry = "gemm_cuda_library_split_residues", .launches = {}, .tiles = {}};

}  // namespace rung

#else

namespace rung::cuda {

inline constexpr int lanes = SplitResidues::lanes;
inline constexpr int warps = SplitResidues::threads / lanes;
inline constexpr int width = SplitResidues::width;

/// Loads elements of a row of the result from step k; zeros after its end.
__device__ __forceinline__ void load(const SplitResidues& split, std::int64_t row, std::int64_t k,
                                     double (&x)[width]) {
  const double* const from = split.from + row * split.from_row + k * split.from_k;
  const bool is_vector =
      split.from_k == 1 && k + width <= split.k && reinterpret_cast<std::uintptr_t>(from) % 16 == 0;
  if (is_vector) return load_vectors(x, from);
  RUNG_UNROLL
  for (int i = 0; i < width; ++i) x[i] = k + i < split.k ? from[i * split.from_k] : 0.0;
}

/// Scales, rounds, and stores the residues.
__device__ __forceinline__ void store(const SplitResidues& split, std::int64_t row, std::int64_t k,
                                      int shift, const double (&x)[width]) {
  residues::Pieces pieces[width];
  RUNG_UNROLL
  for (int i = 0; i < width; ++i) {
    const double scaled = residues::scaled(x[i], shift);
    pieces[i] = residues::pieces_of(static_cast<std::int64_t>(__builtin_rint(scaled)));
  }
  auto* const to =
      static_cast<std::uint8_t*>(split.to) + row * SplitResidues::bytes_in_row(split.k) + k;
  const std::int64_t next = SplitResidues::steps_in_row(split.k);
  residues::for_each_modulus([&]<int I>() RUNG_INLINE_LAMBDA {
    Vector<std::uint32_t, width / 4> words;
    RUNG_UNROLL
    for (int w = 0; w < width / 4; ++w) {
      words.at[w] = 0;
      RUNG_UNROLL
      for (int i = 0; i < 4; ++i) {
        words.at[w] |= residues::residue_of<I>(pieces[4 * w + i]) << (8 * i);
      }
    }
    *reinterpret_cast<Vector<std::uint32_t, width / 4>*>(to + I * next) = words;
  });
}

__device__ __forceinline__ void store_scale(const SplitResidues& split, std::int64_t row,
                                            const residues::SquaredNorms& norms) {
  const float lost = ptx::mov_f32_b32(0x7F800000);
  split.scales[row] = norms.are_finite()
                          ? OperandScale{-residues::shift_of(norms), 0.0f, 1.0f, 0.0f}
                          : OperandScale{0, lost, 1.0f, 0.0f};
}

/// Stores a row's residues from step `first`, every `by` steps; zeros if the row is not finite.
__device__ __forceinline__ void store_row(const SplitResidues& split, std::int64_t row,
                                          const residues::SquaredNorms& norms, std::int64_t first,
                                          std::int64_t by) {
  const bool is_finite = norms.are_finite();
  const int shift = is_finite ? residues::shift_of(norms) : 0;
  const std::int64_t end = SplitResidues::steps_in_row(split.k);
  RUNG_NO_UNROLL
  for (std::int64_t k = first; k < end; k += by) {
    double x[width] = {};
    if (is_finite) load(split, row, k, x);
    store(split, row, k, shift, x);
  }
}

/// K-major: each warp splits a row; its lanes share the k-steps.
__device__ __forceinline__ void split_by_row(const SplitResidues& split) {
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const int warp = static_cast<int>(threadIdx.x) / lanes;
  for (std::int64_t row = std::int64_t{blockIdx.x} * warps + warp; row < split.rows;
       row += std::int64_t{gridDim.x} * warps) {
    const double* const from = split.from + row * split.from_row;
    residues::SquaredNorms norms = {0, 0, 0};
    RUNG_UNROLL_4
    for (std::int64_t k = lane; k < split.k; k += lanes) norms.add(from[k]);
    RUNG_UNROLL
    for (unsigned by = lanes / 2; by > 0; by /= 2) {
      norms.add({ptx::shfl_down(norms.large, by), ptx::shfl_down(norms.medium, by),
                 ptx::shfl_down(norms.small, by)});
    }
    norms = {ptx::shfl_idx(norms.large, 0), ptx::shfl_idx(norms.medium, 0),
             ptx::shfl_idx(norms.small, 0)};
    if (lane == 0) store_scale(split, row, norms);
    store_row(split, row, norms, lane * width, lanes * width);
  }
}

/// MN-major: each block splits 32 rows of the result. Eight lanes of a warp process adjacent rows,
/// whose loads form one sector for every four; the other lanes process the following k-steps, so
/// that whole sectors are stored.
__device__ __forceinline__ void split_by_column(const SplitResidues& split) {
  constexpr int rows = 32, neighbours = 8, steps = SplitResidues::threads / rows;
  __shared__ residues::SquaredNorms parts[steps][rows];
  const int thread = static_cast<int>(threadIdx.x);
  const int column = thread % neighbours + thread / lanes % (rows / neighbours) * neighbours;
  const int step =
      thread % lanes / neighbours + thread / (lanes * rows / neighbours) * (lanes / neighbours);
  for (std::int64_t first = std::int64_t{blockIdx.x} * rows; first < split.rows;
       first += std::int64_t{gridDim.x} * rows) {
    const std::int64_t row = first + column;
    const bool exists = row < split.rows;
    residues::SquaredNorms norms = {0, 0, 0};
    RUNG_NO_UNROLL
    for (std::int64_t k = step * width; k < split.k && exists; k += steps * width) {
      double x[width];
      load(split, row, k, x);
      RUNG_UNROLL
      for (int i = 0; i < width; ++i) norms.add(x[i]);
    }
    parts[step][column] = norms;
    // sync: all threads have added up their squares
    __syncthreads();
    norms = parts[0][column];
    for (int s = 1; s < steps; ++s) norms.add(parts[s][column]);
    // sync: all threads have read the sums
    __syncthreads();
    if (!exists) continue;
    if (step == 0) store_scale(split, row, norms);
    store_row(split, row, norms, step * width, steps * width);
  }
}

}  // namespace rung::cuda

extern "C" __global__ void __launch_bounds__(rung::cuda::SplitResidues::threads)
    gemm_cuda_library_split_residues_f64(rung::cuda::SplitResidues split) {
  if (split.from_k == 1) {
    rung::cuda::split_by_row(split);
  } else {
    rung::cuda::split_by_column(split);
  }
}

#endif
