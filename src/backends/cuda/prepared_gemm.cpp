#include "backends/cuda/prepared_gemm.hpp"

#include <new>
#include <utility>

#include "backends/cuda/packing.hpp"
#include "core/integers.hpp"

namespace rung::cuda {
namespace {

template <class Pointer>
BatchOperand in_batch(const AnyMatrix<Pointer>& matrix) {
  return {matrix.batch_stride, const_cast<const void* const*>(matrix.pointers)};
}

/// The map of a matrix of each product. All products read one that is given once.
template <class Pointer>
void add_products(TensorMapSpec& spec, const AnyMatrix<Pointer>& matrix, std::int64_t products) {
  spec.products = matrix.batch_stride == 0 ? 1 : products;
  spec.product_stride = matrix.batch_stride;
}

Products products_of(const GemmCall& call, const Groups& groups) {
  return {call.batch,        in_batch(call.a), in_batch(call.b), in_batch(call.c),
          call.batch_status, groups.offsets,   groups.cuts_k};
}

/// The lines of memory from one matrix of a batch to the next, of `ld` elements each.
template <class Pointer>
std::int64_t lines_apart(const AnyMatrix<Pointer>& matrix) {
  return matrix.batch_stride / (matrix.row_stride * matrix.col_stride);
}

/// A tensor map of a batch's matrices, one below the other, from that of the first one.
void extend(TensorMapSpec& spec, std::int64_t matrices, std::int64_t apart) {
  std::int64_t& lines = spec.is_transposed ? spec.row_length : spec.rows;
  if (!spec.is_empty()) lines += (matrices - 1) * apart;
}

/// The rows of tiles that groups of rows may have together, from those of one group of all rows. How
/// many they have only the device knows; a partly filled one at the end of each is the most.
std::int64_t rows_of_tiles(std::int64_t of_one_group, const GemmCall& problem) {
  return of_one_group + problem.batch;
}

/// A launch with tensor maps for a problem of one group becomes one for all.
void extend(Launch& launch, int BN, const GemmCall& problem, const Groups& groups) {
  if (groups.cuts_k) {
    extend(launch.c, problem.batch, lines_apart(problem.c));
    launch.grid.x *= problem.batch;
  } else {
    extend(launch.b, problem.batch, lines_apart(problem.b));
    const std::int64_t cols = ceil_div(problem.n, BN);
    launch.grid.x = rows_of_tiles(launch.grid.x / cols, problem) * cols;
  }
}

/// The blocks of a kernel for batches, for products or for ragged groups; tile/ragged_tile.cuh says
/// which block has which. `blocks`: those of one product.
std::int64_t blocks_of_products(std::int64_t blocks, int products_per_block, int BN,
                                const GemmCall& problem, const Groups& groups) {
  if (groups.offsets == nullptr || groups.cuts_k) {
    return blocks * ceil_div(problem.batch, products_per_block);
  }
  const std::int64_t cols = ceil_div(problem.n, BN);
  return ceil_div(rows_of_tiles(blocks / cols, problem), products_per_block) * cols;
}

/// Where an operand is in parts, the call has the floats that they are of.
void set_floats(AnyMatrix<const void*>& matrix, const TensorMapSpec& floats, bool is_b) {
  if (floats.is_empty()) return;
  const bool by_rows = floats.is_scaled_by_row != is_b;
  matrix = {floats.data, by_rows ? floats.ld : 1, by_rows ? 1 : floats.ld};
}

}  // namespace

Launch launch_of(const ConfiguredGemm& gemm, const GemmCall& problem, const Groups& groups) {
  // Where offsets cut rows, TMA reads A by rows alone (tile/group_layouts.cuh).
  const bool turns_a = gemm.rung->groups && !groups.cuts_k && problem.a.col_stride != 1;
  GemmCall seen = problem;
  if (turns_a) std::swap(seen.a.row_stride, seen.a.col_stride);
  Launch launch = visit(problem.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    return gemm.rung->launches.of<In, Out>()(seen.typed<In, Out>(), gemm.config);
  });
  launch.a.is_transposed = launch.a.is_transposed || turns_a;
  if (gemm.config.packs()) {
    launch.a = packed_a(gemm.config, problem);
    launch.b = packed_b(gemm.config, problem);
  }
  if (problem.batch == 1 && groups.offsets == nullptr && launch.products_per_block == 0)
    return launch;
  const auto tiles = tiles_of(*gemm.rung, problem.dtype);
  const int BN =
      tiles.empty() ? gemm.rung->tiling.BN : tiles[static_cast<std::size_t>(gemm.config.tile)].BN;
  if (launch.products_per_block > 0) {
    launch.grid.x =
        blocks_of_products(launch.grid.x, launch.products_per_block, BN, problem, groups);
    if (gemm.rung->maps) {
      add_products(launch.a, problem.a, problem.batch);
      add_products(launch.b, problem.b, problem.batch);
      add_products(launch.c, problem.c, problem.batch);
      if (!launch.c.is_aligned()) launch.c = {};
    }
  } else if (groups.offsets != nullptr) {
    extend(launch, BN, problem, groups);
  }
  return launch;
}

PreparedGemm::PreparedGemm(const DriverApi& api, const ConfiguredGemm& gemm,
                           const GemmCall& problem, const Launch& launch, int multiprocessors,
                           const LaunchMemory& memory, const Groups& groups)
    : multiprocessors_(multiprocessors),
      kernel_(kernel_of(gemm, problem.dtype)),
      launch_(launch),
      maps_(gemm.rung->maps || gemm.config.packs() ? PreparedMaps(api, launch, memory.copies)
                                                   : PreparedMaps()) {
  GemmCall copied = with_copies(gemm.config, problem, maps_.a(), maps_.b());
  set_floats(copied.a, maps_.floats_a(), false);
  set_floats(copied.b, maps_.floats_b(), true);
  visit(problem.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    using Args = KernelArgs<In, Out>;
    static_assert(sizeof(Args) <= offsetof(BlockScaledArgs, scales) &&
                  alignof(Args) <= alignof(BlockScaledArgs));
    ::new (args_) Args{copied.typed<In, Out>(),
                       {gemm.config.splits, gemm.config.whole,
                        maps_.room() == nullptr ? memory.workspace : maps_.room()},
                       maps_.maps(),
                       maps_.scales(),
                       products_of(problem, groups)};
  });
}

void PreparedGemm::set(const BlockScales& scales) {
  ::new (args_ + offsetof(BlockScaledArgs, scales)) BlockScales(scales);
}

}  // namespace rung::cuda
