#include "vgpu/engine/matrix/wmma_accesses.hpp"

namespace rung::vgpu {
namespace {

bool side_by_side(const MatrixPlace& first, const MatrixPlace& second, bool column_major) {
  const MatrixPlace next = column_major ? MatrixPlace{first.row + 1, first.column}
                                        : MatrixPlace{first.row, first.column + 1};
  return second == next;
}

WmmaAccess access(const WmmaLayout& layout, int reg, int registers, int element_index) {
  WmmaAccess result{reg, registers, element_index, {}};
  for (int lane = 0; lane < warp_size; ++lane) {
    result.places[static_cast<std::size_t>(lane)] = layout.place(lane, reg, element_index);
  }
  return result;
}

/// The access for a register of the transposed 8x8 matrix, whose corner is in lane 0.
WmmaAccess transposed_access(const WmmaLayout& layout, int reg) {
  WmmaAccess result = access(layout, reg, 1, 0);
  const MatrixPlace corner = result.places[0];
  for (MatrixPlace& place : result.places) {
    place = {corner.row + place.column - corner.column, corner.column + place.row - corner.row};
  }
  return result;
}

}  // namespace

std::optional<WmmaAccesses> wmma_accesses(const WmmaLayout& layout, bool column_major) {
  const auto next_to_it = [&](int reg, int element_index) {
    return side_by_side(layout.place(0, 0, 0), layout.place(0, reg, element_index), column_major);
  };
  WmmaAccesses result;
  result.distinct = layout.rows * layout.columns / warp_size / layout.per_register;
  const bool crosswise = layout.per_register > 1 && !next_to_it(0, 1);
  const int bits = element_bits(layout.element);
  if (crosswise && bits < 8) return std::nullopt;
  result.path = !crosswise   ? WmmaPath::direct
                : bits == 16 ? WmmaPath::transposed
                             : WmmaPath::by_element;
  // Pairs of sums are loaded and stored together.
  const bool pairs = layout.fragment == WmmaFragment::sum && layout.per_register == 1 &&
                     result.distinct > 1 && next_to_it(1, 0);
  for (int reg = 0; reg < result.distinct; reg += pairs ? 2 : 1) {
    switch (result.path) {
      case WmmaPath::direct:
        result.accesses.push_back(access(layout, reg, pairs ? 2 : 1, 0));
        break;
      case WmmaPath::transposed: result.accesses.push_back(transposed_access(layout, reg)); break;
      case WmmaPath::by_element:
        for (int i = 0; i < layout.per_register; ++i) {
          result.accesses.push_back(access(layout, reg, 1, i));
        }
    }
  }
  return result;
}

}  // namespace rung::vgpu
