#include "backends/cuda/prepared_gemm.hpp"

#include <new>
#include <utility>

#include "core/integers.hpp"
#include "select/cuda/operands.hpp"

namespace rung::cuda {
namespace {

template <class Pointer>
BatchOperand in_batch(const AnyMatrix<Pointer>& matrix) {
  return {matrix.batch_stride, const_cast<const void* const*>(matrix.pointers)};
}

/// Adds the product dimension to a matrix's map. A matrix with batch stride 0 is shared by all
/// products.
template <class Pointer>
void add_products(TensorMapSpec& spec, const AnyMatrix<Pointer>& matrix, std::int64_t products) {
  spec.products = matrix.batch_stride == 0 ? 1 : products;
  spec.product_stride = matrix.batch_stride;
}

Products products_of(const GemmCall& call, const Groups& groups) {
  return {call.batch,        in_batch(call.a), in_batch(call.b), in_batch(call.c),
          call.batch_status, groups.offsets,   groups.cuts_k};
}

/// The distance between consecutive matrices of a batch, in rows (or columns) of `ld` elements.
template <class Pointer>
std::int64_t lines_apart(const AnyMatrix<Pointer>& matrix) {
  return matrix.batch_stride / (matrix.row_stride * matrix.col_stride);
}

/// Extends the tensor map of the first matrix to all matrices of the batch, stacked vertically.
void extend(TensorMapSpec& spec, std::int64_t matrices, std::int64_t apart) {
  std::int64_t& lines = spec.is_transposed ? spec.row_length : spec.rows;
  if (!spec.is_empty()) lines += (matrices - 1) * apart;
}

/// Maps the matrices of B for grouped rows. If the kernel accepts only K-major operands, row-major
/// matrices are packed one by one: in a stacked copy, k-steps after a group's last one would belong
/// to the next group.
void extend_b(TensorMapSpec& spec, const GemmCall& problem) {
  if (!spec.is_transposed) return extend(spec, problem.batch, lines_apart(problem.b));
  add_products(spec, problem.b, problem.batch);
}

/// True if PreparedMaps stacks copies of B's matrices for a launch.
bool stacks_b(const Launch& launch) {
  return launch.products_per_block == 0 && launch.b.products > 0;
}

/// Describes the matrices of B in such a stacked copy.
void set_stacked(AnyMatrix<const void*>& b, const TensorMapSpec& in_memory, std::int64_t n) {
  b.data = in_memory.data;
  b.row_stride = 1;
  b.col_stride = in_memory.ld;
  b.batch_stride = b.batch_stride == 0 ? 0 : n * in_memory.ld;
}

/// An upper bound on the rows of tiles of all groups, given the number for one group with all rows.
/// Only the device knows the group sizes; each group adds at most one partly filled tile.
std::int64_t rows_of_tiles(std::int64_t of_one_group, const GemmCall& problem) {
  return of_one_group + problem.batch;
}

/// Extends a launch with tensor maps from a single group to all groups.
void extend(Launch& launch, int BN, const GemmCall& problem, const Groups& groups) {
  if (groups.cuts_k) {
    extend(launch.c, problem.batch, lines_apart(problem.c));
    launch.grid.x *= problem.batch;
  } else {
    extend_b(launch.b, problem);
    const std::int64_t cols = ceil_div(problem.n, BN);
    launch.grid.x = rows_of_tiles(launch.grid.x / cols, problem) * cols;
  }
}

/// The number of blocks of a batched kernel, for products or for grouped rows; tile/ragged_tile.cuh
/// maps blocks to tiles. `blocks`: the number for one product.
std::int64_t blocks_of_products(std::int64_t blocks, int products_per_block, int BN,
                                const GemmCall& problem, const Groups& groups) {
  if (groups.offsets == nullptr || groups.cuts_k) {
    return blocks * ceil_div(problem.batch, products_per_block);
  }
  const std::int64_t cols = ceil_div(problem.n, BN);
  return ceil_div(rows_of_tiles(blocks / cols, problem), products_per_block) * cols;
}

/// If an operand is split into parts, points the call to the floats from which they were made.
void set_floats(AnyMatrix<const void*>& matrix, const TensorMapSpec& floats, bool is_b) {
  if (floats.is_empty()) return;
  const bool by_rows = floats.is_scaled_by_row != is_b;
  matrix = {floats.data, by_rows ? floats.ld : 1, by_rows ? 1 : floats.ld};
}

}  // namespace

Launch launch_of(const ConfiguredGemm& gemm, const GemmCall& problem, const Groups& groups) {
  // TMA reads A only by rows if offsets group its rows (tile/group_layouts.cuh).
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
  if (stacks_b(launch)) set_stacked(copied.b, maps_.b(), problem.n);
  visit(problem.dtype, [&]<class In, class Out>(Elements<In, Out>) {
    using Args = KernelArgs<In, Out>;
    static_assert(sizeof(Args) <= offsetof(BlockScaledArgs, scales) &&
                  alignof(Args) <= alignof(BlockScaledArgs));
    ::new (args_) Args{copied.typed<In, Out>(),
                       {gemm.config.splits, gemm.config.whole,
                        maps_.room() == nullptr ? memory.workspace : maps_.room()},
                       maps_.maps(),
                       maps_.scales(),
                       products_of(copied, groups)};
  });
}

void PreparedGemm::set(const BlockScales& scales) {
  ::new (args_ + offsetof(BlockScaledArgs, scales)) BlockScales(scales);
}

}  // namespace rung::cuda
