// gemm/cpu/10_amx_tiles: tiles: one AMX instruction multiplies a tile of A, 16 rows of 64 bytes of
//   k, by a tile of B, and adds to a tile of 16 x 16 sums; two by two tiles of C are in registers.
// from: 09_dot_products | removes: the loads that bring a group of A and a vector of B to every
//   dot-product instruction | bottleneck: loading tiles; each is used by two products
// needs: AMX (bf16 and int8) and Linux, else it runs 09 | try: rung bench gemm/cpu/09 gemm/cpu/10
//   --dtype bf16

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "device/cpu/amx.hpp"
#include "device/cpu/dot_kernels.hpp"
#include "device/cpu/integers.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/rung.hpp"
#include "device/cpu/workspace.hpp"

namespace rung {

extern const cpu::GemmRung gemm_cpu_09_dot_products;

namespace {

using cpu::ceil_div;
using cpu::KGroup;
using cpu::round_up;
using cpu::tile_groups;
using cpu::tile_rows;
using cpu::tile_size;

// tdpbf16ps adds the products of even and of odd k to sums of their own, rounds each addition to
// nearest even, and adds both to C; subnormal numbers count as 0. tdpbssd is exact modulo 2^32.
//
// Both operands are packed as tiles of 1 KiB, cut short by zeros at the edges. For a block of C of
// 32 x 32, A has two tiles for each tile of k, one below the other; B has two columns of tiles. A
// block of A (32 x KC, 32 KiB) is in L1 while j runs over NC; B (KC x NC) is in half of L2. After
// "AMX.md" of KTransformers (kvcache-ai/ktransformers), which keeps row blocks in L2 as well.
struct Blocks {
  static constexpr std::int64_t max_depth = 16;  // KC in tiles
  static constexpr std::int64_t unit = 2 * tile_rows;

  std::int64_t depth, MC, NC;
  std::int64_t rows, cols;  // of the packed operands

  Blocks(std::int64_t m, std::int64_t n, std::int64_t tiles_of_k, int threads) {
    constexpr std::int64_t packed_bytes = 16 << 20;  // each of A and B
    depth = even_part(tiles_of_k, max_depth, 1);
    const std::int64_t row_bytes = depth * tile_groups * std::int64_t{sizeof(KGroup)};
    rows = even_part(m, packed_bytes / row_bytes, unit);
    cols = even_part(n, packed_bytes / row_bytes, unit);
    NC = even_part(cols, cpu::machine().caches.l2 / 2 / row_bytes, unit);
    // Eight blocks per thread balance the load when other work delays one of the threads.
    const std::int64_t blocks = threads == 1 ? 1 : 8 * threads;
    MC = even_part(rows, ceil_div(rows, ceil_div(blocks, ceil_div(cols, NC))), unit);
  }

  // Splits `whole` into the fewest equal parts of at most `limit`; the part size is a multiple of
  // `step`.
  static std::int64_t even_part(std::int64_t whole, std::int64_t limit, std::int64_t step) {
    const std::int64_t parts = std::max<std::int64_t>(1, ceil_div(whole, std::max(limit, step)));
    return std::max(round_up(ceil_div(whole, parts), step), step);
  }
};

template <class In, class Out>
class Product {
  static constexpr std::int64_t group = sizeof(KGroup) / sizeof(In);
  static constexpr std::int64_t tile_k = tile_groups * group;
  static constexpr std::int64_t unit = Blocks::unit;

 public:
  Product(const cpu::TileKernel<Out>& kernel, const Gemm<In, Out>& g, int threads)
      : kernel_(kernel),
        g_(g),
        threads_(threads),
        blocks_(g.m, g.n, std::max<std::int64_t>(1, ceil_div(g.k, tile_k)), threads) {}

  void run() {
    const std::int64_t panel = blocks_.depth * tile_groups;
    packed_a_ = cpu::scratch<KGroup>((blocks_.rows + blocks_.cols) * panel);
    packed_b_ = packed_a_ + blocks_.rows * panel;
    const std::int64_t KC = blocks_.depth * tile_k;
    for (std::int64_t j = 0; j < g_.n; j += blocks_.cols) {
      for (std::int64_t i = 0; i < g_.m; i += blocks_.rows) {
        // k == 0 runs even if K is 0, to apply beta.
        for (std::int64_t k = 0; k == 0 || k < g_.k; k += KC) {
          const Part part = {i,
                             j,
                             k,
                             std::min(blocks_.rows, g_.m - i),
                             std::min(blocks_.cols, g_.n - j),
                             std::min(KC, g_.k - k)};
          pack(part);
          multiply(part);
        }
      }
    }
  }

 private:
  struct Part {
    std::int64_t i, j, k;             // where it begins
    std::int64_t rows, cols, k_size;  // and its size

    std::int64_t depth() const { return ceil_div(k_size, tile_k); }
  };

  KGroup* block_of_a(const Part& part, std::int64_t i) const {
    return packed_a_ + i * part.depth() * tile_groups;
  }
  KGroup* block_of_b(const Part& part, std::int64_t j) const {
    return packed_b_ + j * part.depth() * tile_groups;
  }

  void pack(const Part& part) const {
    const std::int64_t a_blocks = ceil_div(part.rows, unit);
    const std::int64_t b_tiles = round_up(part.cols, unit) / tile_rows;
    cpu::parallel_for(a_blocks + b_tiles, threads_, [&](std::int64_t index) {
      if (index < a_blocks) {
        pack_a(part, index * unit);
      } else {
        pack_b(part, (index - a_blocks) * tile_rows);
      }
    });
  }

  void pack_a(const Part& part, std::int64_t i0) const {
    KGroup* row = block_of_a(part, i0);
    for (std::int64_t k = 0; k < part.k_size; k += tile_k) {
      for (std::int64_t i = i0; i < i0 + unit; ++i, row += tile_groups) {
        In elements[tile_k] = {};
        const std::int64_t count = i < part.rows ? std::min(tile_k, part.k_size - k) : 0;
        for (std::int64_t e = 0; e < count; ++e) elements[e] = g_.a(part.i + i, part.k + k + e);
        std::memcpy(row, elements, sizeof elements);
      }
    }
  }

  void pack_b(const Part& part, std::int64_t j) const {
    KGroup* const tiles = block_of_b(part, j);
    const std::int64_t valid = std::clamp<std::int64_t>(part.cols - j, 0, tile_rows);
    const std::int64_t packed = ceil_div(part.k_size, group) * tile_rows;
    std::fill(tiles + (valid == 0 ? 0 : packed), tiles + part.depth() * tile_size, KGroup{0});
    if (valid == 0) return;
    const Matrix<const In> b{&g_.b(part.k, part.j + j), g_.b.row_stride, g_.b.col_stride};
    cpu::pack_groups<In>()(part.k_size, b, valid, tile_rows, tiles);
  }

  void multiply(const Part& part) const {
    const std::int64_t block_rows = ceil_div(part.rows, blocks_.MC);
    const std::int64_t block_cols = ceil_div(part.cols, blocks_.NC);
    // Column by column, so that threads work on the same block of B.
    cpu::parallel_for(block_rows * block_cols, threads_, [&](std::int64_t block) {
      const std::int64_t i0 = block % block_rows * blocks_.MC;
      const std::int64_t j0 = block / block_rows * blocks_.NC;
      kernel_.begin();
      for (std::int64_t i = i0; i < std::min(part.rows, i0 + blocks_.MC); i += unit) {
        for (std::int64_t j = j0; j < std::min(part.cols, j0 + blocks_.NC); j += unit) {
          multiply_block(part, i, j);
        }
      }
      kernel_.end();
    });
  }

  // Whole blocks that need no scaling are summed in place.
  void multiply_block(const Part& part, std::int64_t i, std::int64_t j) const {
    const Out beta = part.k == 0 ? g_.beta : Out{1};
    const std::int64_t rows = std::min(unit, part.rows - i);
    const std::int64_t cols = std::min(unit, part.cols - j);
    const KGroup* const a = block_of_a(part, i);
    const KGroup* const b = block_of_b(part, j);
    Out* const c = &g_.c(part.i + i, part.j + j);
    const bool whole = rows == unit && cols == unit;
    if (whole && g_.alpha == Out{1} && (beta == Out{} || beta == Out{1})) {
      return kernel_.multiply(part.depth(), a, b, c, g_.c.row_stride, beta == Out{1});
    }
    alignas(64) Out sums[unit * unit];
    kernel_.multiply(part.depth(), a, b, sums, unit, false);
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t col = 0; col < cols; ++col) {
        const Out product = g_.alpha * sums[row * unit + col];
        Out& element = c[row * g_.c.row_stride + col];
        element = beta == Out{} ? product : product + beta * element;
      }
    }
  }

  const cpu::TileKernel<Out>& kernel_;
  const Gemm<In, Out>& g_;
  const int threads_;
  const Blocks blocks_;
  KGroup* packed_a_ = nullptr;
  KGroup* packed_b_ = nullptr;
};

// Fewer rows leave most of a tile empty.
constexpr std::int64_t min_rows = 5;

struct AmxTiles {
  template <class In, class Out>
  static void run(const Gemm<In, Out>& g, int threads) {
    if constexpr (std::is_same_v<In, bfloat16> || std::is_same_v<In, std::int8_t>) {
      const auto* const kernel = cpu::tile_kernel<In, Out>();
      if (kernel != nullptr && g.m >= min_rows && g.n > 0) {
        return Product<In, Out>(*kernel, g, threads).run();
      }
    }
    gemm_cpu_09_dot_products.function<In, Out>()(g, threads);
  }
};

}  // namespace

extern const cpu::GemmRung gemm_cpu_10_amx_tiles = cpu::gemm_rung<AmxTiles>();

}  // namespace rung
