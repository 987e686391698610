#include "vgpu/engine/tensor_memory/tensor_operands.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "vgpu/engine/execution/cluster.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/matrix/matrix_elements.hpp"
#include "vgpu/engine/observers.hpp"
#include "vgpu/engine/tensor_memory/descriptor_check.hpp"

namespace rung::vgpu {
namespace {

constexpr std::uint32_t chunk = 16;  // bytes

/// Calls f(address, line, k) for each chunk that the instruction reads.
template <class F>
void for_each_chunk(const TensorSource& source, const F& f) {
  const MatrixOperand operand{source.descriptor,
                              source.element_bits,
                              source.transposed,
                              0,
                              static_cast<std::uint32_t>(source.lines),
                              source.k};
  operand.for_each_chunk([&](std::uint32_t address, std::uint32_t line, std::uint32_t k) {
    f(address, static_cast<int>(line), static_cast<int>(k));
  });
}

/// Converts a chunk of elements of 4 or 6 bits, padded to 16 bytes, to e4m3.
void widen(TensorElement5 element, const std::uint8_t* from, std::uint8_t* to) {
  const int bits = bits_of(element);
  for (int i = 0; i < 16; ++i) {
    const int at = i * bits;
    std::uint32_t word = from[at / 8];
    if (at / 8 + 1 < 16) word |= static_cast<std::uint32_t>(from[at / 8 + 1]) << 8;
    to[i] = e4m3_of(element, word >> (at % 8) & ((1u << bits) - 1));
  }
}

/// Puts a chunk into the lines of the tile.
void place_chunk(const TensorSource& source, const std::uint8_t* data, int line, int k, int first,
                 TensorTile& tile) {
  const int bytes = source.element_bits / 8;
  if (!source.transposed) {
    std::uint8_t* const to =
        tile.lines[static_cast<std::size_t>(first + line)].data() + k * source.element_bits / 8;
    if (bits_of(source.element) < source.element_bits) {
      widen(source.element, data, to);
    } else {
      std::memcpy(to, data, chunk);
    }
    return;
  }
  for (int i = 0; i < source.per_chunk() && line + i < source.lines; ++i) {
    std::memcpy(tile.lines[static_cast<std::size_t>(first + line + i)].data() + k * bytes,
                data + i * bytes, static_cast<std::size_t>(bytes));
  }
}

/// Observes the reads of shared memory.
void observe(const TensorIssue& issue, const TensorSource& source) {
  Block& own = issue.block();
  const AsyncAccess access{source.block, issue.warp, issue.lane, issue.instr.site, issue.what};
  thread_local std::vector<AsyncRange> ranges;
  ranges.clear();
  for_each_chunk(source, [&](std::uint32_t address, int, int) {
    if (!ranges.empty() && address == ranges.back().offset + ranges.back().bytes) {
      ranges.back().bytes += chunk;
    } else {
      ranges.push_back({address, chunk});
    }
  });
  own.observers.check_async_read(access, ranges, false);
  auto& reads = source.block.async->shadow.reads;
  const auto read = static_cast<std::uint32_t>(reads.size());
  reads.push_back(
      {issue.instr.site, own.rank, issue.thread(), issue.component(), issue.number, issue.what});
  constexpr int warps_of_group = 4;
  own.observers.note_async_read(access, ranges, issue.warp.index / warps_of_group, read);
}

}  // namespace

bool load_lines(const TensorIssue& issue, const TensorSource& source, int first, TensorTile& tile) {
  const std::uint32_t end = issue.block().worker.launch.shared_bytes;
  std::uint32_t outside = 0;
  bool fits = true;
  for_each_chunk(source, [&](std::uint32_t address, int line, int k) {
    if (address + chunk > end) {
      outside = address;
      fits = false;
      return;
    }
    const auto* const data =
        reinterpret_cast<const std::uint8_t*>(source.block.shared.data()) + address;
    place_chunk(source, data, line, k, first, tile);
  });
  if (!fits) {
    issue.fail(
        HazardKind::out_of_bounds, fmt::format("shared memory + {:#x}", outside),
        fmt::format("the descriptor of {} leads outside of the block's shared memory of {} bytes",
                    source.name, end));
    return false;
  }
  if (issue.block().worker.observe) {
    check_descriptor(issue, source);
    observe(issue, source);
  }
  return true;
}

bool load_rows(const TensorIssue& issue, Block& block, TensorAddress at,
               const TensorProduct& product, TensorTile& tile) {
  const TensorElement5 element = product.form.a;
  const bool packs_nibbles =
      product.op.kind == TensorKind::mxf4 || product.op.kind == TensorKind::mxf4nvf4;
  const int element_bits = packs_nibbles ? 4 : std::max(8, bits_of(element));
  const int k = product.form.k;
  const int columns = k * element_bits / 32;
  const TensorLayout layout{
      1, product.rows == 64 && product.op.blocks == 1 && !product.op.weight_stationary};
  const int lanes = layout.halves ? tensor_lanes - at.lane : product.rows;
  if (!use_cells(issue, block, {at.lane, lanes, at.column, columns}, false)) return false;
  TensorMemory& memory = tensor_memory(block);
  for (int row = 0; row < product.rows; ++row) {
    std::uint8_t* const to = tile.lines[static_cast<std::size_t>(row)].data();
    for (int word = 0; word < columns; ++word) {
      std::memcpy(to + 4 * word, &memory.cell(at.lane + layout.lane_of(row), at.column + word), 4);
    }
    if (element_bits <= bits_of(element)) continue;
    // Elements of 4 and 6 bits are in bytes, those of 4 bits from bit 2 on.
    for (int i = 0; i < k; ++i) {
      to[i] = e4m3_of(element, bits_of(element) == 4 ? to[i] >> 2 & 0xF : to[i] & 0x3F);
    }
  }
  return true;
}

bool load_scales(const TensorIssue& issue, Block& block, TensorAddress at,
                 const TensorProduct& product, int lines, int first_byte, TensorScales& scales) {
  constexpr int lines_of_column = 32;
  at.lane &= 0x3FFF;  // kernels keep the first byte in the upper bits, too
  const int columns = (lines + lines_of_column - 1) / lines_of_column;
  if (!use_cells(issue, block, {at.lane, tensor_lanes - at.lane, at.column, columns}, false))
    return false;
  TensorMemory& memory = tensor_memory(block);
  for (int line = 0; line < lines; ++line) {
    const std::uint32_t cell =
        memory.cell(at.lane + line % lines_of_column, at.column + line / lines_of_column);
    for (int i = 0; i < product.op.scales_of_k; ++i) {
      const std::uint32_t bits = cell >> ((first_byte + i) % 4 * 8) & 0xFF;
      double scale = f32_of_e4m3(bits & 0x7F);
      if (product.form.has_e8m0_scales) {
        scale = bits == 0xFF ? std::numeric_limits<double>::quiet_NaN()
                             : std::ldexp(1.0, static_cast<int>(bits) - 127);
      }
      scales[static_cast<std::size_t>(line)][static_cast<std::size_t>(i)] = scale;
    }
  }
  return true;
}

}  // namespace rung::vgpu
