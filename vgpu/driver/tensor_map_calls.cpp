// Tensor maps (CUDA Driver API, "Tensor Map Object Management").

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "vgpu/driver/call.hpp"
#include "vgpu/driver/calls.hpp"
#include "vgpu/model/tensor_map.hpp"

namespace rung::vgpu::driver {
namespace {

using vgpu::TensorMap;

// Limits from the reference of cuTensorMapEncodeTiled, in bytes and elements.
constexpr std::uint64_t address_alignment = 16, stride_alignment = 16, box_row_alignment = 16;
constexpr std::uint64_t max_elements = 1ull << 32, max_stride = 1ull << 40;
// Padded elements of 4 and 6 bits: 16U4_ALIGN16B, 16U6_ALIGN16B.
constexpr std::uint64_t padded_alignment = 32;
constexpr std::uint32_t padded_box = 128;
constexpr std::uint32_t max_box = 256, max_step = 8;

void require_that(bool holds, const std::string& message) {
  if (!holds) fail(Result::invalid_value, "cuTensorMapEncodeTiled: " + message);
}

/// Limits of padded elements along the first dimension.
void check_padded(const TensorMap& map) {
  const std::uint64_t size = std::uint64_t{map.sizes[0]} + 1;
  require_that(size % padded_box == 0,
               fmt::format("size [0] {}: a multiple of {} for this type", size, padded_box));
  require_that(map.box[0] == padded_box,
               fmt::format("box[0] {}: {} for this type", map.box[0], padded_box));
  const bool has_wide_swizzle =
      map.swizzle == TensorSwizzle::none || map.swizzle >= TensorSwizzle::bytes_128;
  require_that(has_wide_swizzle, "this type takes no swizzle, or one of 128 bytes");
}

/// The swizzle that the map names.
TensorSwizzle swizzle_of(TensorMapSwizzle swizzle) {
  switch (swizzle) {
    case TensorMapSwizzle::bytes_128_atom_32: return TensorSwizzle::bytes_128_atom_32;
    case TensorMapSwizzle::bytes_128_atom_64: return TensorSwizzle::bytes_128_atom_64;
    case TensorMapSwizzle::bytes_128_atom_32_flip_8:
      fail(Result::not_supported,
           "cuTensorMapEncodeTiled: the swizzle 128B_ATOM_32B_FLIP_8B is not supported");
    default: return static_cast<TensorSwizzle>(swizzle);
  }
}

void check_dimensions(const TensorMap& map) {
  const std::uint64_t stride_multiple =
      is_padded(map.element) ? padded_alignment : stride_alignment;
  for (std::size_t i = 0; i < map.dimensions; ++i) {
    require_that(map.box[i] >= 1 && map.box[i] <= max_box,
                 fmt::format("box[{}] {}: 1 to {}", i, map.box[i], max_box));
    require_that(map.steps[i] >= 1 && map.steps[i] <= max_step,
                 fmt::format("element stride [{}] {}: 1 to {}", i, map.steps[i], max_step));
    if (i == 0) continue;
    const std::uint64_t stride = map.strides[i - 1];
    require_that(stride % stride_multiple == 0 && stride < max_stride,
                 fmt::format("stride [{}] of {} bytes: a multiple of {} below 2^40", i - 1, stride,
                             stride_multiple));
  }
  if (is_padded(map.element)) check_padded(map);
  const std::uint32_t row = shared_bytes_of(map.element, map.box[0]);
  require_that(row % box_row_alignment == 0,
               fmt::format("box[0] of {} bytes: a multiple of {}", row, box_row_alignment));
  const std::uint32_t span = span_of(map.swizzle);
  require_that(span == 0 || row <= span,
               fmt::format("box[0] of {} bytes: at most the swizzle's {}", row, span));
}

}  // namespace

Result cuTensorMapEncodeTiled(cuda::TensorMap* map, TensorMapDataType type, unsigned rank,
                              void* address, const std::uint64_t* sizes,
                              const std::uint64_t* strides, const std::uint32_t* box,
                              const std::uint32_t* steps, TensorMapInterleave interleave,
                              TensorMapSwizzle swizzle, TensorMapL2Promotion, TensorMapFill fill) {
  return call_always([&] {
    require_pointer(map);
    require_pointer(sizes);
    require_pointer(box);
    require_pointer(steps);
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    require_that(rank >= 1 && rank <= TensorMap::max_dimensions,
                 fmt::format("rank {}: 1 to {}", rank, TensorMap::max_dimensions));
    require_that(rank == 1 || strides != nullptr, "strides are null");
    require_that(type >= TensorMapDataType::uint8 && type <= TensorMapDataType::u6_align_16,
                 fmt::format("data type {}", static_cast<int>(type)));
    require_that(
        swizzle >= TensorMapSwizzle::none && swizzle <= TensorMapSwizzle::bytes_128_atom_64,
        fmt::format("swizzle {}", static_cast<int>(swizzle)));
    const auto element = static_cast<TensorElement>(type);
    const std::uint64_t alignment = is_padded(element) ? padded_alignment : address_alignment;
    require_that(place != 0 && place % alignment == 0,
                 fmt::format("address {:#x}: a multiple of {}", place, alignment));
    if (interleave != TensorMapInterleave::none) {
      fail(Result::not_supported, "cuTensorMapEncodeTiled: interleaved layouts are not supported");
    }
    TensorMap encoded;
    encoded.tag = TensorMap::valid_tag;
    encoded.address = place;
    encoded.dimensions = static_cast<std::uint8_t>(rank);
    encoded.element = element;
    encoded.swizzle = swizzle_of(swizzle);
    encoded.fill_nan = fill == TensorMapFill::nan_request_zero_fma;
    for (std::size_t i = 0; i < rank; ++i) {
      require_that(sizes[i] >= 1 && sizes[i] <= max_elements,
                   fmt::format("size [{}] {}: 1 to 2^32", i, sizes[i]));
      encoded.sizes[i] = static_cast<std::uint32_t>(sizes[i] - 1);
      // Clamp to one above the limit, so that an oversized value is still rejected.
      encoded.box[i] = static_cast<std::uint16_t>(std::min(box[i], max_box + 1));
      encoded.steps[i] = static_cast<std::uint8_t>(std::min(steps[i], max_step + 1));
      if (i > 0) encoded.strides[i - 1] = strides[i - 1];
    }
    check_dimensions(encoded);
    std::memset(map, 0, sizeof *map);
    std::memcpy(map, &encoded, sizeof encoded);
  });
}

}  // namespace rung::vgpu::driver
