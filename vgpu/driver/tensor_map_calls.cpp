// Tensor maps (CUDA Driver API, "Tensor Map Object Management").

#include "vgpu/driver/tensor_map_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "vgpu/driver/call.hpp"
#include "vgpu/driver/calls.hpp"
#include "vgpu/model/tensor_map.hpp"

namespace rung::vgpu::driver {
namespace {

using vgpu::TensorMap;

// Limits from the reference of cuTensorMapEncodeTiled and its im2col forms, in bytes and elements.
constexpr std::uint64_t address_alignment = 16, stride_alignment = 16, box_row_alignment = 16;
constexpr std::uint64_t max_elements = 1ull << 32, max_stride = 1ull << 40;
// Padded elements of 4 and 6 bits: 16U4_ALIGN16B, 16U6_ALIGN16B.
constexpr std::uint64_t padded_alignment = 32;
constexpr std::uint32_t padded_box = 128;
constexpr std::uint32_t max_box = 256, max_pixels = 1024, max_step = 8;

const char* name_of(TensorMode mode) {
  switch (mode) {
    case TensorMode::tiled: return "cuTensorMapEncodeTiled";
    case TensorMode::im2col: return "cuTensorMapEncodeIm2col";
    default: return "cuTensorMapEncodeIm2colWide";
  }
}

void require_that(TensorMode mode, bool holds, const std::string& message) {
  if (!holds) fail(Result::invalid_value, fmt::format("{}: {}", name_of(mode), message));
}

/// Limits of padded elements along the first dimension.
void check_padded(const TensorMap& map) {
  const std::uint64_t size = std::uint64_t{map.sizes[0]} + 1;
  require_that(map.mode, size % padded_box == 0,
               fmt::format("size [0] {}: a multiple of {} for this type", size, padded_box));
  require_that(map.mode, map.box[0] == padded_box,
               fmt::format("box[0] {}: {} for this type", map.box[0], padded_box));
  const bool has_wide_swizzle =
      map.swizzle == TensorSwizzle::none ||
      (span_of(map.swizzle) == 128 && map.swizzle != TensorSwizzle::bytes_128_atom_32_flip_8);
  require_that(map.mode, has_wide_swizzle,
               "this type takes no swizzle, or one of 128 bytes without flipped halves");
}

void check_dimensions(const TensorMap& map) {
  const std::uint64_t stride_multiple =
      is_padded(map.element) ? padded_alignment : stride_alignment;
  for (std::size_t i = 0; i < map.dimensions; ++i) {
    const std::uint32_t most = map.mode != TensorMode::tiled && i == 1 ? max_pixels : max_box;
    require_that(map.mode, map.box[i] >= 1 && map.box[i] <= most,
                 fmt::format("box[{}] {}: 1 to {}", i, map.box[i], most));
    require_that(map.mode, map.steps[i] >= 1 && map.steps[i] <= max_step,
                 fmt::format("element stride [{}] {}: 1 to {}", i, map.steps[i], max_step));
    if (i == 0) continue;
    const std::uint64_t stride = map.strides[i - 1];
    require_that(map.mode, stride % stride_multiple == 0 && stride < max_stride,
                 fmt::format("stride [{}] of {} bytes: a multiple of {} below 2^40", i - 1, stride,
                             stride_multiple));
  }
  if (is_padded(map.element)) check_padded(map);
  const std::uint32_t row = shared_bytes_of(map.element, map.box[0]);
  require_that(map.mode, row % box_row_alignment == 0,
               fmt::format("box[0] of {} bytes: a multiple of {}", row, box_row_alignment));
  const std::uint32_t span = span_of(map.swizzle);
  require_that(map.mode, span == 0 || row <= span,
               fmt::format("box[0] of {} bytes: at most the swizzle's {}", row, span));
}

/// Checks what all forms share, and returns the map without its box.
TensorMap tensor_of(TensorMode mode, const Im2colMap& given) {
  require_pointer(given.sizes);
  require_pointer(given.steps);
  const auto place = reinterpret_cast<std::uintptr_t>(given.address);
  const unsigned least = mode == TensorMode::tiled ? 1 : 3;
  require_that(mode, given.rank >= least && given.rank <= TensorMap::max_dimensions,
               fmt::format("rank {}: {} to {}", given.rank, least, TensorMap::max_dimensions));
  require_that(mode, given.rank == 1 || given.strides != nullptr, "strides are null");
  require_that(
      mode, given.type >= TensorMapDataType::uint8 && given.type <= TensorMapDataType::u6_align_16,
      fmt::format("data type {}", static_cast<int>(given.type)));
  require_that(mode,
               given.swizzle >= TensorMapSwizzle::none &&
                   given.swizzle <= TensorMapSwizzle::bytes_128_atom_64,
               fmt::format("swizzle {}", static_cast<int>(given.swizzle)));
  const auto element = static_cast<TensorElement>(given.type);
  const std::uint64_t alignment = is_padded(element) ? padded_alignment : address_alignment;
  require_that(mode, place != 0 && place % alignment == 0,
               fmt::format("address {:#x}: a multiple of {}", place, alignment));
  if (given.interleave != TensorMapInterleave::none) {
    fail(Result::not_supported,
         fmt::format("{}: interleaved layouts are not supported", name_of(mode)));
  }
  TensorMap encoded;
  encoded.tag = TensorMap::valid_tag;
  encoded.address = place;
  encoded.dimensions = static_cast<std::uint8_t>(given.rank);
  encoded.element = element;
  encoded.swizzle = static_cast<TensorSwizzle>(given.swizzle);
  encoded.fill_nan = given.fill == TensorMapFill::nan_request_zero_fma;
  encoded.mode = mode;
  for (std::size_t i = 0; i < given.rank; ++i) {
    require_that(mode, given.sizes[i] >= 1 && given.sizes[i] <= max_elements,
                 fmt::format("size [{}] {}: 1 to 2^32", i, given.sizes[i]));
    encoded.sizes[i] = static_cast<std::uint32_t>(given.sizes[i] - 1);
    encoded.box[i] = 1;
    // Clamp to one above the limit, so that an oversized value is still rejected.
    encoded.steps[i] = static_cast<std::uint8_t>(std::min(given.steps[i], max_step + 1));
    if (i > 0) encoded.strides[i - 1] = given.strides[i - 1];
  }
  return encoded;
}

void set_map(cuda::TensorMap* map, const TensorMap& encoded) {
  check_dimensions(encoded);
  std::memset(map, 0, sizeof *map);
  std::memcpy(map, &encoded, sizeof encoded);
}

/// A map of columns of pixels without its corners.
TensorMap pixels_of(TensorMode mode, const Im2colMap& given) {
  TensorMap encoded = tensor_of(mode, given);
  encoded.box[0] = static_cast<std::uint16_t>(std::min(given.channels_per_pixel, max_box + 1));
  encoded.box[1] = static_cast<std::uint16_t>(std::min(given.pixels_per_column, max_pixels + 1));
  return encoded;
}

/// Sets the corners of dimension i + 1, whose limits depend on the rank (PTX ISA, 5.5.4.1).
void set_corners(TensorMap& map, std::size_t i, int lower, int upper, int bits) {
  const int limit = 1 << bits;
  for (const int corner : {lower, upper}) {
    require_that(map.mode, corner >= -limit && corner < limit,
                 fmt::format("corner [{}] {}: {} to {}", i, corner, -limit, limit - 1));
  }
  map.lower[i] = static_cast<std::int16_t>(lower);
  map.upper[i] = static_cast<std::int16_t>(upper);
}

}  // namespace

Result cuTensorMapEncodeTiled(cuda::TensorMap* map, TensorMapDataType type, unsigned rank,
                              void* address, const std::uint64_t* sizes,
                              const std::uint64_t* strides, const std::uint32_t* box,
                              const std::uint32_t* steps, TensorMapInterleave interleave,
                              TensorMapSwizzle swizzle, TensorMapL2Promotion, TensorMapFill fill) {
  return call_always([&] {
    require_pointer(map);
    require_pointer(box);
    TensorMap encoded = tensor_of(TensorMode::tiled, {type, rank, address, sizes, strides, 0, 0,
                                                      steps, interleave, swizzle, fill});
    for (std::size_t i = 0; i < rank; ++i) {
      encoded.box[i] = static_cast<std::uint16_t>(std::min(box[i], max_box + 1));
    }
    set_map(map, encoded);
  });
}

}  // namespace rung::vgpu::driver

namespace rung::vgpu {

cuda::Result virtual_encode_im2col(cuda::TensorMap* map, const Im2colMap& given, const int* lower,
                                   const int* upper) {
  return driver::call_always([&] {
    driver::require_pointer(map);
    driver::require_pointer(lower);
    driver::require_pointer(upper);
    TensorMap encoded = driver::pixels_of(TensorMode::im2col, given);
    const int bits = given.rank == 3 ? 15 : given.rank == 4 ? 7 : 4;
    for (std::size_t i = 0; i + 2 < given.rank; ++i) {
      driver::set_corners(encoded, i, lower[i], upper[i], bits);
    }
    driver::set_map(map, encoded);
  });
}

cuda::Result virtual_encode_im2col_wide(cuda::TensorMap* map, const Im2colMap& given, int lower,
                                        int upper, bool is_128) {
  return driver::call_always([&] {
    driver::require_pointer(map);
    const TensorMode mode = is_128 ? TensorMode::im2col_w_128 : TensorMode::im2col_w;
    TensorMap encoded = driver::pixels_of(mode, given);
    // PTX ISA, 5.5.5.
    driver::require_that(mode,
                         encoded.swizzle != TensorSwizzle::none &&
                             encoded.swizzle != TensorSwizzle::bytes_128_atom_32_flip_8,
                         "expected a swizzle, and none with flipped halves");
    constexpr int bits = 15;
    driver::set_corners(encoded, 0, lower, upper, bits);
    driver::set_map(map, encoded);
  });
}

}  // namespace rung::vgpu
