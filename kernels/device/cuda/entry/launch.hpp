#pragma once
// How the host launches a kernel of gemm, and what it passes to it.

#include <cstddef>
#include <cstdint>

#include "core/problem.hpp"

namespace rung::cuda {

struct Dim3 {
  std::int64_t x = 1, y = 1, z = 1;

  constexpr std::int64_t count() const { return x * y * z; }
};

/// A matrix that TMA copies in boxes, from which the host makes a tensor map (CUtensorMap). A row
/// is a run of elements that are contiguous in memory: a column of a column-major matrix counts as
/// one. In shared memory a row of a box has 128 bytes and is swizzled.
struct TensorMapSpec {
  const void* data = nullptr;  // in device memory; null if the kernel has no such tensor map
  int element_bytes = 0;
  std::int64_t row_length = 0;  // in elements
  std::int64_t rows = 0;
  std::int64_t ld = 0;  // elements between the beginnings of two rows
  int box_row_length = 0, box_rows = 0;
  /// The matrix is stored column by column instead, with `ld` elements between two columns.
  bool is_transposed = false;
  bool is_tf32 = false;  // TMA rounds the elements
  /// The elements are float, and the map is of their halves (library/split_operand.hpp): each row
  /// has a scale of its own, or each column.
  bool is_split = false, is_scaled_by_row = false;
  /// The map is of the digits of floats (library/split_digits.hpp), or of the residues of doubles
  /// (library/split_residues.hpp).
  bool is_in_digits = false;
  /// Of a kernel for batches, the map has a third dimension, the products: so many matrices, the
  /// stride in elements apart. 0: one matrix, and two dimensions.
  std::int64_t products = 0, product_stride = 0;

  /// Whether TMA can read the matrix where it is: all rows begin at multiples of 16 bytes.
  constexpr bool is_aligned() const {
    return !is_transposed && ld * element_bytes % 16 == 0 &&
           product_stride * element_bytes % 16 == 0 &&
           reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
  }
  constexpr bool is_empty() const { return data == nullptr || row_length == 0 || rows == 0; }
  /// Rows of a copy begin at multiples of 128 bytes: then a row of a box is one line of L2, not two.
  constexpr std::int64_t ld_of_copy() const {
    const std::int64_t line = 128 / element_bytes;
    return (row_length + line - 1) / line * line;
  }
};

/// The launch for one problem.
struct Launch {
  Dim3 grid;  // in blocks; 0 where C is empty
  Dim3 block;
  std::int64_t shared_bytes = 0;  // dynamic
  /// Global memory. It is zero before the rung's first launch, and only launches of the rung write
  /// to it, one at a time.
  std::int64_t workspace_bytes = 0;
  std::int64_t workspace_bytes_per_block = 0;  // the part of it that depends on the grid
  int products_per_block = 0;                  // of a batch; 0: the kernel computes one product
  int cluster = 1;  // blocks, neighbours along x, that read and write each other's shared memory
  /// Each block computes several tiles: the grid is cut to so many blocks for each SM.
  bool persistent = false;
  int blocks_per_sm = 1;
  /// Programmatic dependent launch: blocks may start before the previous kernel in the stream has
  /// finished. The kernel waits for its writes (griddepcontrol.wait).
  bool starts_early = false;
  /// Tensor maps of a kernel that takes them. A and B may have any layout and alignment: the host
  /// packs them first where TMA cannot read them. C must be aligned, or have no tensor map. Without
  /// a box, a matrix is packed and has no tensor map.
  TensorMapSpec a = {}, b = {}, c = {};
};

/// A launch on a device with this many SMs: persistent kernels get fewer blocks, and the workspace
/// for these.
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

/// Where A and B are split into halves or digits: the scales of the rows of A and of the columns of B, in
/// device memory (library/split_operand.hpp).
struct OperandScales {
  const OperandScale* a = nullptr;
  const OperandScale* b = nullptr;
};

/// Split-K: several blocks share a tile of C, and each sums a part of k.
struct SplitK {
  int splits = 1;             // at most so many parts
  int whole = 0;              // GemmConfig::whole
  void* workspace = nullptr;  // Launch::workspace_bytes, for semaphores and partial sums
};

/// Where the matrices of a batch are, in device memory: at multiples of a stride from the first one,
/// or wherever an array of addresses says.
struct BatchOperand {
  std::int64_t stride = 0;  // elements
  const void* const* pointers = nullptr;
};

/// The products of a batch. One with a null pointer is not computed, and *status becomes 1 then.
///
/// With offsets, in device memory, they are ragged groups: the rows of A and C, or k, are those of
/// all groups, and group i has those from offsets[i] to offsets[i + 1]. If offsets decrease or leave
/// the matrices, no group is computed, and *status becomes 1.
struct Products {
  std::int64_t count = 1;
  BatchOperand a = {}, b = {}, c = {};
  int* status = nullptr;
  const std::int32_t* offsets = nullptr;  // count + 1
  bool cuts_k = false;                    // offsets cut k, not the rows
};

/// What a kernel of gemm takes, as its only parameter. A kernel that uses neither split-K nor
/// tensor maps takes the beginning of it alone: a Gemm.
template <class In, class Out = In>
struct KernelArgs {
  Gemm<In, Out> problem;
  SplitK split_k = {};
  TensorMaps maps = {};
  OperandScales scales = {};
  Products products = {};
};

/// Whether the kernel of a class takes Products, OperandScales, a SplitK, TensorMaps.
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

/// Where the tensor maps are in KernelArgs, for all types.
inline constexpr std::size_t maps_offset = offsetof(KernelArgs<float>, maps);
static_assert(maps_offset == offsetof(KernelArgs<double>, maps));

/// Whether the host copies an operand before a launch of a kernel without tensor maps, to rows that
/// begin at multiples of 128 bytes, so that the kernel's fastest copies serve it.
enum class Pack : std::uint8_t {
  no,
  in_order,  // its rows as they are
  mn_major   // its rows along m or n
};

/// The configuration of a kernel that is chosen for each shape and device.
struct GemmConfig {
  int tile = 0;    // an index into GemmRung::tiles
  int splits = 1;  // split-K
  /// So many tiles, the first ones, are not cut. Persistent kernels cut no more than their last wave
  /// in any case, and ignore this.
  int whole = 0;
  Pack pack_a = Pack::no, pack_b = Pack::no;

  constexpr bool packs() const { return pack_a != Pack::no || pack_b != Pack::no; }
  constexpr bool operator==(const GemmConfig&) const = default;
};

/// How C is tiled: a block computes BM x BN elements, in k-blocks of BK; a warp WM x WN, a thread
/// TM x TN. 0: the rung has no tile at that level.
struct Tiling {
  int BM = 0, BN = 0, BK = 0;
  int WM = 0, WN = 0;
  int TM = 1, TN = 1;
};

/// One tile size that a rung is compiled for.
struct TileShape {
  int BM, BN, BK;
  int threads;
  int shared_bytes;
  int cluster = 1;                     // blocks
  int WM = 0, WN = 0, TM = 1, TN = 1;  // as in Tiling
  bool stages_results = false;         // in shared memory, on their way to C
};

/// The head of every workspace holds the semaphores of its launches, whichever rung they are of, so
/// that no partial sum overwrites the semaphore of a later launch.
inline constexpr std::int64_t max_semaphores = 8192;
inline constexpr std::int64_t semaphores_bytes = max_semaphores * std::int64_t{sizeof(unsigned)};

}  // namespace rung::cuda
