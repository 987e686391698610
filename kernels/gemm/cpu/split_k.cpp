// gemm/cpu/split_k: split-K: if C has too few tiles for the threads, split k, compute a partial C
//   for each split, and add the partial results in a fixed order.
// from: unpacked | removes: threads without a tile of C | bottleneck: the memory traffic and
//   additions of the partial results, which only a large k amortizes
// needs: nothing | try: rung bench gemm/cpu/unpacked gemm/cpu/split_k --sizes 64x64x65536 --threads
//   2

#include <algorithm>
#include <memory>

#include "device/cpu/integers.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/partition.hpp"
#include "device/cpu/rung.hpp"

namespace rung {

extern const cpu::GemmRung gemm_cpu_unpacked;

namespace {

// The splits do not depend on the number of threads, so neither do the bits of the result.
constexpr std::int64_t max_parts = 64;
constexpr std::int64_t max_partial_bytes = 16 << 20;

struct SplitK {
  template <class In, class Out>
  static void run(const Gemm<In, Out>& g, int threads) {
    const auto direct = gemm_cpu_unpacked.function<In, Out>();
    const std::int64_t elements = g.m * g.n;
    if (elements == 0) return;
    const std::int64_t fitting = max_partial_bytes / (elements * std::int64_t{sizeof(Out)});
    const std::int64_t parts = std::min({g.k / cpu::least_part_of_split_k, max_parts, fitting});
    if (parts <= 1) return direct(g, threads);

    const std::int64_t part_k = cpu::ceil_div(g.k, parts);
    const auto partial = std::make_unique_for_overwrite<Out[]>(elements * parts);
    cpu::parallel_for(parts, threads, [&](std::int64_t part) {
      const std::int64_t k0 = part * part_k;
      const Matrix<Out> c{partial.get() + part * elements, g.n, 1};
      direct({g.m, g.n, std::clamp<std::int64_t>(g.k - k0, 0, part_k), g.alpha,
              from(g.a.transposed(), k0).transposed(), from(g.b, k0), Out{}, c},
             1);
    });
    add_up(g, partial.get(), parts, threads);
  }

  template <class In>
  static Matrix<const In> from(const Matrix<const In>& matrix, std::int64_t row) {
    return {matrix.data + row * matrix.row_stride, matrix.row_stride, matrix.col_stride};
  }

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
};

}  // namespace

extern const cpu::GemmRung gemm_cpu_split_k = cpu::gemm_rung<SplitK>();

}  // namespace rung
