#pragma once
// The launch of a gemm kernel and the parameters that the host passes to it.

#include <cstddef>
#include <cstdint>

#include "core/problem.hpp"

namespace rung::cuda {

struct Dim3 {
  std::int64_t x = 1, y = 1, z = 1;

  constexpr std::int64_t count() const { return x * y * z; }
};

/// A matrix that TMA copies in boxes; the host encodes it as a tensor map (CUtensorMap). A row is a
/// run of contiguous elements, so it may be a column of a column-major matrix. In shared memory, a
/// box row has 128 bytes and is swizzled.
struct TensorMapSpec {
  const void* data = nullptr;  // device memory; null if the kernel does not use this tensor map
  int element_bytes = 0;
  std::int64_t row_length = 0;  // in elements
  std::int64_t rows = 0;
  std::int64_t ld = 0;  // elements between row starts
  int box_row_length = 0, box_rows = 0;
  /// If true, the matrix is stored column by column instead, with `ld` elements between columns.
  bool is_transposed = false;
  bool is_tf32 = false;  // TMA rounds the elements to tf32
  /// If is_split, elements are floats and the map describes their halves
  /// (library/split_operand.hpp). Scales are per row if is_scaled_by_row, otherwise per column.
  bool is_split = false, is_scaled_by_row = false;
  /// If true, the map describes the digits of floats (library/split_digits.hpp) or the residues of
  /// doubles (library/split_residues.hpp).
  bool is_in_digits = false;
  /// For a batched kernel, the map has the products as a third dimension: their number and the
  /// stride in elements. 0: one matrix, two dimensions.
  std::int64_t products = 0, product_stride = 0;

  /// True if TMA can read the matrix in place: all rows begin at multiples of 16 bytes.
  constexpr bool is_aligned() const {
    return !is_transposed && ld * element_bytes % 16 == 0 &&
           product_stride * element_bytes % 16 == 0 &&
           reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
  }
  constexpr bool is_empty() const { return data == nullptr || row_length == 0 || rows == 0; }
  /// The leading dimension of a packed copy. Rows begin at multiples of 128 bytes, so that a box
  /// row covers one L2 line instead of two.
  constexpr std::int64_t ld_of_copy() const {
    const std::int64_t line = 128 / element_bytes;
    return (row_length + line - 1) / line * line;
  }
};

/// The launch for one problem.
struct Launch {
  Dim3 grid;  // in blocks; 0 if C is empty
  Dim3 block;
  std::int64_t shared_bytes = 0;  // dynamic
  /// Bytes of global memory. It is zero before the rung's first launch, and only launches of the
  /// rung write to it, one at a time.
  std::int64_t workspace_bytes = 0;
  std::int64_t workspace_bytes_per_block = 0;  // the part that depends on the grid
  int products_per_block = 0;                  // of a batch; 0: one product per launch
  int cluster = 1;                             // cluster size in blocks along x
  /// True if each block computes several tiles: the grid is limited to blocks_per_sm blocks per SM.
  bool persistent = false;
  int blocks_per_sm = 1;
  /// Programmatic dependent launch: blocks may start before the previous kernel in the stream has
  /// finished. The kernel waits for its writes (griddepcontrol.wait).
  bool starts_early = false;
  /// Tensor maps for kernels that take them. A and B may have any layout and alignment: the host
  /// packs them first if TMA cannot read them. C must be aligned, or have no tensor map. A matrix
  /// without a box size is packed but has no tensor map.
  TensorMapSpec a = {}, b = {}, c = {};
};

/// The launch on a device with this many SMs: limits the number of persistent blocks and their
/// workspace.
constexpr Launch fitted(Launch launch, int multiprocessors) {
  const int at_a_time = multiprocessors * launch.blocks_per_sm;
  const int clusters = at_a_time < launch.cluster ? 1 : at_a_time / launch.cluster;
  const std::int64_t blocks = std::int64_t{clusters} * launch.cluster;
  if (!launch.persistent || launch.grid.x <= blocks) return launch;
  launch.workspace_bytes -= (launch.grid.x - blocks) * launch.workspace_bytes_per_block;
  launch.grid.x = blocks;
  return launch;
}

/// A tensor map in the device's encoding: a CUtensorMap.
struct alignas(64) EncodedTensorMap {
  unsigned char bytes[128];
};

struct TensorMaps {
  EncodedTensorMap a, b, c;
};

struct OperandScale;

/// Scales of the rows of A and the columns of B in device memory, for operands that are split into
/// halves or digits (library/split_operand.hpp).
struct OperandScales {
  const OperandScale* a = nullptr;
  const OperandScale* b = nullptr;
};

/// Split-K: several blocks share a tile of C, and each sums a part of k.
struct SplitK {
  int splits = 1;             // maximum number of splits per tile
  int whole = 0;              // GemmConfig::whole
  void* workspace = nullptr;  // Launch::workspace_bytes for semaphores and partial sums
};

/// The matrices of a batch in device memory: at multiples of a stride from the first one, or at the
/// addresses in an array.
struct BatchOperand {
  std::int64_t stride = 0;  // elements
  const void* const* pointers = nullptr;
};

/// The products of a batch. A product with a null pointer is skipped, and *status becomes 1.
///
/// If `offsets` (in device memory) is not null, the products are groups: group i has rows
/// offsets[i] to offsets[i + 1] of A and C, or that range of k. If offsets decrease or exceed the
/// matrices, no group is computed, and *status becomes 1.
struct Products {
  std::int64_t count = 1;
  BatchOperand a = {}, b = {}, c = {};
  int* status = nullptr;
  const std::int32_t* offsets = nullptr;  // count + 1 elements
  bool cuts_k = false;                    // offsets divide k instead of the rows
};

/// The only parameter of a gemm kernel. A kernel that uses neither split-K nor tensor maps takes
/// only its first member, a Gemm.
template <class In, class Out = In>
struct KernelArgs {
  Gemm<In, Out> problem;
  SplitK split_k = {};
  TensorMaps maps = {};
  OperandScales scales = {};
  Products products = {};
};

/// True if the kernel of a class takes Products, OperandScales, a SplitK or TensorMaps.
template <class Class, class In, class Out>
inline constexpr bool takes_mapped_products =
    requires(const Gemm<In, Out> g, TensorMaps maps, Products products) {
      Class::kernel(g, maps, products);
    };
template <class Class, class In, class Out>
inline constexpr bool takes_groups =
    takes_mapped_products<Class, In, Out> && requires { typename Class::RaggedGroups; };
template <class Class, class In, class Out>
inline constexpr bool takes_products = requires(const Gemm<In, Out> g, Products products) {
  Class::kernel(g, products);
} || (takes_mapped_products<Class, In, Out> && !takes_groups<Class, In, Out>);
template <class Class, class In, class Out>
inline constexpr bool takes_scales =
    requires(const Gemm<In, Out> g, TensorMaps maps, SplitK split_k, OperandScales scales) {
      Class::kernel(g, maps, split_k, scales);
    };
template <class Class, class In, class Out>
inline constexpr bool takes_split_k = requires(const Gemm<In, Out> g, SplitK split_k) {
  Class::kernel(g, split_k);
} || requires(const Gemm<In, Out> g, TensorMaps maps, SplitK split_k) {
  Class::kernel(g, maps, split_k);
} || takes_scales<Class, In, Out>;
template <class Class, class In, class Out>
inline constexpr bool takes_maps = requires(const Gemm<In, Out> g, TensorMaps maps) {
  Class::kernel(g, maps);
} || requires(const Gemm<In, Out> g, TensorMaps maps, SplitK split_k) {
  Class::kernel(g, maps, split_k);
} || takes_scales<Class, In, Out> || takes_mapped_products<Class, In, Out>;

/// The offset of the tensor maps in KernelArgs, for all types.
inline constexpr std::size_t maps_offset = offsetof(KernelArgs<float>, maps);
static_assert(maps_offset == offsetof(KernelArgs<double>, maps));

/// Packing of an operand before the launch of a kernel without tensor maps. The rows of a packed
/// copy begin at multiples of 128 bytes, which enables the kernel's fastest loads.
enum class Pack : std::uint8_t {
  no,
  in_order,  // keeps the row order
  mn_major   // rows along m or n
};

/// The configuration of a kernel, which is chosen for each shape and device.
struct GemmConfig {
  int tile = 0;    // an index into GemmRung::tiles
  int splits = 1;  // split-K
  /// The number of leading tiles that are not split. Ignored by persistent kernels, which split at
  /// most the tiles of their last wave.
  int whole = 0;
  Pack pack_a = Pack::no, pack_b = Pack::no;

  constexpr bool packs() const { return pack_a != Pack::no || pack_b != Pack::no; }
  constexpr bool operator==(const GemmConfig&) const = default;
};

/// The tiling of C: a block computes BM x BN elements in k-blocks of BK, a warp WM x WN, and a
/// thread TM x TN. 0: the rung has no tile at that level.
struct Tiling {
  int BM = 0, BN = 0, BK = 0;
  int WM = 0, WN = 0;
  int TM = 1, TN = 1;
};

/// One tile size for which a rung is compiled.
struct TileShape {
  int BM, BN, BK;
  int threads;
  int shared_bytes;
  int cluster = 1;                     // blocks per cluster
  int WM = 0, WN = 0, TM = 1, TN = 1;  // as in Tiling
  bool stages_results = false;         // results go through shared memory
};

/// Every workspace begins with semaphores for all launches of all rungs, so that no partial sum
/// overwrites the semaphore of a later launch.
inline constexpr std::int64_t max_semaphores = 8192;
inline constexpr std::int64_t semaphores_bytes = max_semaphores * std::int64_t{sizeof(unsigned)};

}  // namespace rung::cuda
