#include "tools/analysis/rung_trace/tile_map.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace rung {
namespace {

constexpr int warp_size = 32;

struct Element {
  std::int64_t row, col;
};

/// Calls f(element, thread in its block) for each element of C that an access stores.
template <class F>
void for_each_element(const vgpu::WarpAccess& access, const CInMemory& c, const F& f) {
  for (int lane = 0; lane < warp_size; ++lane) {
    if ((access.lanes >> lane & 1) == 0) continue;
    const std::uint64_t address = access.address[static_cast<std::size_t>(lane)];
    if (address < c.address) continue;
    const auto first = static_cast<std::int64_t>((address - c.address) / c.element_bytes);
    for (std::int64_t e = 0; e < access.bytes / c.element_bytes; ++e) {
      const Element element{(first + e) / c.row_stride, (first + e) % c.row_stride};
      if (element.row < c.rows && element.col < c.cols) f(element, access.warp * warp_size + lane);
    }
  }
}

std::optional<std::uint64_t> block_of_first_element(std::span<const vgpu::WarpAccess> stores,
                                                    const CInMemory& c) {
  std::optional<std::uint64_t> block;
  for (const vgpu::WarpAccess& access : stores) {
    for_each_element(access, c, [&](const Element& element, int) {
      if (element.row == 0 && element.col == 0) block = access.block;
    });
  }
  return block;
}

}  // namespace

int TileMap::warps() const {
  const auto last = std::max_element(thread.begin(), thread.end());
  return last == thread.end() ? 0 : *last / warp_size + 1;
}

TileMap::Extent TileMap::extent(int first, int last) const {
  int low_row = rows, high_row = -1, low_col = cols, high_col = -1, count = 0;
  for (int row = 0; row < rows; ++row) {
    for (int col = 0; col < cols; ++col) {
      const int who = thread[static_cast<std::size_t>(row) * static_cast<std::size_t>(cols) +
                             static_cast<std::size_t>(col)];
      if (who < first || who > last) continue;
      low_row = std::min(low_row, row);
      high_row = std::max(high_row, row);
      low_col = std::min(low_col, col);
      high_col = std::max(high_col, col);
      ++count;
    }
  }
  return {std::max(0, high_row - low_row + 1), std::max(0, high_col - low_col + 1), count};
}

std::optional<TileMap> tile_map(std::span<const vgpu::WarpAccess> stores, const CInMemory& c) {
  const auto block = block_of_first_element(stores, c);
  if (!block) return std::nullopt;
  std::map<std::pair<std::int64_t, std::int64_t>, int> owners;
  TileMap tile;
  for (const vgpu::WarpAccess& access : stores) {
    if (access.block != *block) continue;
    for_each_element(access, c, [&](const Element& element, int thread) {
      owners[{element.row, element.col}] = thread;
      tile.rows = std::max(tile.rows, static_cast<int>(element.row) + 1);
      tile.cols = std::max(tile.cols, static_cast<int>(element.col) + 1);
    });
  }
  tile.thread.assign(static_cast<std::size_t>(tile.rows) * static_cast<std::size_t>(tile.cols), -1);
  for (const auto& [place, thread] : owners) {
    tile.thread[static_cast<std::size_t>(place.first * tile.cols + place.second)] = thread;
  }
  return tile;
}

}  // namespace rung
