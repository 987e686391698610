#include "vgpu/engine/matrix/matrix_memory.hpp"

#include <algorithm>
#include <array>
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

/// Pointers to rows of 16 bytes in shared memory.
using MatrixRows = std::byte* const*;

/// 8x8 matrices of 16-bit elements. Lane 4 r + c / 2 holds elements c and c + 1 of row r, or of column r if transposed.
template <bool Load, bool Transposed>
struct Halves {
  static constexpr bool loads = Load;

  static void move(MatrixRows rows, Element* fragment) {
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

  static void run(Warp& warp, const Instr& instr, MatrixRows rows, int count) {
    for (int matrix = 0; matrix < count; ++matrix) {
      auto* const fragment = warp.row<std::uint32_t>(instr.rows[matrix]);
      move(rows + matrix * matrix_rows, reinterpret_cast<Element*>(fragment));
    }
  }
};

/// The 16 elements of a row as bytes. In shared memory, 4-bit elements take 8 bytes (.b4x16_p64), 6-bit ones 12
/// (.b6x16_p32).
template <int bits>
std::array<std::uint8_t, row_bytes> elements_of(const std::byte* row) {
  std::array<std::uint8_t, row_bytes> elements;
  std::memcpy(elements.data(), row, row_bytes);
  if constexpr (bits == 8) return elements;
  const auto packed = elements;
  for (std::size_t i = 0; i < row_bytes; ++i) {
    const std::size_t at = i * bits;
    const std::uint32_t word = packed[at / 8] | static_cast<std::uint32_t>(packed[at / 8 + 1]) << 8;
    elements[i] = static_cast<std::uint8_t>(word >> (at % 8) & ((1u << bits) - 1));
  }
  return elements;
}

/// .m8n16: lane 4 r + c holds elements 4 c to 4 c + 3 of row r.
template <int bits>
struct NarrowRows {
  static constexpr bool loads = true;

  static void run(Warp& warp, const Instr& instr, MatrixRows rows, int count) {
    for (int i = 0; i < count * matrix_rows; ++i) {
      auto* const fragment = warp.row<std::uint32_t>(instr.rows[i / matrix_rows]);
      const auto elements = elements_of<bits>(rows[i]);
      std::memcpy(fragment + i % matrix_rows * 4, elements.data(), row_bytes);
    }
  }
};

/// .m16n16.trans: the two registers of lane 4 g + q hold elements g and g + 8 of rows 4 q to 4 q + 3.
template <int bits>
struct ByteColumns {
  static constexpr bool loads = true;

  static void run(Warp& warp, const Instr& instr, MatrixRows rows, int count) {
    for (int i = 0; i < count * matrix_rows; ++i) {
      const auto elements = elements_of<bits>(rows[i]);
      const int first = i / (2 * matrix_rows) * 2, row = i % (2 * matrix_rows);
      for (int column = 0; column < 2 * matrix_rows; ++column) {
        auto* const bytes = warp.row<std::uint8_t>(instr.rows[first + column / matrix_rows]);
        const int lane = column % matrix_rows * 4 + row / 4;
        bytes[lane * 4 + row % 4] = elements[static_cast<std::size_t>(column)];
      }
    }
  }
};

/// .m16n8.trans, stored: byte b of lane 4 g + q is element g + 8 (b / 2) of row 2 q + b % 2.
struct StoredColumns {
  static constexpr bool loads = false;

  static void run(Warp& warp, const Instr& instr, MatrixRows rows, int count) {
    for (int matrix = 0; matrix < count; ++matrix) {
      const auto* const bytes = warp.row<std::uint8_t>(instr.rows[matrix]);
      for (int lane = 0; lane < warp_size; ++lane) {
        for (int b = 0; b < 4; ++b) {
          const int row = matrix * matrix_rows + lane % 4 * 2 + b % 2;
          rows[row][lane / 4 + b / 2 * matrix_rows] = std::byte{bytes[lane * 4 + b]};
        }
      }
    }
  }
};

/// The address of the row that a lane provides.
std::byte* row_address(Shape& shape, const Place& place, int lane) {
  return place.at(shape.address(lane), lane);
}

template <class Move>
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
    if constexpr (Move::loads) {
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
  std::byte* rows[warp_size];
  for (int i = 0; i < op.count * matrix_rows; ++i) rows[i] = row_address(shape, place, i);
  Move::run(warp, instr, rows, op.count);
}

template <class Move>
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
  const AccessKind kind = Move::loads ? AccessKind::load : AccessKind::store;
  MemoryOp row = op;
  row.bytes = row_bytes;
  row.count = 1;
  Place place;
  if (locate(block, warp, row, shape, kind, place)) {
    move_lanes<Move>(block, warp, instr, shape, place);
  } else {
    // If a row's address is invalid, no data are copied and a load returns zeros. The lanes with
    // invalid addresses are reported.
    access_good_lanes(block, warp, instr, row, shape, kind,
                      [](Block&, Warp&, const Instr&, Shape&, const Place&) {});
    for (int matrix = 0; Move::loads && matrix < op.count; ++matrix) {
      std::fill_n(warp.row<std::uint32_t>(instr.rows[matrix]), warp_size, 0u);
    }
  }
  warp.mask = active;
}

}  // namespace

Handler matrix_mover(const MatrixMove& move) {
  if (!move.loads) {
    return move.bits == 8    ? run<StoredColumns>
           : move.transposed ? run<Halves<false, true>>
                             : run<Halves<false, false>>;
  }
  if (move.bits == 16) return move.transposed ? run<Halves<true, true>> : run<Halves<true, false>>;
  if (move.transposed) {
    return move.bits == 8   ? run<ByteColumns<8>>
           : move.bits == 6 ? run<ByteColumns<6>>
                            : run<ByteColumns<4>>;
  }
  return move.bits == 6 ? run<NarrowRows<6>> : run<NarrowRows<4>>;
}

}  // namespace rung::vgpu
