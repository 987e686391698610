#include "vgpu/engine/matrix/wmma_memory.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "vgpu/engine/execution/block.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/warp/warp_ops.hpp"

namespace rung::vgpu {
namespace {

template <class F>
void set_lanes(Warp& warp, std::uint32_t row, const F& value) {
  auto* const to = warp.row<std::uint32_t>(row);
  for (int lane = 0; lane < warp_size; ++lane) {
    if ((warp.mask >> lane & 1u) != 0) to[lane] = value(lane);
  }
}

std::uint64_t base_of(Warp& warp, const WmmaAddresses& op, int lane) {
  switch (op.base_bytes) {
    case 8: return warp.row<const std::uint64_t>(op.base_row)[lane];
    // Sign-extended, as for MemoryOp::wraps().
    case 4: return static_cast<std::uint64_t>(warp.row<const std::int32_t>(op.base_row)[lane]);
    default: return 0;  // the offset is the whole address
  }
}

void check_alignment(Warp& warp, const Instr& instr, const WmmaAddresses& op) {
  const int lane = first_lane(warp.mask);
  const std::uint64_t address = base_of(warp, op, lane) + static_cast<std::uint64_t>(op.offset);
  const std::uint64_t stride = warp.row<const std::uint32_t>(op.stride_row)[lane];
  const std::uint64_t stride_bytes = stride * op.element_bits / 8;
  if ((address | stride_bytes) % op.alignment == 0) return;
  report(*warp.block, HazardKind::misaligned, warp.block->thread(warp, lane), instr.site,
         op.stores ? "write" : "read", {},
         fmt::format("a matrix at address {:#x} with stride {}: each of its rows must be at a "
                     "multiple of {} bytes",
                     address, stride, op.alignment));
}

}  // namespace

WmmaAddresses wmma_addresses(const WmmaLayout& layout, const WmmaAccesses& accesses,
                             bool column_major) {
  // The requirement of ldmatrix and of accesses to pairs, and of the CUDA C++ Programming Guide:
  // strides are multiples of 16 bytes. (PTX ISA, 9.7.14.4.2 requires the fragment's size.)
  constexpr std::uint32_t most = 16;
  WmmaAddresses result;
  result.element_bits = static_cast<std::uint32_t>(element_bits(layout.element));
  result.alignment =
      std::min(most, static_cast<std::uint32_t>(accesses.distinct * layout.per_register) *
                         result.element_bits / 8);
  for (const WmmaAccess& access : accesses.accesses) {
    auto& places = result.places.emplace_back();
    for (std::size_t lane = 0; lane < places.size(); ++lane) {
      const MatrixPlace& at = access.places[lane];
      places[lane] = {static_cast<std::uint16_t>(column_major ? at.column : at.row),
                      static_cast<std::uint16_t>(column_major ? at.row : at.column)};
    }
  }
  return result;
}

void run_wmma_addresses(Warp& warp, const Instr& instr) {
  const auto& op = instr.op<WmmaAddresses>();
  if (warp.mask != all_lanes) report_bad_participant(warp, instr, ~warp.mask);
  check_alignment(warp, instr, op);
  const auto* const stride = warp.row<const std::uint32_t>(op.stride_row);
  for (std::size_t i = 0; i < op.places.size(); ++i) {
    auto* const to = warp.row<std::uint64_t>(instr.rows[i]);
    for (int lane = 0; lane < warp_size; ++lane) {
      const auto [line, along] = op.places[i][static_cast<std::size_t>(lane)];
      const std::uint64_t element = std::uint64_t{line} * stride[lane] + along;
      to[lane] = base_of(warp, op, lane) + element * op.element_bits / 8;
    }
  }
}

void run_join_bytes(Warp& warp, const Instr& instr) {
  set_lanes(warp, instr.rows[0], [&](int lane) {
    std::uint32_t word = 0;
    for (int i = 0; i < 4; ++i) {
      word |= (warp.row<const std::uint32_t>(instr.rows[1 + i])[lane] & 0xFFu) << (8 * i);
    }
    return word;
  });
}

void run_copy_register(Warp& warp, const Instr& instr) {
  const auto* const from = warp.row<const std::uint32_t>(instr.rows[1]);
  set_lanes(warp, instr.rows[0], [&](int lane) { return from[lane]; });
}

}  // namespace rung::vgpu
