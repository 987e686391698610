// gemm/cpu/05_micro_kernel: a register micro-kernel: an MR x NR tile of C stays in vector registers
//   while k runs, so that each vector loaded from B serves MR FMAs and C is accessed once per
//   k-block.
// from: 04_packed | removes: a load and a store of C for every multiply-add | bottleneck: block
//   sizes are fixed, and every block of C packs its own copy of A and B
// needs: nothing; SIMD by Highway, dispatched at run time | try: rung bench gemm/cpu/04 gemm/cpu/05

#include <algorithm>

#include "device/cpu/parallel.hpp"
#include "device/cpu/rung.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "gemm/cpu/05_micro_kernel.cpp"
#include "device/cpu/simd.hpp"

#ifndef RUNG_GEMM_CPU_05_MICRO_KERNEL
#define RUNG_GEMM_CPU_05_MICRO_KERNEL
namespace rung::gemm_cpu_05 {

constexpr std::int64_t KC = 256;

// acc (MR x NR, contiguous) = A panel (KC columns of MR) * B panel (KC rows of NR).
template <class T>
struct MicroKernel {
  std::int64_t MR, NR;
  void (*run)(const T* a, const T* b, T* acc);
};

}  // namespace rung::gemm_cpu_05
#endif

HWY_BEFORE_NAMESPACE();
namespace rung::gemm_cpu_05::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using Vector = hn::Vec<hn::ScalableTag<T>>;

// With two vectors of B and one broadcast of A, MR rows use nearly all of 16 or 32 registers.
constexpr std::int64_t MR = HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64 ? 14 : 6;

template <class T>
void micro_kernel(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, T* HWY_RESTRICT acc) {
  const hn::ScalableTag<T> d;
  constexpr std::int64_t lanes = hn::MaxLanes(d);
  Vector<T> sum[MR][2];
#pragma GCC unroll 16
  for (std::int64_t i = 0; i < MR; ++i) sum[i][0] = sum[i][1] = hn::Zero(d);

  for (std::int64_t k = 0; k < KC; ++k) {
    const Vector<T> b0 = hn::Load(d, b + k * 2 * lanes);
    const Vector<T> b1 = hn::Load(d, b + k * 2 * lanes + lanes);
#pragma GCC unroll 16
    for (std::int64_t i = 0; i < MR; ++i) {
      const Vector<T> a_ik = hn::Set(d, a[k * MR + i]);
      if constexpr (hwy::IsFloat<T>()) {
        sum[i][0] = hn::MulAdd(a_ik, b0, sum[i][0]);
        sum[i][1] = hn::MulAdd(a_ik, b1, sum[i][1]);
      } else {
        sum[i][0] = hn::Add(sum[i][0], hn::Mul(a_ik, b0));
        sum[i][1] = hn::Add(sum[i][1], hn::Mul(a_ik, b1));
      }
    }
  }

#pragma GCC unroll 16
  for (std::int64_t i = 0; i < MR; ++i) {
    hn::Store(sum[i][0], d, acc + i * 2 * lanes);
    hn::Store(sum[i][1], d, acc + i * 2 * lanes + lanes);
  }
}

template <class T>
constexpr MicroKernel<T> kernel = {MR, 2 * hn::MaxLanes(hn::ScalableTag<T>()), micro_kernel<T>};
MicroKernel<float> f32() { return kernel<float>; }
MicroKernel<double> f64() { return kernel<double>; }
MicroKernel<std::uint32_t> i32() { return kernel<std::uint32_t>; }

}  // namespace rung::gemm_cpu_05::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung {
namespace gemm_cpu_05 {

template <class T>
MicroKernel<T> pick() {
  if constexpr (std::is_same_v<T, float>) return RUNG_PICK_TARGET(f32)();
  if constexpr (std::is_same_v<T, double>) return RUNG_PICK_TARGET(f64)();
  if constexpr (std::is_same_v<T, std::uint32_t>) return RUNG_PICK_TARGET(i32)();
}

// The largest tile of any target, and blocks of C that are a multiple of every target's tile.
constexpr std::int64_t max_tile = 14 * 32;
constexpr std::int64_t MC = 2 * 6 * 14;
constexpr std::int64_t NC = 512;

template <class T>
struct Panels {
  alignas(64) T a[MC * KC];  // MC / MR panels, each KC columns of MR rows
  alignas(64) T b[KC * NC];  // NC / NR panels, each KC rows of NR columns
  alignas(64) T acc[max_tile];
};

struct MicroKernelRung {
  template <class In, class Out>
  static void run(const Gemm<In, Out>& g, int threads) {
    const MicroKernel<Out> kernel = pick<Out>();
    const std::int64_t block_rows = (g.m + MC - 1) / MC;
    const std::int64_t block_cols = (g.n + NC - 1) / NC;
    cpu::parallel_for(block_rows * block_cols, threads, [&](std::int64_t block) {
      multiply(g, kernel, block / block_cols * MC, block % block_cols * NC);
    });
  }

  template <class In, class Out>
  static void multiply(const Gemm<In, Out>& g, const MicroKernel<Out>& kernel, std::int64_t i0,
                       std::int64_t j0) {
    Panels<Out> panels;
    const std::int64_t i1 = std::min(i0 + MC, g.m);
    const std::int64_t j1 = std::min(j0 + NC, g.n);
    // k0 == 0 runs even if K is 0, to apply beta.
    for (std::int64_t k0 = 0; k0 == 0 || k0 < g.k; k0 += KC) {
      pack(g.a.transposed(), k0, g.k, i0, i1, kernel.MR, panels.a);
      pack(g.b, k0, g.k, j0, j1, kernel.NR, panels.b);
      const Out beta = k0 == 0 ? g.beta : Out{1};
      for (std::int64_t j = j0; j < j1; j += kernel.NR) {
        for (std::int64_t i = i0; i < i1; i += kernel.MR) {
          kernel.run(panels.a + (i - i0) * KC, panels.b + (j - j0) * KC, panels.acc);
          store(g, i, std::min(i + kernel.MR, i1), j, std::min(j + kernel.NR, j1), beta, panels.acc,
                kernel.NR);
        }
      }
    }
  }

  // Panels of `width` columns by KC rows, row by row; zeros outside the matrix.
  template <class In, class Out>
  static void pack(const Matrix<const In>& matrix, std::int64_t k0, std::int64_t k_end,
                   std::int64_t col0, std::int64_t col_end, std::int64_t width, Out* panel) {
    for (std::int64_t col = col0; col < col_end; col += width) {
      for (std::int64_t k = k0; k < k0 + KC; ++k) {
        for (std::int64_t c = col; c < col + width; ++c) {
          *panel++ = k < k_end && c < col_end ? static_cast<Out>(matrix(k, c)) : Out{};
        }
      }
    }
  }

  template <class In, class Out>
  static void store(const Gemm<In, Out>& g, std::int64_t i0, std::int64_t i1, std::int64_t j0,
                    std::int64_t j1, Out beta, const Out* acc, std::int64_t NR) {
    for (std::int64_t i = i0; i < i1; ++i) {
      for (std::int64_t j = j0; j < j1; ++j) {
        const Out product = g.alpha * acc[(i - i0) * NR + (j - j0)];
        g.c(i, j) = beta == Out{} ? product : product + beta * g.c(i, j);
      }
    }
  }
};

}  // namespace gemm_cpu_05

extern const cpu::GemmRung gemm_cpu_05_micro_kernel =
    cpu::gemm_rung<gemm_cpu_05::MicroKernelRung>();

}  // namespace rung
#endif  // HWY_ONCE
