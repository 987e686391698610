#include "vgpu/engine/tensor_memory/tensor_operands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/engine/execution/cluster.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/matrix/narrow_multiply.hpp"
#include "vgpu/engine/observers.hpp"
#include "vgpu/engine/tensor_memory/descriptor_check.hpp"

namespace rung::vgpu {
namespace {

constexpr std::uint32_t chunk = 16;  // bytes

/// The chunks that the instruction reads. The first lines of an MN-major chunk may be before the first line that is used.
MatrixOperand operand_of(const TensorSource& source) {
  const int first = source.transposed ? source.first_line / source.per_chunk() * source.per_chunk()
                                      : source.first_line;
  const int end = source.first_line + source.lines;
  return {source.descriptor,
          source.element_bits,
          source.transposed,
          static_cast<std::uint32_t>(first),
          static_cast<std::uint32_t>(end - first),
          source.k};
}

/// Calls f(address, line, k) for each chunk that the instruction reads.
template <class F>
void for_each_chunk(const TensorSource& source, const F& f) {
  operand_of(source).for_each_chunk(
      [&](std::uint32_t address, std::uint32_t line, std::uint32_t k) {
        f(address, static_cast<int>(line) - source.first_line, static_cast<int>(k));
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
  for (int i = std::max(0, -line); i < source.per_chunk() && line + i < source.lines; ++i) {
    std::memcpy(tile.lines[static_cast<std::size_t>(first + line + i)].data() + k * bytes,
                data + i * bytes, static_cast<std::size_t>(bytes));
  }
}

/// Adds the chunks whose lines are in [first, end) to `ranges`.
void collect_ranges(const TensorSource& source, int first, int end,
                    std::vector<AsyncRange>& ranges) {
  ranges.clear();
  for_each_chunk(source, [&](std::uint32_t address, int line, int) {
    const int last = line + (source.transposed ? source.per_chunk() - 1 : 0);
    if (last < first || line >= end) return;
    if (!ranges.empty() && address == ranges.back().offset + ranges.back().bytes) {
      ranges.back().bytes += chunk;
    } else {
      ranges.push_back({address, chunk});
    }
  });
}

/// Checks the reads of A by 16 rows each: a report counts when the sums of its rows are loaded.
void check_rows(const AsyncAccess& access, const TensorSource& source) {
  Block& own = *access.warp.block;
  constexpr int step = SumsInUse::rows_of_unit;
  std::vector<AsyncRange> ranges;
  for (int row = 0; row < source.lines; row += step) {
    collect_ranges(source, row, row + step, ranges);
    HeldReports held(own);
    own.observers.check_async_read(access, ranges, false);
    tensor_memory(source.block).in_use.hold(source.block, *source.sums, row, held.entries);
  }
}

/// Observes the reads of shared memory.
void observe(const TensorIssue& issue, const TensorSource& source) {
  Block& own = issue.block();
  const AsyncAccess access{source.block, issue.warp, issue.lane, issue.instr.site, issue.what};
  thread_local std::vector<AsyncRange> ranges;
  collect_ranges(source, 0, source.lines, ranges);
  if (source.sums == nullptr) {
    own.observers.check_async_read(access, ranges, false);
  } else {
    const bool is_fine = [&] {
      HeldReports held(own);
      own.observers.check_async_read(access, ranges, false);
      return held.entries.empty();
    }();
    if (!is_fine) check_rows(access, source);
  }
  auto& reads = source.block.async->shadow.reads;
  const auto read = static_cast<std::uint32_t>(reads.size());
  reads.push_back(
      {issue.instr.site, own.rank, issue.thread(), issue.component(), issue.number, issue.what});
  if (source.sums != nullptr) {
    reads.back().row_read =
        tensor_memory(source.block).in_use.add(operand_of(source), *source.sums);
  }
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
  issue.block().worker.apart.tcgen05_shared_load_bytes +=
      static_cast<std::uint64_t>(source.lines) * source.k * source.element_bits / 8;
  if (issue.block().worker.observe) {
    if (source.lines_are_rows) check_descriptor(issue, source);
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
  const int k = product.op.sparse ? product.form.k / 2 : product.form.k;
  const int columns = k * element_bits / 32;
  const TensorLayout layout = layout_of_d(product.op, product.rows);
  const int lanes = layout.halves ? tensor_lanes - at.lane : product.rows;
  const TensorRange range{at.lane, lanes, at.column, columns};
  if (!use_cells(issue, block, range, false)) return false;
  TensorMemory& memory = tensor_memory(block);
  if (issue.block().worker.observe) memory.in_use.use(block, range);
  for (int row = 0; row < product.rows; ++row) {
    std::uint8_t* const to = tile.lines[static_cast<std::size_t>(row)].data();
    // .ashift moves rows as tcgen05.shift.down does, all but the last (PTX ISA, 9.7.16.10.9.1).
    const int from = product.op.shifts_a ? std::min(row + 1, product.rows - 1) : row;
    for (int word = 0; word < columns; ++word) {
      std::memcpy(to + 4 * word, &memory.cell(at.lane + layout.lane_of(from), at.column + word), 4);
    }
    if (element_bits <= bits_of(element)) continue;
    // Elements of 4 and 6 bits are in bytes, those of 4 bits from bit 2 on.
    for (int i = 0; i < k; ++i) {
      to[i] = e4m3_of(element, bits_of(element) == 4 ? to[i] >> 2 & 0xF : to[i] & 0x3F);
    }
  }
  return true;
}

namespace {

/// Layouts with rows in half of the lanes start at lane 0 or 16, and metadata at the same as D (PTX ISA, 9.7.16.10.5,
/// 9.7.16.10.8.5).
bool check_half_lanes(const TensorIssue& issue, const TensorProduct& product,
                      TensorAddress metadata) {
  if (metadata.lane == product.d.lane && metadata.lane % 16 == 0 && metadata.lane <= 16)
    return true;
  issue.fail(HazardKind::tensor_memory, tensor_place(metadata),
             fmt::format("the metadata start at lane {} and D at lane {}: expected both at lane 0, "
                         "or both at lane 16",
                         metadata.lane, product.d.lane));
  return false;
}

}  // namespace

bool expand_rows(const TensorIssue& issue, Block& block, TensorAddress metadata,
                 const TensorProduct& product, TensorTile& tile) {
  // Four bits name the positions of two units among four: halves of tf32, elements of 16 and 8 bits, pairs of 4 bits
  // (PTX ISA, 9.7.16.10.8.1 to .3). CuTe states where they are in its layouts of metadata (tmem_e_frg, and tmem_e_frg_ws,
  // which has copies in the lanes of each part of D's columns). Rows in 16 of each 32 lanes are those of layout F.
  const bool is_wide = product.op.kind == TensorKind::f16 || product.op.kind == TensorKind::tf32;
  const std::size_t unit = is_wide ? 2 : 1;
  const int chunks = max_line_bytes / static_cast<int>(4 * unit);
  metadata.column += product.form.selector;
  const TensorLayout layout = layout_of_d(product.op, product.rows);
  if (layout.halves && !check_half_lanes(issue, product, metadata)) return false;
  const int lanes = layout.halves ? tensor_lanes - metadata.lane : product.rows;
  const TensorRange range{metadata.lane, lanes, metadata.column, is_wide ? 1 : 2};
  if (!use_cells(issue, block, range, false)) return false;
  TensorMemory& memory = tensor_memory(block);
  for (int row = 0; row < product.rows; ++row) {
    auto& line = tile.lines[static_cast<std::size_t>(row)];
    const auto packed = line;
    line.fill(0);
    for (int chunk_index = 0; chunk_index < chunks; ++chunk_index) {
      // Lanes 8 to 15 of each 16 have the second half of k, and the upper half of a cell the rows 8 below.
      const int lane =
          layout.lane_of(is_wide ? row / 16 * 16 + chunk_index / 4 * 8 + row % 8 : row);
      const int bit = is_wide ? row / 8 % 2 * 16 + chunk_index % 4 * 4 : chunk_index % 8 * 4;
      const int column = is_wide ? 0 : chunk_index / 8;
      const std::uint32_t positions =
          memory.cell(metadata.lane + lane, metadata.column + column) >> bit;
      const auto first = static_cast<std::size_t>(chunk_index) * unit;
      for (std::size_t i = 0; i < 2; ++i) {
        const std::size_t to = 4 * first + (positions >> (2 * i) & 3) * unit;
        std::memcpy(line.data() + to, packed.data() + 2 * first + i * unit, unit);
      }
    }
  }
  return true;
}

bool load_scales(const TensorIssue& issue, Block& block, TensorAddress at,
                 const TensorProduct& product, int lines, int first_byte, TensorScales& scales) {
  at.lane &= 0x3FFF;  // kernels keep the first byte in the upper bits, too
  const int count = product.form.scales_of_k;
  // Without k = 96, bytes after the fourth are the first again.
  const auto byte_of = [&](int i) {
    return product.form.k == 96 ? first_byte + i : (first_byte + i) % 4;
  };
  const int columns = place_of_scale(lines - 1, byte_of(count - 1), lines).column + 1;
  if (!use_cells(issue, block, {at.lane, tensor_lanes - at.lane, at.column, columns}, false)) {
    return false;
  }
  TensorMemory& memory = tensor_memory(block);
  for (int line = 0; line < lines; ++line) {
    for (int i = 0; i < count; ++i) {
      const ScalePlace place = place_of_scale(line, byte_of(i), lines);
      const std::uint32_t cell = memory.cell(at.lane + place.lane, at.column + place.column);
      const std::uint32_t bits = cell >> (place.byte * 8) & 0xFF;
      scales[static_cast<std::size_t>(line)][static_cast<std::size_t>(i)] =
          scale_of(bits, product.form.has_e8m0_scales);
    }
  }
  return true;
}

}  // namespace rung::vgpu
