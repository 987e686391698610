#include "vgpu/engine/matrix/matrix_memory.hpp"

#include <algorithm>
#include <cstring>

#include "vgpu/engine/matrix/transpose_square.hpp"
#include "vgpu/engine/memory/access.hpp"
#include "vgpu/engine/observers.hpp"
#include "vgpu/engine/warp/warp_ops.hpp"

namespace rung::vgpu {
namespace {

constexpr int matrix_rows = 8;
constexpr std::uint32_t row_bytes = 16;

using Element = std::uint16_t;

static_assert(matrix_rows == square_size);

/// Lane 4 r + c / 2 holds elements c and c + 1 of row r, or of column r if transposed.
template <bool Load, bool Transposed>
void move_matrix(std::byte* const (&rows)[matrix_rows], Element* fragment) {
  Square moved;
  if constexpr (Load && Transposed) {
    transpose_square([&](int i) { return rows[i]; }, moved);
    std::memcpy(fragment, moved, sizeof moved);
  } else if constexpr (Load) {
    for (int i = 0; i < matrix_rows; ++i) {
      std::memcpy(fragment + i * matrix_rows, rows[i], row_bytes);
    }
  } else if constexpr (Transposed) {
    transpose_square([&](int i) { return fragment + i * matrix_rows; }, moved);
    for (int i = 0; i < matrix_rows; ++i) std::memcpy(rows[i], moved[i], row_bytes);
  } else {
    for (int i = 0; i < matrix_rows; ++i) {
      std::memcpy(rows[i], fragment + i * matrix_rows, row_bytes);
    }
  }
}

/// The address of row `row` of matrix `matrix`.
std::byte* row_address(Shape& shape, const Place& place, int matrix, int row) {
  const int lane = matrix * matrix_rows + row;
  return place.at(shape.address(lane), lane);
}

template <bool Load, bool Transposed>
void move_lanes(Block& block, Warp& warp, const Instr& instr, Shape& shape, const Place& place) {
  const auto& op = instr.op<MemoryOp>();
  if (block.worker.observe) {
    Worker::Accesses& accesses = block.worker.accesses[op.site];
    ++accesses.requests;
    ++accesses.issued_requests;
    const auto wavefronts = static_cast<std::uint64_t>(shape.matrix_wavefronts(op.count));
    accesses.units += wavefronts;
    accesses.issued_wavefronts += wavefronts;
    const std::uint64_t window = op.space == ptx::Space::generic ? shared_window : 0;
    const std::int64_t offset = op.offset - static_cast<std::int64_t>(window);
    const std::uint64_t low = shape.low + static_cast<std::uint64_t>(offset);
    const std::uint64_t last = shape.high + static_cast<std::uint64_t>(offset) + row_bytes - 1;
    const Regions regions = block.shadow.regions(low, last);
    if constexpr (Load) {
      if ((regions & block.shadow.suspect()) != 0) {
        block.observers.check_read_shared(block, warp, op.site, shape, offset, row_bytes);
      }
      block.observers.log_read(block, warp, op.site, shape, offset, row_bytes);
      block.shadow.log.regions |= regions;
    } else {
      block.observers.settle_reads(block, regions);
      block.shadow.written_since_barrier |= regions;
      block.observers.write_shared(block, warp, op.site, shape, offset, row_bytes);
    }
  }
  for (int matrix = 0; matrix < op.count; ++matrix) {
    std::byte* rows[matrix_rows];
    for (int row = 0; row < matrix_rows; ++row) rows[row] = row_address(shape, place, matrix, row);
    auto* const fragment = warp.row<std::uint32_t>(instr.rows[matrix]);
    move_matrix<Load, Transposed>(rows, reinterpret_cast<Element*>(fragment));
  }
}

template <bool Load, bool Transposed>
void run(Warp& warp, const Instr& instr) {
  const auto& op = instr.op<MemoryOp>();
  Block& block = *warp.block;
  const Mask active = warp.mask;
  if (active != all_lanes) report_bad_participant(warp, instr, ~active);
  // The other lanes' addresses are ignored.
  const Mask addressing = op.count == 4 ? all_lanes : (1u << (op.count * matrix_rows)) - 1;
  warp.mask = addressing;
  Shape& shape = block.worker.shapes[op.slot];
  make_shape()(shape, warp, op);
  const AccessKind kind = Load ? AccessKind::load : AccessKind::store;
  MemoryOp row = op;
  row.bytes = row_bytes;
  row.count = 1;
  Place place;
  if (locate(block, warp, row, shape, kind, place)) {
    move_lanes<Load, Transposed>(block, warp, instr, shape, place);
  } else {
    // If a row's address is invalid, no data are copied and a load returns zeros. The lanes with
    // invalid addresses are reported.
    access_good_lanes(block, warp, instr, row, shape, kind,
                      [](Block&, Warp&, const Instr&, Shape&, const Place&) {});
    for (int matrix = 0; Load && matrix < op.count; ++matrix) {
      std::fill_n(warp.row<std::uint32_t>(instr.rows[matrix]), warp_size, 0u);
    }
  }
  warp.mask = active;
}

}  // namespace

void run_load_matrix(Warp& warp, const Instr& instr) { run<true, false>(warp, instr); }
void run_load_matrix_transposed(Warp& warp, const Instr& instr) { run<true, true>(warp, instr); }
void run_store_matrix(Warp& warp, const Instr& instr) { run<false, false>(warp, instr); }
void run_store_matrix_transposed(Warp& warp, const Instr& instr) { run<false, true>(warp, instr); }

}  // namespace rung::vgpu
