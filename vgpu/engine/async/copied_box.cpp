#include "vgpu/engine/async/copied_box.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rung::vgpu {
namespace {

std::uint32_t pixel_bytes(const TensorMap& map) { return bytes_of(map.element, map.box[0]); }

/// Walks the pixels in the order of W, H, D and images. The coordinates are those of the filter's first pixel, within
/// the bounding box (PTX ISA, 5.5.4.1).
class PixelWalk {
 public:
  explicit PixelWalk(const CopiedBox& box) : box_(box), at_(box.at) {}

  /// The row of the pixel `ahead` steps further along W, which may be outside of the bounding box.
  BoxRow row(std::int32_t ahead) const {
    const TensorMap& map = box_.map;
    std::uint64_t address = map.address;
    bool exists = true;
    for (std::size_t i = 1; i < map.dimensions; ++i) {
      std::int64_t place = at_[i];
      if (i + 1 < map.dimensions) place += box_.offsets[i - 1];
      if (i == 1) place += std::int64_t{ahead} * map.steps[1];
      exists = exists && place >= 0 && place <= std::int64_t{map.sizes[i]};
      address += static_cast<std::uint64_t>(place) * map.strides[i - 1];
    }
    const std::int64_t size = std::int64_t{map.sizes[0]} + 1, first = at_[0];
    const std::int64_t begin = std::clamp<std::int64_t>(first, 0, size);
    const std::int64_t end = std::clamp<std::int64_t>(first + map.box[0], begin, size);
    BoxRow row;
    row.bytes = pixel_bytes(map);
    if (!exists) return row;
    row.inside = bytes_of(map.element, static_cast<std::uint32_t>(end - begin));
    row.skipped =
        row.inside == 0 ? 0 : bytes_of(map.element, static_cast<std::uint32_t>(begin - first));
    row.address = address + static_cast<std::uint64_t>(begin) * bits_of(map.element) / 8;
    return row;
  }

  /// Proceeds by the traversal stride. After the upper corner, a dimension starts again at its lower corner; modes of
  /// W keep H and D (5.5.5).
  void advance() {
    const TensorMap& map = box_.map;
    const std::size_t images = map.dimensions - 1u;
    const std::size_t end = map.mode == TensorMode::im2col ? images : 2;
    for (std::size_t i = 1; i < end; ++i) {
      at_[i] += map.steps[i];
      if (at_[i] <= static_cast<std::int64_t>(map.sizes[i]) + map.upper[i - 1]) return;
      at_[i] = map.lower[i - 1];
    }
    ++at_[images];
  }

 private:
  const CopiedBox& box_;
  TensorPlace at_;
};

std::vector<BoxRow> pixel_rows(const CopiedBox& box) {
  std::vector<BoxRow> rows;
  PixelWalk walk(box);
  const auto add = [&](BoxRow row) {
    row.offset = static_cast<std::uint32_t>(rows.size()) * box_pitch(box.map);
    rows.push_back(row);
  };
  while (rows.size() < box.pixels()) {
    for (std::uint32_t i = 0; i < box.pixels_of_run(); ++i) {
      add(walk.row(0));
      // The halo is what a filter reads after the run's last pixel, in the same line of the image.
      if (i + 1 == box.pixels_of_run()) {
        for (std::int32_t ahead = 1; ahead <= box.halo; ++ahead) add(walk.row(ahead));
      }
      walk.advance();
    }
  }
  return rows;
}

}  // namespace

std::uint32_t CopiedBox::pixels_of_run() const {
  constexpr std::uint32_t between_halos = 32;  // im2col::w::128
  return map.mode == TensorMode::im2col_w_128 ? between_halos : map.box[1];
}

std::uint32_t CopiedBox::pixels() const {
  const std::uint32_t runs =
      map.mode == TensorMode::im2col_w_128 ? pixels_of_w_128 / pixels_of_run() : 1;
  return runs * (pixels_of_run() + static_cast<std::uint32_t>(halo));
}

std::uint32_t CopiedBox::extent() const {
  if (map.mode != TensorMode::tiled) return pixels() * box_pitch(map);
  return boxes() * box_extent(map);
}

std::uint32_t CopiedBox::signalled_bytes() const {
  if (map.mode != TensorMode::tiled) return pixels() * pixel_bytes(map);
  return boxes() * map.box_bytes();
}

std::vector<BoxRow> rows_of(const CopiedBox& box) {
  if (box.map.mode != TensorMode::tiled) return pixel_rows(box);
  if (!box.picks_rows) return box_rows(box.map, box.at);
  std::vector<BoxRow> rows;
  for (std::size_t i = 0; i < CopiedBox::picked_rows; ++i) {
    for (BoxRow row : box_rows(box.map, {box.at[0], box.rows[i]})) {
      row.offset += static_cast<std::uint32_t>(i) * box_extent(box.map);
      rows.push_back(row);
    }
  }
  return rows;
}

std::string position_error(const CopiedBox& box) {
  const TensorMap& map = box.map;
  if (map.mode == TensorMode::tiled) return {};
  // In modes of W, the first pixel may be on the left of the bounding box (5.5.5.1).
  const std::size_t end = map.mode == TensorMode::im2col ? map.dimensions - 1u : 2;
  for (std::size_t i = 1; i < end; ++i) {
    const std::int64_t last = static_cast<std::int64_t>(map.sizes[i]) + map.upper[i - 1];
    const bool is_before = map.mode == TensorMode::im2col && box.at[i] < map.lower[i - 1];
    if (!is_before && box.at[i] <= last) continue;
    return fmt::format("coordinate {} is {}: expected {} to {}, the bounding box of the tensor map",
                       i, box.at[i], map.lower[i - 1], last);
  }
  return {};
}

}  // namespace rung::vgpu
