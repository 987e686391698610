// gemm/cpu/amx: AMX: one instruction multiplies a tile of A, 16 rows of 64 bytes along k, by a tile
//   of B and adds the product to 16 x 16 sums; 2 x 2 tiles of C stay in registers.
// from: dot_products | removes: the loads of a group of A and a vector of B for each dot-product
//   instruction | bottleneck: tile loads; each tile is used by two products
// needs: AMX (bf16 and int8) and Linux; other machines and types run dot_products | try: rung bench
//   gemm/cpu/dot_products gemm/cpu/amx --dtype bf16

#include <algorithm>
#include <atomic>
#include <type_traits>

#include "device/cpu/amx.hpp"
#include "device/cpu/integers.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/partition.hpp"
#include "device/cpu/rung.hpp"
#include "device/cpu/workspace.hpp"

namespace rung {

extern const cpu::GemmRung gemm_cpu_dot_products;

namespace {

using cpu::ceil_div;
using cpu::even_part;
using cpu::KGroup;
using cpu::pair_size;
using cpu::Panel;
using cpu::round_up;
using cpu::tile_block;

constexpr std::int64_t pair_bytes = pair_size * std::int64_t{sizeof(KGroup)};

// tdpbf16ps sums the products of even and of odd k separately, rounds each addition to nearest
// even, and adds both sums to C; it treats subnormal numbers as 0. tdpbssd is exact modulo 2^32.
//
// MC rows of A, kc long, stay in L1 while j runs over NC columns. Panels of B (kc x 32 each, KC x
// NC in all) and the sums of the rows stay in L2. The first rows fill the panels, one step before
// the tiles that multiply them. Tiles of A are read in place if their rows are contiguous.
struct Blocks {
  static constexpr std::int64_t max_KC = 64;  // tiles of k

  static constexpr std::int64_t few_rows = 4 * tile_block;

  std::int64_t KC, kc, MC, NC;  // KC and kc in tiles
  std::int64_t rows, cols;      // of C that a thread computes at a time

  template <class In, class Out>
  Blocks(const Gemm<In, Out>& g, int threads) : rows(g.m), cols(g.n) {
    const cpu::Caches& caches = cpu::machine().caches;
    KC = even_part(ceil_div(g.k, cpu::tile_depth<In>), max_KC, 1);
    kc = even_part(KC, caches.l1 / 3 / pair_bytes, 1);
    if (threads > 1) {
      const std::int64_t most = ceil_div(g.m, tile_block);
      const cpu::TileBlock block =
          cpu::balanced_block(most, ceil_div(g.n, tile_block), most, threads);
      rows = block.rows * tile_block;
      cols = block.cols * tile_block;
    }
    // With few rows and B in memory, all rows use a panel before the next one is filled; a shorter
    // panel reads longer runs of the rows of B.
    const bool streams_b = g.k * g.n * std::int64_t{sizeof(In)} > caches.l2 && rows <= few_rows;
    MC = streams_b ? round_up(rows, tile_block) : tile_block;
    if (streams_b && rows <= tile_block) kc = even_part(KC, kc / 2, 1);
    NC = even_part(cols, caches.l2 / 2 / (KC * pair_bytes) * tile_block, tile_block);
  }
};

template <class In, class Out>
class Product {
  static constexpr std::int64_t depth = cpu::tile_depth<In>;
  static constexpr std::int64_t sums_size = 4 * cpu::tile_size;
  // Rows this many bytes apart share a few sets of L1, which have fewer ways than there are rows.
  static constexpr std::int64_t set_stride = 2048;

 public:
  Product(const cpu::TileKernels<In, Out>& kernels, const Gemm<In, Out>& g, int threads)
      : kernels_(kernels), g_(g), threads_(threads), blocks_(g, threads) {
    const std::int64_t strips = blocks_.NC / tile_block;
    panel_ = blocks_.kc * pair_size;
    keeps_ = blocks_.rows > blocks_.MC;
    a_in_place_ = g.a.col_stride == 1 && (g.a.row_stride * sizeof(In) % set_stride != 0 ||
                                          g.m <= tile_block / 4 || g.n <= tile_block);
    c_has_sums_ = g.alpha == Out{1} && (g.beta == Out{} || g.beta == Out{1}) &&
                  g.c.row_stride * sizeof(Out) % set_stride != 0;
    const std::int64_t panels = keeps_ ? strips * ceil_div(blocks_.KC, blocks_.kc) : 1;
    of_worker_ = (blocks_.MC / tile_block + panels) * panel_ + memory_of_sums();
  }

  void run() {
    const std::int64_t block_rows = ceil_div(g_.m, blocks_.rows);
    const std::int64_t block_count = block_rows * ceil_div(g_.n, blocks_.cols);
    const std::int64_t workers = std::min<std::int64_t>(threads_, block_count);
    KGroup* const memory = cpu::scratch<KGroup>(workers * of_worker_);
    std::atomic<std::int64_t> next = 0;
    cpu::parallel_for(workers, threads_, [&](std::int64_t worker) {
      kernels_.begin(std::min(g_.m, tile_block));
      for (std::int64_t block = next++; block < block_count; block = next++) {
        const std::int64_t i = block % block_rows * blocks_.rows;
        const std::int64_t j = block / block_rows * blocks_.cols;
        multiply({i, std::min(i + blocks_.rows, g_.m)}, {j, std::min(j + blocks_.cols, g_.n)},
                 memory + worker * of_worker_);
      }
      kernels_.end();
    });
  }

 private:
  struct Range {
    std::int64_t begin, end;
  };

  /// A block of C. k == 0 runs even if K is 0, to apply beta.
  void multiply(Range rows, Range cols, KGroup* memory) const {
    const std::int64_t KC = blocks_.KC * depth;
    for (std::int64_t j = cols.begin; j < cols.end; j += blocks_.NC) {
      for (std::int64_t k = 0; k == 0 || k < g_.k; k += KC) {
        for (std::int64_t i = rows.begin; i < rows.end; i += blocks_.MC) {
          multiply_rows({i, std::min(i + blocks_.MC, rows.end)},
                        {j, std::min(j + blocks_.NC, cols.end)}, {k, std::min(k + KC, g_.k)},
                        memory, i == rows.begin);
        }
      }
    }
  }

  /// MC rows of C. The first ones fill the panels of B.
  void multiply_rows(Range rows, Range cols, Range ks, KGroup* memory, bool first_rows) const {
    const bool by_rows = g_.b.col_stride == 1;
    const Panel source = by_rows ? Panel::from_rows : Panel::from_columns;
    const std::int64_t kc = blocks_.kc * depth;
    KGroup* panel = memory + blocks_.MC / tile_block * panel_;
    auto* const sums = reinterpret_cast<Out*>(memory + of_worker_ - memory_of_sums());
    const std::int64_t of_strip = ceil_div(tile_block, ceil_div(cols.end - cols.begin, tile_block));
    cpu::TileProduct<In, Out> product = {};
    product.b_stride = by_rows ? g_.b.row_stride : g_.b.col_stride;
    product.alpha = g_.alpha;
    product.beta = ks.begin == 0 ? g_.beta : Out{1};
    product.ldc = g_.c.row_stride;
    for (std::int64_t k = ks.begin; k == ks.begin || k < ks.end; k += kc) {
      product.k = std::min(kc, ks.end - k);
      product.is_last = k + kc >= ks.end;
      for (std::int64_t i = rows.begin; i < rows.end; i += tile_block) {
        pack_a(i, std::min(tile_block, rows.end - i), k, product.k,
               memory + (i - rows.begin) / tile_block * panel_);
      }
      Out* own_sums = sums;
      for (std::int64_t j = cols.begin; j < cols.end; j += tile_block) {
        product.cols = std::min(tile_block, cols.end - j);
        product.panel = panel;
        product.b = &g_.b(k, j);
        product.b_next = j + tile_block < g_.n ? std::min(2 * tile_block, g_.n - j) - 1 : 0;
        for (std::int64_t i = rows.begin; i < rows.end; i += tile_block, own_sums += sums_size) {
          product.rows = std::min(tile_block, rows.end - i);
          fetch_next_rows(product, i, (j - cols.begin) / tile_block, of_strip, ks, k);
          set_a(product, i, k, memory + (i - rows.begin) / tile_block * panel_);
          product.c = &g_.c(i, j);
          const bool whole = product.rows == tile_block && product.cols == tile_block;
          if (c_has_sums_ && whole) {
            product.keep_sums_in_c();
          } else {
            product.keep_sums_in(own_sums);
          }
          product.is_first = k == ks.begin && (product.sums != product.c || product.beta == Out{});
          const Panel from = first_rows && i == rows.begin ? source : Panel::ready;
          kernels_.product(from, product.rows, product.cols)(product);
        }
        if (keeps_) panel += panel_;
      }
    }
  }

  /// Prefetches the next rows of A into L2, an equal part with each strip of columns: 32 rows far
  /// apart are too many streams for the hardware prefetchers.
  void fetch_next_rows(cpu::TileProduct<In, Out>& product, std::int64_t i, std::int64_t strip,
                       std::int64_t of_strip, Range ks, std::int64_t k) const {
    const std::int64_t kc = blocks_.kc * depth;
    const bool is_last = k + kc >= ks.end;
    const std::int64_t next = is_last ? i + blocks_.MC : i;
    const std::int64_t row = next + strip * of_strip;
    const std::int64_t end = g_.a.col_stride == 1 ? std::min(g_.m, next + tile_block) : 0;
    product.a_next_rows = std::clamp<std::int64_t>(end - row, 0, of_strip);
    if (product.a_next_rows == 0) return;
    product.a_next = &g_.a(row, is_last ? ks.begin : k + kc);
    product.a_next_stride = g_.a.row_stride * std::int64_t{sizeof(In)};
  }

  // A in place still needs memory for the last tiles of k, which are partial. Fewer rows than a
  // tile has are packed.
  bool in_place(std::int64_t rows) const {
    return a_in_place_ && rows == std::min(tile_block, g_.m);
  }

  void pack_a(std::int64_t i, std::int64_t rows, std::int64_t k, std::int64_t depth_of_part,
              KGroup* packed) const {
    const std::int64_t first = in_place(rows) ? depth_of_part - depth_of_part % depth : 0;
    if (first == depth_of_part) return;
    kernels_.pack_a({&g_.a(i, k + first), g_.a.row_stride, g_.a.col_stride}, rows,
                    depth_of_part - first, packed);
  }

  void set_a(cpu::TileProduct<In, Out>& product, std::int64_t i, std::int64_t k,
             const KGroup* packed) const {
    const bool direct = in_place(product.rows);
    product.a = direct ? static_cast<const void*>(&g_.a(i, k)) : packed;
    product.a_row = direct ? g_.a.row_stride * std::int64_t{sizeof(In)} : 64;
    product.a_tile = direct ? 64 : pair_bytes;
    product.a_below = direct ? cpu::tile_rows * product.a_row : pair_bytes / 2;
    product.a_last = direct && product.k % depth != 0 ? packed : nullptr;
  }

  std::int64_t memory_of_sums() const {
    return blocks_.MC / tile_block * (blocks_.NC / tile_block) * sums_size;
  }

  const cpu::TileKernels<In, Out>& kernels_;
  const Gemm<In, Out>& g_;
  const int threads_;
  const Blocks blocks_;
  // Memory of a worker, in groups of k: packed A, then panels of B, then sums.
  std::int64_t panel_, of_worker_;
  bool keeps_;  // panels of B stay for the following rows
  bool a_in_place_, c_has_sums_;
};

struct AmxTiles {
  template <class In, class Out>
  static void run(const Gemm<In, Out>& g, int threads) {
    if constexpr (std::is_same_v<In, bfloat16> || std::is_same_v<In, std::int8_t>) {
      if (g.m == 0 || g.n == 0) return;
      const auto* const kernels = cpu::tile_kernels<In, Out>();
      if (kernels != nullptr) return Product<In, Out>(*kernels, g, threads).run();
    }
    gemm_cpu_dot_products.function<In, Out>()(g, threads);
  }
};

}  // namespace

extern const cpu::GemmRung gemm_cpu_amx = cpu::gemm_rung<AmxTiles>();

}  // namespace rung
