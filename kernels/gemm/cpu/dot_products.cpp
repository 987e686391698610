// gemm/cpu/dot_products: dot-product instructions: one lane multiplies the two bfloat16, or the
//   four int8, of a group of consecutive k and adds all products to one 32-bit sum.
// from: cache_blocks | removes: the widening of narrow inputs to 32 bits, which costs an FMA for
//   each product and 32 bits of cache for each element | bottleneck: packing B into groups, which
//   only a tall C amortizes; C with up to four rows or columns reads the large operand in place
// needs: AVX512-BF16 or bfdot for bf16, VNNI, sdot or pmaddwd for int8; other types run
//   cache_blocks | try: rung bench gemm/cpu/cache_blocks gemm/cpu/dot_products --dtype bf16

#include <algorithm>

#include "device/cpu/dot_kernels.hpp"
#include "device/cpu/integers.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/narrow_groups.hpp"
#include "device/cpu/pack.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/rung.hpp"
#include "device/cpu/workspace.hpp"

namespace rung {

extern const cpu::GemmRung gemm_cpu_cache_blocks;

namespace {

using cpu::ceil_div;
using cpu::even_part;
using cpu::KGroup;
using cpu::round_up;

// The instructions, where s is the 32-bit sum of a lane, and a and b are groups of 32 bits:
//
//   vdpbf16ps  s += a[1] * b[1], then s += a[0] * b[0], for bfloat16. Each addition rounds to
//              nearest even. Subnormal inputs count as 0 and subnormal sums become 0.
//   vpdpbusd   s += b[0] * a[0] + b[1] * a[1] + b[2] * a[2] + b[3] * a[3] modulo 2^32, for unsigned
//              bytes b and signed bytes a. For signed b, sum(a b) = sum(a (b + 128)) - 128 sum(a):
//              B is packed with the offset, and the sums in the micro-kernel start from -128 times
//              the sums of the rows of A.
//   sdot, bfdot  the same on Arm, with both operands signed and with different rounding.
//   pmaddwd    a[0] * b[0] + a[1] * b[1] for int16, to which int8 is widened, then an addition.
//
// Operands are packed as groups: a step of the micro-kernel loads a group for each column of B and
// broadcasts one for each row of A. The loops are those of cache_blocks with groups in place of
// elements, so that the same number of bytes holds two or four times as many k.
struct Blocks {
  static constexpr std::int64_t max_steps = 512;
  // Packing A pays off if C is wide. Rows that are a multiple of 4 KiB apart share a set of L1,
  // which has eight ways; then A is packed unless C is narrow.
  static constexpr std::int64_t max_direct_n = 768;
  static constexpr std::int64_t max_one_set_n = 64;
  static constexpr std::int64_t set_stride = 4096;
  static constexpr std::int64_t ways = 8;
  // With few rows of A, B comes from memory. The fewer the rows, the fewer rows of B at a time,
  // over a longer part of their length, which the hardware prefetchers follow.
  static constexpr std::int64_t very_few_rows = 7;

  bool direct_a;
  std::int64_t steps, MR, MC, NC;  // steps: KC in groups
  std::int64_t width_a;            // of a packed panel of A
  std::int64_t rows, cols;         // of the packed operands

  template <class In, class Out>
  Blocks(const cpu::DotKernels<In, Out>& kernels, const Gemm<In, Out>& g, int threads) {
    constexpr std::int64_t packed_bytes = 16 << 20;  // each of A and B
    constexpr std::int64_t size = sizeof(In);
    const bool one_set = g.a.row_stride * size % set_stride == 0;
    direct_a = kernels.direct_a[0][0] != nullptr && g.a.col_stride == 1 &&
               g.k % kernels.group == 0 && g.n <= (one_set ? max_one_set_n : max_direct_n);
    const std::int64_t max_MR = direct_a && one_set ? std::min(kernels.MR, ways) : kernels.MR;
    MR = ceil_div(g.m, ceil_div(g.m, max_MR));  // 16 rows: 8 + 8, not 14 + 2
    // Four rows of A are packed at once. Panels of more of them would not fit L1.
    width_a = kernels.MR <= ways ? round_up(MR, 4) : MR;
    const bool stream_b = streams_b(kernels, g);
    const bool very_few = g.m <= very_few_rows;
    const std::int64_t stream_steps = very_few ? 16 : 128;
    steps = even_part(ceil_div(g.k, kernels.group), stream_b ? stream_steps : max_steps, 4);
    const std::int64_t step_bytes = steps * std::int64_t{sizeof(KGroup)};
    rows = even_part(g.m, packed_bytes / step_bytes, MR);
    const std::int64_t in_l2 = cpu::machine().caches.l2 / 4 / step_bytes;
    const std::int64_t stream_NC = very_few ? 1024 : 256;
    NC = even_part(g.n, stream_b ? stream_NC : in_l2, kernels.NR);
    // One thread packs columns of B just before it uses them; several threads share all of them.
    cols = threads == 1 ? NC : even_part(g.n, packed_bytes / step_bytes, NC);

    // Eight tiles per thread balance the load when other work delays one of the threads.
    const std::int64_t tiles = threads == 1 ? 1 : 8 * threads;
    MC = even_part(rows, ceil_div(rows, ceil_div(tiles, ceil_div(cols, NC))), MR);
  }

  template <class In, class Out>
  static bool streams_b(const cpu::DotKernels<In, Out>& kernels, const Gemm<In, Out>& g) {
    const std::int64_t b_bytes = g.k * g.n * std::int64_t{sizeof(In)};
    return g.m <= 4 * kernels.MR && g.b.col_stride == 1 && b_bytes > cpu::machine().caches.l2;
  }
};

// Prefetch distance of the panel of B, which comes from L2: one row of it feeds MR instructions.
constexpr std::int64_t rows_ahead = 16;

template <class In, class Out>
class Product {
 public:
  Product(const cpu::DotKernels<In, Out>& kernels, const Gemm<In, Out>& g, int threads)
      : kernels_(kernels), g_(g), threads_(threads), blocks_(kernels, g, threads) {}

  // Packed A, packed B, and the start value of the sums of each row.
  std::int64_t memory() const {
    return round_up((a_rows() + blocks_.cols) * blocks_.steps + blocks_.rows, line) + line;
  }

  void run(KGroup* memory) {
    packed_b_ = memory;
    packed_a_ = packed_b_ + blocks_.cols * blocks_.steps;
    start_ = reinterpret_cast<Out*>(packed_a_ + a_rows() * blocks_.steps);
    const std::int64_t KC = blocks_.steps * kernels_.group;
    for (std::int64_t i = 0; i < g_.m; i += blocks_.rows) {
      // k == 0 runs even if K is 0, to apply beta.
      for (std::int64_t k = 0; k == 0 || k < g_.k; k += KC) {
        const std::int64_t depth = std::min(KC, g_.k - k);
        Part part = {
            i, 0, k, std::min(blocks_.rows, g_.m - i), 0, depth, ceil_div(depth, kernels_.group)};
        for (; part.j < g_.n; part.j += blocks_.cols) {
          part.cols = std::min(blocks_.cols, g_.n - part.j);
          pack(part);
          multiply(part);
        }
      }
    }
  }

 private:
  struct Part {
    std::int64_t i, j, k;                   // its first row, column and step
    std::int64_t rows, cols, depth, steps;  // its size; steps: the depth in groups
  };

  std::int64_t a_rows() const { return ceil_div(blocks_.rows, blocks_.MR) * blocks_.width_a; }
  KGroup* panel_of_a(const Part& part, std::int64_t i) const {
    return packed_a_ + i / blocks_.MR * blocks_.width_a * part.steps;
  }

  // Packs B into panels of NR columns and, for the first of them, A into panels of MR rows; k runs
  // along the panel.
  void pack(const Part& part) const {
    const std::int64_t MR = blocks_.MR, NR = kernels_.NR;
    const std::int64_t b_panels = ceil_div(part.cols, NR);
    const bool needs_a = part.j == 0 && (!blocks_.direct_a || kernels_.start_rows != nullptr);
    const std::int64_t a_panels = needs_a ? ceil_div(part.rows, MR) : 0;
    cpu::parallel_for(b_panels + a_panels, threads_, [&](std::int64_t panel) {
      if (panel < b_panels) {
        const std::int64_t j = panel * NR;
        const Matrix<const In> b{&g_.b(part.k, part.j + j), g_.b.row_stride, g_.b.col_stride};
        kernels_.pack_b(part.depth, b, std::min(NR, part.cols - j), NR, packed_b_ + j * part.steps);
        return;
      }
      const std::int64_t i = (panel - b_panels) * MR;
      const std::int64_t rows = std::min(MR, part.rows - i);
      const Matrix<const In> a{&g_.a(part.i + i, part.k), g_.a.row_stride, g_.a.col_stride};
      if (kernels_.start_rows != nullptr) kernels_.start_rows(part.depth, a, rows, start_ + i);
      if (blocks_.direct_a) return;
      kernels_.pack_a(part.depth, a.transposed(), rows, blocks_.width_a, panel_of_a(part, i));
    });
  }

  void multiply(const Part& part) const {
    const std::int64_t MR = blocks_.MR, NR = kernels_.NR;
    const std::int64_t block_rows = ceil_div(part.rows, blocks_.MC);
    const std::int64_t block_cols = ceil_div(part.cols, blocks_.NC);
    // Column by column, so that threads work on the same block of B.
    cpu::parallel_for(block_rows * block_cols, threads_, [&](std::int64_t block) {
      const std::int64_t i0 = block % block_rows * blocks_.MC;
      const std::int64_t j0 = block / block_rows * blocks_.NC;
      for (std::int64_t i = i0; i < std::min(part.rows, i0 + blocks_.MC); i += MR) {
        for (std::int64_t j = j0; j < std::min(part.cols, j0 + blocks_.NC); j += NR) {
          tile(part, i, j);
        }
      }
    });
  }

  void tile(const Part& part, std::int64_t i, std::int64_t j) const {
    const std::int64_t NR = kernels_.NR;
    const std::int64_t rows = std::min(blocks_.MR, part.rows - i);
    const std::int64_t cols = std::min(NR, part.cols - j);
    const auto& tiles = blocks_.direct_a ? kernels_.direct_a : kernels_.packed_a;
    const auto* const a = reinterpret_cast<const KGroup*>(&g_.a(part.i + i, part.k));
    tiles[rows - 1][cols > kernels_.lanes](
        {.k = part.steps,
         .a = blocks_.direct_a ? a : panel_of_a(part, i),
         .a_stride =
             blocks_.direct_a ? g_.a.row_stride * std::int64_t{sizeof(In)} : blocks_.width_a,
         .b = packed_b_ + j * part.steps,
         .b_stride = NR,
         .alpha = g_.alpha,
         .beta = part.k == 0 ? g_.beta : Out{1},
         .c = &g_.c(part.i + i, part.j + j),
         .ldc = g_.c.row_stride,
         .cols = cols,
         .b_ahead = rows_ahead * NR,
         .start = kernels_.start_rows != nullptr ? start_ + i : nullptr});
  }

  static constexpr std::int64_t line = cpu::line<KGroup>;

  const cpu::DotKernels<In, Out>& kernels_;
  const Gemm<In, Out>& g_;
  const int threads_;
  const Blocks blocks_;
  KGroup* packed_a_ = nullptr;
  KGroup* packed_b_ = nullptr;
  Out* start_ = nullptr;  // of each row: DotKernels::start_rows
};

struct DotProducts {
  template <class In, class Out>
  static void run(const Gemm<In, Out>& g, int threads) {
    if (g.m == 0 || g.n == 0 || cpu::multiply_narrow(g, threads)) return;
    const auto* const kernels = cpu::dot_kernels<In, Out>();
    if (kernels == nullptr) return gemm_cpu_cache_blocks.function<In, Out>()(g, threads);
    if (threads == 1 || !Blocks::streams_b(*kernels, g)) {
      Product<In, Out> product(*kernels, g, threads);
      return product.run(cpu::scratch<KGroup>(product.memory()));
    }
    // Each thread streams its own columns, so that none waits for another. All memory is allocated
    // before any thread writes to C.
    const std::int64_t cols = round_up(ceil_div(g.n, 4 * threads), kernels->NR);
    const std::int64_t parts = ceil_div(g.n, cols);
    const auto part_of = [&](std::int64_t part) {
      Gemm<In, Out> own = g;
      own.n = std::min(cols, g.n - part * cols);
      own.b.data = &g.b(0, part * cols);
      own.c.data = &g.c(0, part * cols);
      return own;
    };
    const Gemm<In, Out> first = part_of(0), last = part_of(parts - 1);
    const std::int64_t groups = std::max(Product<In, Out>(*kernels, first, 1).memory(),
                                         Product<In, Out>(*kernels, last, 1).memory());
    KGroup* const memory = cpu::scratch<KGroup>(parts * groups);
    cpu::parallel_for(parts, threads, [&](std::int64_t part) {
      const Gemm<In, Out> own = part_of(part);
      Product<In, Out>(*kernels, own, 1).run(memory + part * groups);
    });
  }
};

}  // namespace

extern const cpu::GemmRung gemm_cpu_dot_products = cpu::gemm_rung<DotProducts>();

}  // namespace rung
