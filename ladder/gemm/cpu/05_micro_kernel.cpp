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
#define HWY_TARGET_INCLUDE "ladder/gemm/cpu/05_micro_kernel.cpp"
#include "device/cpu/simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::gemm_cpu_05::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// With two vectors of B and one broadcast of A, MR rows use nearly all of 16 or 32 registers.
constexpr std::int64_t MR = HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64 ? 14 : 6;
template <class T>
constexpr std::int64_t NR = 2 * hn::MaxLanes(hn::ScalableTag<T>());

constexpr std::int64_t MC = 168;
constexpr std::int64_t NC = 512;
constexpr std::int64_t KC = 256;

// A and B as panels: KC columns of MR rows of A, KC rows of NR columns of B.
template <class T>
struct Tiles {
  alignas(64) T a[MC / MR][KC][MR];
  alignas(64) T b[NC / NR<T>][KC][NR<T>];
  alignas(64) T c[MR][NR<T>];
};

struct MicroKernel {
  template <class In, class Out>
  static void run(const Gemm<In, Out>& g, int threads) {
    const std::int64_t block_rows = (g.m + MC - 1) / MC;
    const std::int64_t block_cols = (g.n + NC - 1) / NC;
    cpu::parallel_for(block_rows * block_cols, threads, [&](std::int64_t block) {
      multiply(g, block / block_cols * MC, block % block_cols * NC);
    });
  }

  template <class In, class Out>
  static void multiply(const Gemm<In, Out>& g, std::int64_t i0, std::int64_t j0) {
    Tiles<Out> tiles;
    const std::int64_t i1 = std::min(i0 + MC, g.m);
    const std::int64_t j1 = std::min(j0 + NC, g.n);
    // k0 == 0 runs even if K is 0, to apply beta.
    for (std::int64_t k0 = 0; k0 == 0 || k0 < g.k; k0 += KC) {
      for (std::int64_t i = i0; i < i1; i += MR) {
        pack(g.a.transposed(), k0, g.k, i, g.m, Out{1}, tiles.a[(i - i0) / MR]);
      }
      for (std::int64_t j = j0; j < j1; j += NR<Out>) {
        pack(g.b, k0, g.k, j, g.n, Out{1}, tiles.b[(j - j0) / NR<Out>]);
      }
      const Out beta = k0 == 0 ? g.beta : Out{1};
      for (std::int64_t j = j0; j < j1; j += NR<Out>) {
        for (std::int64_t i = i0; i < i1; i += MR) {
          micro_kernel(tiles.a[(i - i0) / MR], tiles.b[(j - j0) / NR<Out>], tiles.c);
          store(g, i, j, beta, tiles.c);
        }
      }
    }
  }

  // Panels are padded with zeros, so that the micro-kernel has constant bounds.
  template <class In, class Out, std::size_t Rows, std::size_t Cols>
  static void pack(const Matrix<const In>& matrix, std::int64_t row0, std::int64_t rows,
                   std::int64_t col0, std::int64_t cols, Out scale, Out (&tile)[Rows][Cols]) {
    for (std::int64_t r = 0; r < std::int64_t{Rows}; ++r) {
      for (std::int64_t c = 0; c < std::int64_t{Cols}; ++c) {
        const bool inside = row0 + r < rows && col0 + c < cols;
        tile[r][c] = inside ? scale * static_cast<Out>(matrix(row0 + r, col0 + c)) : Out{};
      }
    }
  }

  // c = a * b.
  template <class T>
  static void micro_kernel(const T (&a)[KC][MR], const T (&b)[KC][NR<T>], T (&c)[MR][NR<T>]) {
    const hn::ScalableTag<T> d;
    hn::Vec<decltype(d)> sum[MR][2];
#pragma GCC unroll 16
    for (std::int64_t i = 0; i < MR; ++i) sum[i][0] = sum[i][1] = hn::Zero(d);

    for (std::int64_t k = 0; k < KC; ++k) {
      const auto b0 = hn::Load(d, &b[k][0]);
      const auto b1 = hn::Load(d, &b[k][NR<T> / 2]);
#pragma GCC unroll 16
      for (std::int64_t i = 0; i < MR; ++i) {
        const auto a_ik = hn::Set(d, a[k][i]);
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
      hn::Store(sum[i][0], d, &c[i][0]);
      hn::Store(sum[i][1], d, &c[i][NR<T> / 2]);
    }
  }

  template <class In, class Out>
  static void store(const Gemm<In, Out>& g, std::int64_t i0, std::int64_t j0, Out beta,
                    const Out (&tile)[MR][NR<Out>]) {
    for (std::int64_t i = i0; i < std::min(i0 + MR, g.m); ++i) {
      for (std::int64_t j = j0; j < std::min(j0 + NR<Out>, g.n); ++j) {
        const Out product = g.alpha * tile[i - i0][j - j0];
        g.c(i, j) = beta == Out{} ? product : product + beta * g.c(i, j);
      }
    }
  }
};

cpu::GemmRung functions() { return cpu::gemm_rung<MicroKernel>(); }

}  // namespace rung::gemm_cpu_05::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung {
namespace gemm_cpu_05 {
cpu::GemmRung pick() { return RUNG_PICK_TARGET(functions)(); }
}  // namespace gemm_cpu_05

extern const cpu::GemmRung gemm_cpu_05_micro_kernel = cpu::dispatched_rung<gemm_cpu_05::pick>();

}  // namespace rung
#endif  // HWY_ONCE
