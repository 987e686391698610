// gemm/cpu/06_cache_blocks: the five loops of GotoBLAS: each block is as large as the cache that
//   holds it; B is packed once for all threads, and a block of A once for all columns of B.
// from: 05_micro_kernel | removes: repeated packing, and block sizes that fit no cache
//   | bottleneck: the packing copies, which small and skinny products do not amortize
// needs: nothing; SIMD by Highway, dispatched at run time | try: rung bench gemm/cpu/05 gemm/cpu/06

#include <algorithm>

#include "device/cpu/integers.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/rung.hpp"
#include "device/cpu/workspace.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ladder/gemm/cpu/06_cache_blocks.cpp"
#include "device/cpu/simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::gemm_cpu_06::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using cpu::ceil_div;
using cpu::round_up;

// With two vectors of B and one broadcast of A, MR rows use nearly all of 16 or 32 registers.
constexpr std::int64_t MR = HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64 ? 14 : 6;
template <class T>
constexpr std::int64_t NR = 2 * hn::MaxLanes(hn::ScalableTag<T>());

// Half of a cache holds what the loop around it reads again: L1 a panel of B (KC x NR), L2 a block
// of A (MC x KC), L3 a block of B (KC x NC). After Goto and van de Geijn, "Anatomy of
// High-Performance Matrix Multiplication" (ACM TOMS 34(3), 2008).
template <class T>
struct Blocks {
  static constexpr std::int64_t a_elements = (256 << 10) / sizeof(T);  // half of 512 KiB of L2
  std::int64_t KC, MC, NC;

  Blocks(std::int64_t m, int threads) {
    const cpu::Caches& caches = cpu::machine().caches;
    KC = caches.l1 / 2 / (NR<T> * sizeof(T));
    NC = round_up(caches.l3 / 2 / (KC * sizeof(T)), NR<T>);
    // Four blocks per thread, so that a delayed thread does not delay the others.
    MC = std::min(a_elements / KC / MR * MR, round_up(m / (4 * threads) + 1, MR));
  }
};

struct CacheBlocks {
  template <class In, class Out>
  static void run(const Gemm<In, Out>& g, int threads) {
    const Blocks<Out> blocks(g.m, threads);
    Out* const b = cpu::scratch<Out>(blocks.KC * round_up(std::min(g.n, blocks.NC), NR<Out>));
    for (std::int64_t j0 = 0; j0 < g.n; j0 += blocks.NC) {
      const std::int64_t j1 = std::min(j0 + blocks.NC, g.n);
      // k0 == 0 runs even if K is 0, to apply beta.
      for (std::int64_t k0 = 0; k0 == 0 || k0 < g.k; k0 += blocks.KC) {
        const std::int64_t k = std::min(blocks.KC, g.k - k0);
        cpu::parallel_for(ceil_div(j1 - j0, NR<Out>), threads, [&](std::int64_t panel) {
          pack<NR<Out>>(g.b, k0, k, j0 + panel * NR<Out>, g.n, b + panel * NR<Out> * k);
        });
        cpu::parallel_for(ceil_div(g.m, blocks.MC), threads, [&](std::int64_t block) {
          const std::int64_t i0 = block * blocks.MC;
          multiply(g, i0, std::min(i0 + blocks.MC, g.m), j0, j1, k0, k, b);
        });
      }
    }
  }

  template <class In, class Out>
  static void multiply(const Gemm<In, Out>& g, std::int64_t i0, std::int64_t i1, std::int64_t j0,
                       std::int64_t j1, std::int64_t k0, std::int64_t k, const Out* b) {
    alignas(64) Out a[Blocks<Out>::a_elements];
    for (std::int64_t i = i0; i < i1; i += MR) {
      pack<MR>(g.a.transposed(), k0, k, i, g.m, a + (i - i0) * k);
    }
    const Out beta = k0 == 0 ? g.beta : Out{1};
    alignas(64) Out c[MR][NR<Out>];
    for (std::int64_t j = j0; j < j1; j += NR<Out>) {
      for (std::int64_t i = i0; i < i1; i += MR) {
        micro_kernel(k, a + (i - i0) * k, b + (j - j0) * k, c);
        store(g, i, j, beta, c);
      }
    }
  }

  // Panels are padded with zeros, so that the micro-kernel has constant bounds.
  template <std::int64_t WIDTH, class In, class Out>
  static void pack(const Matrix<const In>& matrix, std::int64_t row0, std::int64_t steps,
                   std::int64_t col0, std::int64_t cols, Out* panel) {
    for (std::int64_t r = 0; r < steps; ++r) {
      for (std::int64_t c = 0; c < WIDTH; ++c) {
        const bool inside = col0 + c < cols;
        *panel++ = inside ? static_cast<Out>(matrix(row0 + r, col0 + c)) : Out{};
      }
    }
  }

  // c = a * b.
  template <class T>
  static void micro_kernel(std::int64_t steps, const T* a, const T* b, T (&c)[MR][NR<T>]) {
    const hn::ScalableTag<T> d;
    hn::Vec<decltype(d)> sum[MR][2];
#pragma GCC unroll 16
    for (std::int64_t i = 0; i < MR; ++i) sum[i][0] = sum[i][1] = hn::Zero(d);

    for (std::int64_t k = 0; k < steps; ++k, a += MR, b += NR<T>) {
      const auto b0 = hn::Load(d, b);
      const auto b1 = hn::Load(d, b + NR<T> / 2);
#pragma GCC unroll 16
      for (std::int64_t i = 0; i < MR; ++i) {
        const auto a_ik = hn::Set(d, a[i]);
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

cpu::GemmRung functions() { return cpu::gemm_rung<CacheBlocks>(); }

}  // namespace rung::gemm_cpu_06::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung {
namespace gemm_cpu_06 {
cpu::GemmRung pick() { return RUNG_PICK_TARGET(functions)(); }
}  // namespace gemm_cpu_06

extern const cpu::GemmRung gemm_cpu_06_cache_blocks = cpu::dispatched_rung<gemm_cpu_06::pick>();

}  // namespace rung
#endif  // HWY_ONCE
