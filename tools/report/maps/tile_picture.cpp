#include "tools/report/maps/tile_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

namespace rung {
namespace {

constexpr int warp_size = 32;

/// Elements with the same owner, as a rectangle.
struct Patch {
  int owner, row, col, rows, cols;
};

/// Covers all elements with a non-negative owner by rectangles. Greedy: as wide as possible, then
/// as high as possible.
std::vector<Patch> patches(const TileMap& tile, const std::function<int(int thread)>& owner_of) {
  std::vector<int> owner;
  for (const int thread : tile.thread) owner.push_back(thread < 0 ? -1 : owner_of(thread));
  const auto at = [&](int row, int col) -> int& {
    return owner[static_cast<std::size_t>(row) * static_cast<std::size_t>(tile.cols) +
                 static_cast<std::size_t>(col)];
  };
  std::vector<Patch> found;
  for (int row = 0; row < tile.rows; ++row) {
    for (int col = 0; col < tile.cols; ++col) {
      const int who = at(row, col);
      if (who < 0) continue;
      int cols = 1, rows = 1;
      while (col + cols < tile.cols && at(row, col + cols) == who) ++cols;
      const auto row_is_theirs = [&](int r) {
        for (int c = col; c < col + cols; ++c) {
          if (at(r, c) != who) return false;
        }
        return true;
      };
      while (row + rows < tile.rows && row_is_theirs(row + rows)) ++rows;
      for (int r = row; r < row + rows; ++r) {
        for (int c = col; c < col + cols; ++c) at(r, c) = -1;
      }
      found.push_back({who, row, col, rows, cols});
    }
  }
  return found;
}

constexpr double left = 34;
constexpr double top = 22;
constexpr double largest = 400;

class Drawing {
 public:
  Drawing(const TileMap& tile, const std::string& id, const std::string& description)
      : tile_(tile),
        unit_(std::max(1.0, largest / std::max(tile.rows, tile.cols))),
        picture_(id, left + unit_ * tile.cols + 8, top + unit_ * tile.rows + 8,
                 "A block's tile of C: which warp and which thread computes what", description) {}

  svg::Picture draw() {
    axes();
    warps();
    lanes_of_warp_0();
    thread_0();
    return std::move(picture_);
  }

 private:
  svg::Box box(const Patch& patch) const {
    return {left + unit_ * patch.col, top + unit_ * patch.row, unit_ * patch.cols,
            unit_ * patch.rows};
  }

  void axes() {
    picture_.text({left, 14}, "column 0", "soft small");
    picture_.text({left + unit_ * tile_.cols, 14}, fmt::format("{}", tile_.cols), "soft small end");
    picture_.text({left - 6, top + 9}, "row 0", "soft small end");
    picture_.text({left - 6, top + unit_ * tile_.rows}, fmt::format("{}", tile_.rows),
                  "soft small end");
  }

  void warps() {
    std::map<int, bool> labelled;
    for (const Patch& patch : patches(tile_, [](int thread) { return thread / warp_size; })) {
      const svg::Box where = box(patch);
      const bool odd = (patch.row / patch.rows + patch.col / patch.cols) % 2 != 0;
      picture_.rect(where, odd ? "wash2 blue" : "wash1 blue",
                    fmt::format("warp {}: {} x {} elements from ({}, {})", patch.owner, patch.rows,
                                patch.cols, patch.row, patch.col));
      if (labelled.emplace(patch.owner, true).second) label(patch.owner, where);
    }
  }

  /// Avoids overlap of warp 0's label with its thread 0.
  void label(int warp, const svg::Box& where) {
    if (where.width <= 14 || where.height < 9) return;
    if (warp != 0) {
      picture_.text({where.x + where.width / 2, where.y + where.height / 2 + 4},
                    fmt::format("{}", warp), "small middle");
    } else if (where.width > 40) {
      picture_.text({where.x + where.width - 3, where.y + where.height - 4}, "warp 0",
                    "small bold end");
    }
  }

  void lanes_of_warp_0() {
    const auto lane = [](int thread) { return thread < warp_size ? thread : -1; };
    for (const Patch& patch : patches(tile_, lane)) {
      picture_.rect(box(patch), "edge",
                    fmt::format("warp 0, lane {}: {} x {} elements from ({}, {})", patch.owner,
                                patch.rows, patch.cols, patch.row, patch.col));
    }
  }

  void thread_0() {
    for (const Patch& patch : patches(tile_, [](int thread) { return thread == 0 ? 0 : -1; })) {
      picture_.rect(box(patch), "solid orange",
                    fmt::format("thread 0: {} x {} elements from ({}, {})", patch.rows, patch.cols,
                                patch.row, patch.col));
    }
  }

  const TileMap& tile_;
  double unit_;
  svg::Picture picture_;
};

std::string shape(const TileMap::Extent& extent) {
  const std::string span = fmt::format("{} × {}", extent.rows, extent.cols);
  if (extent.rows * extent.cols == extent.elements) return span;
  return fmt::format("{} elements within {}", extent.elements, span);
}

}  // namespace

Figure draw_tile_map(std::string id, const TileMap& tile) {
  const TileMap::Extent block = tile.extent(0, tile.warps() * warp_size - 1);
  const TileMap::Extent warp = tile.extent(0, warp_size - 1);
  const TileMap::Extent thread = tile.extent(0, 0);
  const std::string text = fmt::format("Block: {} elements of C; warp 0 of {}: {}; thread 0: {}.",
                                       shape(block), tile.warps(), shape(warp), shape(thread));
  DataTable table{{"who", "rows", "columns", "elements"}, {}};
  const auto add = [&](const char* who, const TileMap::Extent& extent) {
    const auto cell = [](int value) { return Cell(fmt::format("{}", value), value); };
    table.rows.push_back({who, cell(extent.rows), cell(extent.cols), cell(extent.elements)});
  };
  add("block", block);
  add("warp 0", warp);
  add("thread 0", thread);
  Drawing drawing(tile, id, text);
  return {std::move(id), "A block's tile of C",
          text + " Shades are warps, the solid patch is thread 0.", drawing.draw(),
          std::move(table)};
}

}  // namespace rung
