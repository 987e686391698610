// Computes the addresses of wmma.load and wmma.store, compiled for each instruction set.

#include "vgpu/engine/matrix/wmma_memory.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "vgpu/engine/matrix/wmma_addresses.cpp"
#include "vgpu/engine/lanes/targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "vgpu/engine/execution/block.hpp"
#include "vgpu/engine/execution/report.hpp"
#include "vgpu/engine/warp/warp_ops.hpp"

HWY_BEFORE_NAMESPACE();
namespace rung::vgpu::HWY_NAMESPACE {
namespace {

using Addresses = std::array<std::uint64_t, warp_size>;

/// Reads the base addresses of all lanes, without the offset.
void set_bases(Warp& warp, const WmmaAddresses& op, Addresses& bases) {
  switch (op.base_bytes) {
    case 8: std::copy_n(warp.row<const std::uint64_t>(op.base_row), warp_size, bases.data()); break;
    // Sign-extended, see MemoryOp::wraps().
    case 4: std::copy_n(warp.row<const std::int32_t>(op.base_row), warp_size, bases.data()); break;
    default: bases.fill(0);  // the offset is the whole address
  }
}

HWY_NOINLINE void report_misaligned(Warp& warp, const Instr& instr, int lane, std::uint64_t address,
                                    std::uint64_t stride) {
  const auto& op = instr.op<WmmaAddresses>();
  report(*warp.block, HazardKind::misaligned, warp.block->thread(warp, lane), instr.site,
         op.stores ? "write" : "read", {},
         fmt::format("a matrix at address {:#x} with stride {}: each of its rows must be at a "
                     "multiple of {} bytes",
                     address, stride, op.alignment));
}

void run_wmma_addresses(Warp& warp, const Instr& instr) {
  const auto& op = instr.op<WmmaAddresses>();
  if (warp.mask != all_lanes) report_bad_participant(warp, instr, ~warp.mask);
  const auto* const strides = warp.row<const std::uint32_t>(op.stride_row);
  alignas(64) Addresses bases;
  set_bases(warp, op, bases);
  const int lane = first_lane(warp.mask);
  const auto first = static_cast<std::size_t>(lane);
  const std::uint64_t address = bases[first] + static_cast<std::uint64_t>(op.offset);
  const std::uint64_t stride_bytes = std::uint64_t{strides[lane]} * op.element_bits / 8;
  if (((address | stride_bytes) & (op.alignment - 1)) != 0) {
    report_misaligned(warp, instr, lane, address, strides[lane]);
  }
  const int shift = std::countr_zero(op.element_bits);
  for (std::size_t i = 0; i < op.places.size(); ++i) {
    auto* const to = warp.row<std::uint64_t>(instr.rows[i]);
    const auto* const places = op.places[i].data();
    RUNG_LANES for (std::size_t at = 0; at < warp_size; ++at) {
      const std::uint64_t element = std::uint64_t{places[at].line} * strides[at] + places[at].along;
      to[at] = bases[at] + (element << shift >> 3);
    }
  }
}

}  // namespace
}  // namespace rung::vgpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rung::vgpu {

Handler wmma_address_handler() { return RUNG_PICK_LANES(run_wmma_addresses); }

}  // namespace rung::vgpu
#endif
