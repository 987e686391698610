#pragma once
// Operands of tcgen05 instructions, to which Instr::imm points (PTX ISA, 9.7.16, "TensorCore 5th Generation
// Family Instructions").

#include <cstdint>
#include <vector>

#include "vgpu/model/async_ops.hpp"

namespace rung::vgpu {

/// Tensor memory consists of 32-bit cells. An address is a lane (bits 16 to 31) and a column (bits 0 to 15)
/// (PTX ISA, 9.7.16.1, "Tensor Memory").
inline constexpr int tensor_lanes = 128, tensor_columns = 512;
/// Lanes that a warp reaches: those of its index in its warpgroup (PTX ISA, 9.7.16.8.1).
inline constexpr int lanes_of_warp = 32;

struct TensorAddress {
  int lane = 0, column = 0;

  static constexpr TensorAddress of(std::uint32_t bits) {
    return {static_cast<int>(bits >> 16), static_cast<int>(bits & 0xFFFF)};
  }
  constexpr std::uint32_t bits() const {
    return static_cast<std::uint32_t>(lane) << 16 | static_cast<std::uint32_t>(column);
  }
};

/// tcgen05.alloc, .dealloc and .relinquish_alloc_permit.
struct TensorAllocationOp {
  enum class Action : std::uint8_t { allocate, release, relinquish };
  Action action = Action::allocate;
  AsyncAddress result;        // allocate: where the address is written, in shared memory
  std::uint32_t address = 0;  // release: row
  std::uint32_t columns = 0;  // row
};

/// The shape of a tcgen05.ld or .st: lanes and bits of each lane (PTX ISA, 9.7.16.2.3).
enum class TensorShape : std::uint8_t { l32_b32, l16_b64, l16_b128, l16_b256, l16_b32_twice };

/// The form of a tcgen05.ld or .st.
struct TensorFragment {
  TensorShape shape = TensorShape::l32_b32;
  int repeats = 1;      // .x1 to .x128
  bool packed = false;  // .pack::16b, .unpack::16b: a register holds the low halves of two columns
  int split = 0;        // .16x32bx2: columns between its halves

  constexpr int lanes() const { return shape == TensorShape::l32_b32 ? 32 : 16; }
  /// Registers per thread.
  constexpr int registers() const {
    return shape == TensorShape::l16_b256   ? 4 * repeats
           : shape == TensorShape::l16_b128 ? 2 * repeats
                                            : repeats;
  }
  /// Columns that the fragment covers, from its address or from a half's first column on.
  constexpr int columns() const {
    const int of_shape = shape == TensorShape::l16_b256   ? 8
                         : shape == TensorShape::l16_b128 ? 4
                         : shape == TensorShape::l16_b64  ? 2
                                                          : 1;
    return of_shape * repeats * (packed ? 2 : 1);
  }
};

/// The cell of a thread's register relative to the fragment's address; of a packed register, the first of two
/// (PTX ISA, 9.7.16.2.3.1, "Memory Layout").
constexpr TensorAddress cell_of(const TensorFragment& fragment, int thread, int index) {
  TensorAddress cell;
  switch (fragment.shape) {
    case TensorShape::l32_b32: cell = {thread, index}; break;
    case TensorShape::l16_b64:
      cell = {thread / 4 + thread % 2 * 8, 2 * index + thread / 2 % 2};
      break;
    case TensorShape::l16_b128:
      cell = {thread / 4 + index % 2 * 8, index / 2 * 4 + thread % 4};
      break;
    case TensorShape::l16_b256:
      cell = {thread / 4 + index / 2 % 2 * 8, index / 4 * 8 + thread % 4 * 2 + index % 2};
      break;
    case TensorShape::l16_b32_twice: cell = {thread % 16, index}; break;
  }
  if (fragment.packed) cell.column *= 2;
  if (fragment.shape == TensorShape::l16_b32_twice) cell.column += thread / 16 * fragment.split;
  return cell;
}

/// tcgen05.ld.red: what each thread also gets of its registers (PTX ISA, 9.7.16.8.3).
struct TensorReduction {
  enum class Type : std::uint8_t { none, f32, u32, s32 };
  Type type = Type::none;
  bool is_max = false;
  bool of_magnitudes = false;  // .abs
  bool keeps_nan = false;      // .NaN
  std::uint32_t row = 0;
};

/// tcgen05.ld and .st.
struct TensorAccessOp {
  TensorFragment fragment;
  bool loads = true;
  TensorReduction reduction;
  AsyncAddress address;
  std::vector<std::uint32_t> rows;
};

/// .kind of a tcgen05.mma (PTX ISA, 9.7.16.2.1, "Matrix shape").
enum class TensorKind : std::uint8_t { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };

constexpr bool has_block_scales(TensorKind kind) { return kind >= TensorKind::mxf8f6f4; }

/// tcgen05.mma.
struct TensorMultiplyOp {
  TensorKind kind = TensorKind::f16;
  int blocks = 1;                  // .cta_group
  bool weight_stationary = false;  // .ws
  bool a_in_tensor_memory = false;
  bool shifts_a = false;  // .ashift: row i of A is lane i + 1, but the last row
  int scales_of_k = 0;    // block scales of a row of A: .scale_vec::1X, 2X or 4X; 0: none
  int scale_d = 0;        // scale-input-d: D is multiplied by 2^-scale_d first
  bool sparse = false;    // .sp: A holds half of its elements, and metadata their positions
  AsyncAddress d, a, scale_a, scale_b, metadata;
  std::uint32_t a_descriptor = 0, b_descriptor = 0, descriptor = 0;  // rows
  std::uint32_t adds = 0;          // predicate row: enable-input-d
  std::uint32_t zero_columns = 0;  // row of the zero-column mask descriptor of .ws
  bool has_zero_columns = false;
  std::vector<std::uint32_t> disabled;  // rows: disable-output-lane, 32 lanes each
};

/// tcgen05.cp (PTX ISA, 9.7.16.9.2).
struct TensorCopyOp {
  enum class Spread : std::uint8_t { none, all_warps, warps_02_13, warps_01_23 };
  int blocks = 1;
  int lanes = 128, bits = 256;
  Spread spread = Spread::none;
  int source_bits = 0;  // of an element of a chunk of 16, if they are widened to bytes; otherwise 0
  AsyncAddress to;
  std::uint32_t descriptor = 0;  // row
};

/// tcgen05.shift.down: each lane takes 32 bytes of the next (PTX ISA, 9.7.16.9.3).
struct TensorShiftOp {
  int blocks = 1;
  AsyncAddress address;
};

/// tcgen05.commit (PTX ISA, 9.7.16.12).
struct TensorCommitOp {
  int blocks = 1;
  bool multicast = false;
  AsyncAddress barrier;
  std::uint32_t mask = 0;  // row, with multicast
};

}  // namespace rung::vgpu
