#include "vgpu/engine/matrix/wmma_memory.hpp"

#include <algorithm>

#include "vgpu/model/warp.hpp"

namespace rung::vgpu {
namespace {

template <class F>
void set_lanes(Warp& warp, std::uint32_t row, const F& value) {
  auto* const to = warp.row<std::uint32_t>(row);
  for (int lane = 0; lane < warp_size; ++lane) {
    if ((warp.mask >> lane & 1u) != 0) to[lane] = value(lane);
  }
}

}  // namespace

WmmaAddresses wmma_addresses(const WmmaLayout& layout, const WmmaAccesses& accesses,
                             bool column_major) {
  // Strides must be multiples of 16 bytes, as ldmatrix, accesses to pairs, and the CUDA C++
  // Programming Guide require. (PTX ISA, 9.7.14.4.2 requires a multiple of the fragment's size.)
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
  if (warp.mask == all_lanes) {
    std::copy_n(from, warp_size, warp.row<std::uint32_t>(instr.rows[0]));
    return;
  }
  set_lanes(warp, instr.rows[0], [&](int lane) { return from[lane]; });
}

}  // namespace rung::vgpu
