#include "tools/layout/tile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <map>
#include <stdexcept>

#include "core/cuda_driver/types.hpp"
#include "vgpu/driver/tensor_map_calls.hpp"
#include "vgpu/driver/virtual_driver.hpp"

namespace rung::layout {
namespace {

constexpr std::uint32_t core_row = 16;    // bytes of a row of a core matrix
constexpr std::uint32_t group_lines = 8;  // rows of a core matrix

std::uint32_t bytes_between_boxes_along_inner(const Tile& tile) {
  return static_cast<std::uint32_t>(tile.boxes_along_outer()) * vgpu::layout::box_bytes(tile.box);
}

/// Line and k of a chunk of a tile.
std::pair<int, int> place_of(const Chunk& chunk, bool transposed) {
  return transposed ? std::pair(chunk.at[0], chunk.at[1]) : std::pair(chunk.at[1], chunk.at[0]);
}

/// True if an operand of `lines` lines reaches beyond one swizzle span, so that the descriptor's
/// LBO counts.
bool uses_leading(const Descriptor& descriptor, bool transposed, int lines,
                  vgpu::MatrixElement type) {
  const auto span = vgpu::span_of(descriptor.swizzle);
  if (span == 0) return true;
  return transposed && static_cast<std::uint32_t>(lines * element_bits(type) / 8) > span;
}

std::string why_stride(const Descriptor& fits, const Descriptor& given, bool transposed) {
  const bool plain = fits.swizzle == vgpu::TensorSwizzle::none;
  return fmt::format("SBO is {}: the next {} {} bytes further in this tile: SBO {}", given.stride,
                     transposed && plain ? "16 bytes along m or n are"
                     : transposed        ? "8 of k are"
                                         : "8 rows of A, or columns of B, are",
                     fits.stride, fits.stride);
}

std::string why_leading(const Descriptor& fits, const Descriptor& given, bool transposed) {
  const bool plain = fits.swizzle == vgpu::TensorSwizzle::none;
  return fmt::format("LBO is {}: the next {} {} bytes further in this tile: LBO {}", given.leading,
                     transposed && plain ? "8 of k are"
                     : transposed        ? "swizzle span along m or n is"
                                         : "16 bytes along k are",
                     fits.leading, fits.leading);
}

/// The tensor element of the same size; a float's own where it has one.
vgpu::TensorElement tensor_element(vgpu::MatrixElement type) {
  using Matrix = vgpu::MatrixElement;
  using Tensor = vgpu::TensorElement;
  switch (type) {
    case Matrix::f16: return Tensor::f16;
    case Matrix::bf16: return Tensor::bf16;
    case Matrix::tf32: return Tensor::tf32;
    case Matrix::f32: return Tensor::f32;
    case Matrix::s32: return Tensor::s32;
    case Matrix::f64: return Tensor::f64;
    case Matrix::s4:
    case Matrix::u4:
      throw std::invalid_argument("elements of 4 bits are copied as pairs: take u8, half as wide");
    default: return Tensor::u8;
  }
}

}  // namespace

vgpu::TensorMap make_box(vgpu::MatrixElement type, const std::vector<int>& extents,
                         vgpu::TensorSwizzle swizzle) {
  const vgpu::TensorElement element = tensor_element(type);
  std::vector<std::uint64_t> sizes, strides;
  std::vector<std::uint32_t> box, steps(extents.size(), 1);
  std::uint64_t stride = bytes_of(element, 1);
  for (const int extent : extents) {
    box.push_back(static_cast<std::uint32_t>(extent));
    sizes.push_back(std::uint64_t{box.back()});
    stride = (stride * sizes.back() + 15) / 16 * 16;
    strides.push_back(stride);
  }
  cuda::TensorMap encoded;
  alignas(16) static std::byte tensor[16];  // never read
  const cuda::Result result = vgpu::virtual_driver().cuTensorMapEncodeTiled(
      &encoded, static_cast<cuda::TensorMapDataType>(element),
      static_cast<unsigned>(extents.size()), tensor, sizes.data(), strides.data(), box.data(),
      steps.data(), cuda::TensorMapInterleave::none, static_cast<cuda::TensorMapSwizzle>(swizzle),
      cuda::TensorMapL2Promotion::none, cuda::TensorMapFill::zeros);
  if (result != cuda::Result::success) throw std::invalid_argument(vgpu::virtual_driver_message());
  vgpu::TensorMap map;
  std::memcpy(static_cast<void*>(&map), &encoded, sizeof map);
  return map;
}

vgpu::TensorMap make_pixels(vgpu::MatrixElement type, const std::vector<int>& box,
                            const std::vector<int>& image, const PixelBox& pixels,
                            vgpu::TensorSwizzle swizzle) {
  const vgpu::TensorElement element = tensor_element(type);
  std::vector<std::uint64_t> sizes{static_cast<std::uint64_t>(box[0])}, strides;
  std::uint64_t stride = (bytes_of(element, static_cast<std::uint32_t>(box[0])) + 15) / 16 * 16;
  std::vector<std::uint32_t> steps{1};
  for (const int extent : image) {
    strides.push_back(stride);
    stride *= static_cast<std::uint64_t>(extent);
    sizes.push_back(static_cast<std::uint64_t>(extent));
    steps.push_back(static_cast<std::uint32_t>(pixels.step));
  }
  cuda::TensorMap encoded;
  alignas(16) static std::byte tensor[16];  // never read
  vgpu::Im2colMap given;
  given.type = static_cast<cuda::TensorMapDataType>(element);
  given.rank = static_cast<unsigned>(sizes.size());
  given.address = tensor;
  given.sizes = sizes.data();
  given.strides = strides.data();
  given.channels_per_pixel = static_cast<std::uint32_t>(box[0]);
  given.pixels_per_column = static_cast<std::uint32_t>(box[1]);
  given.steps = steps.data();
  given.swizzle = static_cast<cuda::TensorMapSwizzle>(swizzle);
  const cuda::Result result =
      vgpu::virtual_encode_im2col(&encoded, given, pixels.lower.data(), pixels.upper.data());
  if (result != cuda::Result::success) throw std::invalid_argument(vgpu::virtual_driver_message());
  vgpu::TensorMap map;
  std::memcpy(static_cast<void*>(&map), &encoded, sizeof map);
  return map;
}

std::uint32_t Tile::offset(int inner_index, int outer_index) const {
  const int number = inner_index / box.box[0] * boxes_along_outer() + outer_index / box.box[1];
  return static_cast<std::uint32_t>(number) * vgpu::layout::box_bytes(box) +
         static_cast<std::uint32_t>(outer_index % box.box[1]) * vgpu::layout::box_pitch(box) +
         bytes_of(box.element, static_cast<std::uint32_t>(inner_index % box.box[0]));
}

std::vector<Chunk> Tile::chunks() const {
  std::vector<Chunk> all;
  for (int i = 0; i < boxes_along_inner(); ++i) {
    for (int j = 0; j < boxes_along_outer(); ++j) {
      const int first = i * box.box[0], first_outer = j * box.box[1];
      for (Chunk chunk : vgpu::layout::box_chunks(box, address + offset(first, first_outer))) {
        chunk.at[0] += first;
        chunk.at[1] += first_outer;
        all.push_back(chunk);
      }
    }
  }
  return all;
}

Descriptor fitting(const Tile& tile, const Part& part) {
  Descriptor fits;
  fits.swizzle = tile.box.swizzle;
  fits.start = tile.address +
               (part.transposed ? tile.offset(0, part.first_k) : tile.offset(part.first_k, 0));
  const std::uint32_t pitch = vgpu::layout::box_pitch(tile.box);
  const std::uint32_t groups = group_lines * pitch, boxes = bytes_between_boxes_along_inner(tile);
  const bool plain = fits.swizzle == vgpu::TensorSwizzle::none;
  // A swizzled K-major operand has no use for LBO; CUTLASS writes one unit.
  fits.leading = plain && part.transposed ? groups : plain || part.transposed ? boxes : core_row;
  fits.stride = plain && part.transposed ? boxes : groups;
  return fits;
}

Fit compare(const Tile& tile, const Part& part, const Descriptor& descriptor) {
  std::map<std::uint32_t, std::pair<int, int>> written;
  for (const Chunk& chunk : tile.chunks()) {
    written[chunk.address] = place_of(chunk, part.transposed);
  }
  Fit fit;
  for (const Chunk& read :
       vgpu::layout::operand_chunks({descriptor, part.type, part.lines, part.k, part.transposed})) {
    ++fit.chunks;
    const std::pair wanted{read.at[1], part.first_k + read.at[0]};
    const auto found = written.find(read.address);
    if (found != written.end() && found->second == wanted) continue;
    ++fit.wrong;
    if (fit.first) continue;
    fit.first = {wanted.first, wanted.second, read.address, std::nullopt};
    if (found != written.end()) fit.first->found = found->second;
  }
  return fit;
}

std::vector<std::string> causes(const Tile& tile, const Part& part, const Descriptor& given) {
  if (compare(tile, part, given).wrong == 0) return {};
  const Descriptor fits = fitting(tile, part);
  if (compare(tile, part, fits).wrong != 0) {
    return {fmt::format(
        "no descriptor reads this tile: its rows of {} bytes are {} bytes apart, and {} wants {}; "
        "use boxes that are {} bytes wide, or another swizzle",
        bytes_of(tile.box.element, tile.box.box[0]), vgpu::layout::box_pitch(tile.box),
        text_of(fits.swizzle), std::max(core_row, span_of(fits.swizzle)),
        std::max(core_row, span_of(fits.swizzle)))};
  }
  std::vector<std::string> alone, all;
  const auto consider = [&](auto Descriptor::* field, const std::string& text) {
    if (given.*field == fits.*field) return;
    Descriptor changed = given;
    changed.*field = fits.*field;
    if (compare(tile, part, changed).wrong == 0) alone.push_back(text);
    all.push_back(text);
  };
  consider(&Descriptor::swizzle,
           fmt::format("the descriptor has {}, but the boxes were written with {}",
                       text_of(given.swizzle), text_of(fits.swizzle)));
  consider(&Descriptor::start,
           fmt::format("start is {:#x}: k {} begins at {:#x}, {} bytes after the tile", given.start,
                       part.first_k, fits.start, fits.start - tile.address));
  consider(&Descriptor::stride, why_stride(fits, given, part.transposed));
  if (uses_leading(fits, part.transposed, part.lines, part.type)) {
    consider(&Descriptor::leading, why_leading(fits, given, part.transposed));
  }
  consider(&Descriptor::base,
           fmt::format("base offset is {}: the swizzle pattern of boxes at a multiple of its size "
                       "begins at line {}",
                       given.base, fits.base));
  return alone.empty() ? all : alone;
}

std::string text_of(vgpu::TensorSwizzle swizzle) {
  const std::uint32_t span = span_of(swizzle);
  return span == 0 ? "no swizzle" : fmt::format("swizzle {} B", span);
}

std::string text_of(const Descriptor& descriptor, bool transposed, int lines,
                    vgpu::MatrixElement type) {
  return fmt::format("start {:#x}, LBO {}{}, SBO {}, base offset {}, {}", descriptor.start,
                     descriptor.leading,
                     uses_leading(descriptor, transposed, lines, type) ? "" : " (not used)",
                     descriptor.stride, descriptor.base, text_of(descriptor.swizzle));
}

}  // namespace rung::layout
