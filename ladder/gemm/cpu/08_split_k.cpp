// gemm/cpu/08_split_k: split-K: where C has too few tiles for the threads, split k, compute a
//   partial C for each split, and add the partial results in a fixed order.
// from: 07_direct | removes: threads without a tile of C | bottleneck: the memory traffic and
//   additions of the partial results, which only a large k amortizes
// needs: nothing; SIMD by Highway, dispatched at run time | try: rung bench gemm/cpu/07 gemm/cpu/08
//   --sizes 64x64x65536 --threads 2

#include <algorithm>
#include <memory>

#include "device/cpu/integers.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/rung.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ladder/gemm/cpu/08_split_k.cpp"
#include "device/cpu/simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::gemm_cpu_08::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using cpu::ceil_div;
using cpu::round_up;

// With two vectors of B and one broadcast of A, MR rows use nearly all of 16 or 32 registers.
constexpr std::int64_t MR = HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM_A64 ? 14 : 6;
template <class T>
constexpr std::int64_t NR = 2 * hn::MaxLanes(hn::ScalableTag<T>());

constexpr std::int64_t KC = 256;

// The splits do not depend on the number of threads, so neither do the bits of the result.
constexpr std::int64_t min_part = 1024;
constexpr std::int64_t max_parts = 64;
constexpr std::int64_t max_partial_bytes = 16 << 20;

struct SplitK {
  template <class In, class Out>
  static void run(const Gemm<In, Out>& g, int threads) {
    const std::int64_t elements = std::max<std::int64_t>(g.m * g.n, 1);
    const std::int64_t fitting = max_partial_bytes / (elements * std::int64_t{sizeof(Out)});
    const std::int64_t parts = std::min({g.k / min_part, max_parts, fitting});
    if (parts <= 1) return multiply(g, threads);

    const std::int64_t part_k = ceil_div(g.k, parts);
    const auto partial = std::make_unique_for_overwrite<Out[]>(elements * parts);
    cpu::parallel_for(parts, threads, [&](std::int64_t part) {
      const std::int64_t k0 = part * part_k;
      Gemm<In, Out> split = g;
      split.k = std::clamp<std::int64_t>(g.k - k0, 0, part_k);
      split.a.data = &g.a(0, k0);
      split.b.data = &g.b(k0, 0);
      split.beta = Out{};
      split.c = {partial.get() + part * elements, g.n, 1};
      multiply(split, 1);
    });
    add_up(g, partial.get(), parts, threads);
  }

  // C = beta * C + the sum of the partial results.
  template <class In, class Out>
  static void add_up(const Gemm<In, Out>& g, const Out* partial, std::int64_t parts, int threads) {
    cpu::parallel_for(g.m, threads, [&](std::int64_t i) {
      for (std::int64_t j = 0; j < g.n; ++j) {
        Out sum{};
        for (std::int64_t part = 0; part < parts; ++part) {
          sum += partial[(part * g.m + i) * g.n + j];
        }
        Out& c = g.c(i, j);
        c = g.beta == Out{} ? sum : sum + g.beta * c;
      }
    });
  }

  // Called in two places: inlined, the kernels would be compiled several times.
  template <class In, class Out>
  static HWY_NOINLINE void multiply(const Gemm<In, Out>& g, int threads) {
    // Four blocks of C per thread: columns first, then rows if the columns are few.
    const std::int64_t blocks = threads == 1 ? 1 : 4 * threads;
    const std::int64_t NC = round_up(g.n / blocks + 1, NR<Out>);
    const std::int64_t block_cols = ceil_div(g.n, NC);
    const std::int64_t MC = round_up(g.m * std::max<std::int64_t>(block_cols, 1) / blocks + 1, MR);
    cpu::parallel_for(ceil_div(g.m, MC) * block_cols, threads, [&](std::int64_t block) {
      const std::int64_t i0 = block / block_cols * MC;
      const std::int64_t j0 = block % block_cols * NC;
      multiply(g, i0, std::min(i0 + MC, g.m), j0, std::min(j0 + NC, g.n));
    });
  }

  template <class In, class Out>
  static void multiply(const Gemm<In, Out>& g, std::int64_t i0, std::int64_t i1, std::int64_t j0,
                       std::int64_t j1) {
    alignas(64) Out b[KC * NR<Out>];
    alignas(64) Out c[MR][NR<Out>];
    // k0 == 0 runs even if K is 0, to apply beta.
    for (std::int64_t k0 = 0; k0 == 0 || k0 < g.k; k0 += KC) {
      const std::int64_t k = std::min(KC, g.k - k0);
      const Out beta = k0 == 0 ? g.beta : Out{1};
      for (std::int64_t j = j0; j < j1; j += NR<Out>) {
        pack<NR<Out>>(g.b, k0, k, j, g.n, b);
        for (std::int64_t i = i0; i < i1; i += MR) {
          // Rows after the last one are computed as copies of it, but not stored.
          const In* a[MR];
          for (std::int64_t r = 0; r < MR; ++r) a[r] = &g.a(std::min(i + r, g.m - 1), k0);
          micro_kernel(k, a, g.a.col_stride, b, c);
          store(g, i, j, beta, c);
        }
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

  // c = a * b. a has a pointer to each row, whose elements are `stride` apart.
  template <class In, class T>
  static void micro_kernel(std::int64_t steps, const In* const (&a)[MR], std::int64_t stride,
                           const T* b, T (&c)[MR][NR<T>]) {
    const hn::ScalableTag<T> d;
    hn::Vec<decltype(d)> sum[MR][2];
#pragma GCC unroll 16
    for (std::int64_t i = 0; i < MR; ++i) sum[i][0] = sum[i][1] = hn::Zero(d);

    for (std::int64_t k = 0; k < steps; ++k, b += NR<T>) {
      const auto b0 = hn::Load(d, b);
      const auto b1 = hn::Load(d, b + NR<T> / 2);
#pragma GCC unroll 16
      for (std::int64_t i = 0; i < MR; ++i) {
        const auto a_ik = hn::Set(d, static_cast<T>(a[i][k * stride]));
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

cpu::GemmRung functions() { return cpu::gemm_rung<SplitK>(); }

}  // namespace rung::gemm_cpu_08::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung {
namespace gemm_cpu_08 {
cpu::GemmRung pick() { return RUNG_PICK_TARGET(functions)(); }
}  // namespace gemm_cpu_08

extern const cpu::GemmRung gemm_cpu_08_split_k = cpu::dispatched_rung<gemm_cpu_08::pick>();

}  // namespace rung
#endif  // HWY_ONCE
