#pragma once
// Operands of asynchronous instructions, to which Instr::imm points.

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/model/matrix_form.hpp"
#include "vgpu/model/tensor_map.hpp"

namespace rung::vgpu {

/// An address operand: a row, an offset, or both.
struct AsyncAddress {
  std::uint32_t row = 0;
  std::uint8_t bytes = 0;  // of the row's lanes: 4, 8, or 0 if there is no row
  std::int64_t offset = 0;
};

struct MbarrierOp {
  enum class Action : std::uint8_t {
    init,
    inval,
    expect,
    complete,
    arrive,
    arrive_expect,
    arrive_drop,
    test,  // by state
    test_parity,
  };
  Action action = Action::init;
  AsyncAddress address;
  bool has_result = false;  // result is a state, or the predicate of a test
  bool has_value = false;
  bool relaxed = false;      // orders nothing
  bool noinc = false;        // cp.async.mbarrier.arrive: included in the expected arrivals
  std::uint32_t result = 0;  // row
  std::uint32_t value = 0;   // row with a count, bytes, a parity or a state
};

/// cp.async.bulk and cp.async.bulk.tensor, into or out of shared memory.
struct BulkCopyOp {
  /// cancel: clusterlaunchcontrol.try_cancel, whose response arrives as a copy does.
  enum class Direction : std::uint8_t { load, store, between_blocks, cancel };
  /// For a tensor, its map provides the element type.
  enum class Reduction : std::uint8_t {
    none,
    add_elements,
    add_f32,
    add_f64,
    add_f16,
    add_bf16,
    add_u32,
    add_u64
  };
  Direction direction = Direction::load;
  Reduction reduction = Reduction::none;
  bool multicast = false;
  bool picks_rows = false;  // .tile::gather4 and ::scatter4
  TensorMode mode = TensorMode::tiled;
  bool of_pair = false;  // .cta_group::2: the mbarrier may be in the other block of the pair
  AsyncAddress shared, barrier;
  AsyncAddress global;                     // address of the data, or of the tensor map
  std::vector<std::uint32_t> coordinates;  // rows; empty if not a tensor
  std::vector<std::uint32_t> offsets;      // rows: im2col offsets, or wHalo and wOffset
  std::uint32_t bytes = 0;                 // row; not for tensors
  std::uint32_t mask = 0;                  // row, with multicast
  bool tensor() const { return !coordinates.empty(); }
};

/// ld and st of .shared::cluster.
struct ClusterAccessOp {
  AsyncAddress address;
  std::uint32_t bytes = 4;          // per element
  std::uint32_t row_bytes = 4;      // per lane of a row
  std::vector<std::uint32_t> rows;  // one per element
};

/// wgmma.mma_async.
struct WgmmaOp {
  int n = 0, k = 0;
  MatrixElement a = MatrixElement::bf16, b = MatrixElement::bf16, d = MatrixElement::f32;
  bool a_in_registers = false;
  bool negate_a = false, negate_b = false;  // imm-scale
  bool transpose_a = false, transpose_b = false;
  bool saturating = false;
  std::vector<std::uint32_t> sums, a_rows;  // of D and of A
  std::uint32_t a_descriptor = 0, b_descriptor = 0;
  std::uint32_t scale_d = 0;  // predicate row
};

/// Reports the use of a register that a wgmma in flight owns, or that lacks a fence.
struct WgmmaRegisterReport {
  bool in_flight = false;
  std::string message;
};

}  // namespace rung::vgpu
