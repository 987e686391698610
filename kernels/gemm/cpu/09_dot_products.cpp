// gemm/cpu/09_dot_products: dot-product instructions: a lane multiplies the two bfloat16, or the
//   four int8, of a group of consecutive k and adds all products to one 32-bit sum.
// from: 06_cache_blocks | removes: the widening of narrow inputs to 32 bits, which takes an FMA for
//   each product and 32 bits of cache for each element | bottleneck: packing A into groups, which
//   only a wide C amortizes
// needs: AVX512-BF16 for bf16, VNNI for int8 (else int8 uses pmaddwd); other types run 06
//   | try: rung bench gemm/cpu/06 gemm/cpu/09 --dtype bf16

#include <algorithm>
#include <type_traits>

#include "device/cpu/dot_kernels.hpp"
#include "device/cpu/integers.hpp"
#include "device/cpu/machine.hpp"
#include "device/cpu/pack.hpp"
#include "device/cpu/parallel.hpp"
#include "device/cpu/rung.hpp"
#include "device/cpu/workspace.hpp"

namespace rung {

extern const cpu::GemmRung gemm_cpu_06_cache_blocks;

namespace {

using cpu::ceil_div;
using cpu::KGroup;
using cpu::round_up;

// The instructions, with s a 32-bit sum in each lane, and a and b groups of 32 bits:
//
//   vdpbf16ps  s += a[1] * b[1], then s += a[0] * b[0], for bfloat16. Each addition rounds to
//              nearest even. Subnormal inputs count as 0 and subnormal sums become 0.
//   vpdpbusd   s += a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] modulo 2^32, for unsigned
//              bytes a and signed bytes b. For signed a, sum(a b) = sum((a + 128) b) - 128 sum(b):
//              A is packed with the offset, and the sums in the micro-kernel start from -128 times
//              the sums of the columns of B, which are computed as B is packed.
//   pmaddwd    a[0] * b[0] + a[1] * b[1] for int16, to which int8 is widened. An addition follows.
//
// Operands are packed as groups: a step of the micro-kernel loads a group for each column of B and
// broadcasts one for each row of A. The loops are those of 06_cache_blocks with groups in place of
// elements, so that the same number of bytes holds two or four times as many k.
struct Blocks {
  static constexpr std::int64_t max_steps = 512;

  std::int64_t steps, MC, NC;  // steps: KC in groups
  std::int64_t rows, cols;     // of the packed operands

  template <class In, class Out>
  Blocks(const cpu::DotKernels<In, Out>& kernels, const Gemm<In, Out>& g, int threads) {
    constexpr std::int64_t packed_bytes = 16 << 20;  // each of A and B
    steps = even_part(ceil_div(g.k, kernels.group), max_steps, 4);
    const std::int64_t panel_row = (steps + kernels.header) * std::int64_t{sizeof(KGroup)};
    rows = even_part(g.m, packed_bytes / panel_row, kernels.MR);
    cols = even_part(g.n, packed_bytes / panel_row, kernels.NR);
    NC = even_part(cols, cpu::machine().caches.l2 / 4 / panel_row, kernels.NR);

    // Eight tiles per thread balance the load when other work delays one of the threads.
    const std::int64_t tiles = threads == 1 ? 1 : 8 * threads;
    MC = even_part(rows, ceil_div(rows, ceil_div(tiles, ceil_div(cols, NC))), kernels.MR);
  }

  // Splits `whole` into the fewest equal parts of at most `limit`; the part size is a multiple of
  // `unit`.
  static std::int64_t even_part(std::int64_t whole, std::int64_t limit, std::int64_t unit) {
    const std::int64_t parts = std::max<std::int64_t>(1, ceil_div(whole, std::max(limit, unit)));
    return std::max(round_up(ceil_div(whole, parts), unit), unit);
  }
};

// Prefetch distance of the panel of B, which comes from L2: one row of it feeds MR instructions.
constexpr std::int64_t rows_ahead = 16;

template <class In, class Out>
class Product {
 public:
  Product(const cpu::DotKernels<In, Out>& kernels, const Gemm<In, Out>& g, int threads)
      : kernels_(kernels), g_(g), threads_(threads), blocks_(kernels, g, threads) {}

  void run() {
    const std::int64_t a_groups = round_up(blocks_.rows * blocks_.steps, cpu::line<KGroup>);
    const std::int64_t b_groups = blocks_.cols * (blocks_.steps + kernels_.header);
    packed_a_ = cpu::scratch<KGroup>(a_groups + b_groups);
    packed_b_ = packed_a_ + a_groups;
    const std::int64_t KC = blocks_.steps * kernels_.group;
    for (std::int64_t j0 = 0; j0 < g_.n; j0 += blocks_.cols) {
      for (std::int64_t i0 = 0; i0 < g_.m; i0 += blocks_.rows) {
        // k0 == 0 runs even if K is 0, to apply beta.
        for (std::int64_t k0 = 0; k0 == 0 || k0 < g_.k; k0 += KC) {
          const Part part = {i0,
                             j0,
                             k0,
                             std::min(blocks_.rows, g_.m - i0),
                             std::min(blocks_.cols, g_.n - j0),
                             std::min(KC, g_.k - k0)};
          pack(part);
          multiply(part);
        }
      }
    }
  }

 private:
  struct Part {
    std::int64_t i, j, k;            // where it begins
    std::int64_t rows, cols, depth;  // and its size
  };

  std::int64_t steps_of(const Part& part) const { return ceil_div(part.depth, kernels_.group); }
  KGroup* panel_of_a(const Part& part, std::int64_t i) const {
    return packed_a_ + i * steps_of(part);
  }
  KGroup* panel_of_b(const Part& part, std::int64_t j) const {
    return packed_b_ + j * (steps_of(part) + kernels_.header);
  }

  // Packs A into panels of MR rows and B into panels of NR columns; k runs along the panel.
  void pack(const Part& part) const {
    const std::int64_t MR = kernels_.MR, NR = kernels_.NR;
    const std::int64_t a_panels = ceil_div(part.rows, MR);
    const std::int64_t b_panels = ceil_div(part.cols, NR);
    cpu::parallel_for(a_panels + b_panels, threads_, [&](std::int64_t panel) {
      if (panel < a_panels) {
        const std::int64_t i = panel * MR;
        const Matrix<const In> a{&g_.a(part.i + i, part.k), g_.a.col_stride, g_.a.row_stride};
        kernels_.pack_a(part.depth, a, std::min(MR, part.rows - i), MR, panel_of_a(part, i));
      } else {
        const std::int64_t j = (panel - a_panels) * NR;
        const Matrix<const In> b{&g_.b(part.k, part.j + j), g_.b.row_stride, g_.b.col_stride};
        kernels_.pack_b(part.depth, b, std::min(NR, part.cols - j), NR, panel_of_b(part, j));
      }
    });
  }

  void multiply(const Part& part) const {
    const std::int64_t MR = kernels_.MR, NR = kernels_.NR;
    const std::int64_t steps = steps_of(part);
    const Out beta = part.k == 0 ? g_.beta : Out{1};
    const std::int64_t block_rows = ceil_div(part.rows, blocks_.MC);
    const std::int64_t block_cols = ceil_div(part.cols, blocks_.NC);
    // Column by column, so that threads work on the same block of B.
    cpu::parallel_for(block_rows * block_cols, threads_, [&](std::int64_t block) {
      const std::int64_t i0 = block % block_rows * blocks_.MC;
      const std::int64_t j0 = block / block_rows * blocks_.NC;
      for (std::int64_t i = i0; i < std::min(part.rows, i0 + blocks_.MC); i += MR) {
        for (std::int64_t j = j0; j < std::min(part.cols, j0 + blocks_.NC); j += NR) {
          const std::int64_t cols = std::min(NR, part.cols - j);
          kernels_.tile(std::min(MR, part.rows - i), cols)(
              {steps, panel_of_a(part, i), MR, panel_of_b(part, j), NR, g_.alpha, beta,
               &g_.c(part.i + i, part.j + j), g_.c.row_stride, cols, rows_ahead * NR});
        }
      }
    });
  }

  const cpu::DotKernels<In, Out>& kernels_;
  const Gemm<In, Out>& g_;
  const int threads_;
  const Blocks blocks_;
  KGroup* packed_a_ = nullptr;
  KGroup* packed_b_ = nullptr;
};

struct DotProducts {
  template <class In, class Out>
  static void run(const Gemm<In, Out>& g, int threads) {
    if (const auto* kernels = cpu::dot_kernels<In, Out>()) {
      Product<In, Out>(*kernels, g, threads).run();
    } else {
      gemm_cpu_06_cache_blocks.function<In, Out>()(g, threads);
    }
  }
};

}  // namespace

extern const cpu::GemmRung gemm_cpu_09_dot_products = cpu::gemm_rung<DotProducts>();

}  // namespace rung
