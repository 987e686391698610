// gemm/cpu/04_packed: pack each tile of A and B into a small contiguous buffer, which is then used
//   MC or NC times.
// from: 03_threads | removes: strided tiles, and with them any dependence on layout and leading
//   dimension | bottleneck: C passes through the L1 cache for every k
// needs: nothing | try: rung bench gemm/cpu/03 gemm/cpu/04 --layout nt

#include <algorithm>

#include "device/cpu/parallel.hpp"
#include "device/cpu/rung.hpp"

namespace rung {
namespace {

// Rows of a packed tile are contiguous, so tiles need not be wide.
constexpr std::int64_t MC = 64;
constexpr std::int64_t NC = 256;
constexpr std::int64_t KC = 64;

template <class T>
struct Tiles {
  alignas(64) T a[MC][KC];  // alpha * A
  alignas(64) T b[KC][NC];
  alignas(64) T c[MC][NC];
};

struct Packed {
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
    std::fill(&tiles.c[0][0], &tiles.c[0][0] + MC * NC, Out{});
    for (std::int64_t k0 = 0; k0 < g.k; k0 += KC) {
      pack(g.a, i0, g.m, k0, g.k, g.alpha, tiles.a);
      pack(g.b, k0, g.k, j0, g.n, Out{1}, tiles.b);
      add_product(tiles.a, tiles.b, tiles.c);
    }
    store(g, i0, j0, tiles.c);
  }

  // Tiles are padded with zeros, so that add_product has constant bounds.
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

  template <class T>
  static void add_product(const T (&a)[MC][KC], const T (&b)[KC][NC], T (&c)[MC][NC]) {
    for (std::int64_t i = 0; i < MC; ++i) {
      for (std::int64_t k = 0; k < KC; ++k) {
        for (std::int64_t j = 0; j < NC; ++j) {
          c[i][j] += a[i][k] * b[k][j];
        }
      }
    }
  }

  template <class In, class Out>
  static void store(const Gemm<In, Out>& g, std::int64_t i0, std::int64_t j0,
                    const Out (&tile)[MC][NC]) {
    for (std::int64_t i = i0; i < std::min(i0 + MC, g.m); ++i) {
      for (std::int64_t j = j0; j < std::min(j0 + NC, g.n); ++j) {
        const Out sum = tile[i - i0][j - j0];
        g.c(i, j) = g.beta == Out{} ? sum : sum + g.beta * g.c(i, j);
      }
    }
  }
};

}  // namespace

extern const cpu::GemmRung gemm_cpu_04_packed = cpu::gemm_rung<Packed>();

}  // namespace rung
