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
constexpr std::uint32_t max_box = 256, max_step = 8;

void require_that(bool holds, const std::string& message) {
  if (!holds) fail(Result::invalid_value, "cuTensorMapEncodeTiled: " + message);
}

void check_dimensions(const TensorMap& map) {
  const std::uint32_t element = bytes_of(map.element);
  for (std::size_t i = 0; i < map.dimensions; ++i) {
    require_that(map.box[i] >= 1 && map.box[i] <= max_box,
                 fmt::format("box[{}] {}: 1 to {}", i, map.box[i], max_box));
    require_that(map.steps[i] >= 1 && map.steps[i] <= max_step,
                 fmt::format("element stride [{}] {}: 1 to {}", i, map.steps[i], max_step));
    if (i == 0) continue;
    const std::uint64_t stride = map.strides[i - 1];
    require_that(stride % stride_alignment == 0 && stride < max_stride,
                 fmt::format("stride [{}] of {} bytes: a multiple of {} below 2^40", i - 1, stride,
                             stride_alignment));
  }
  const std::uint32_t row = map.box[0] * element;
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
    require_that(type >= TensorMapDataType::uint8 && type <= TensorMapDataType::tfloat32_ftz,
                 fmt::format("data type {}", static_cast<int>(type)));
    require_that(swizzle >= TensorMapSwizzle::none && swizzle <= TensorMapSwizzle::bytes_128,
                 fmt::format("swizzle {}", static_cast<int>(swizzle)));
    require_that(place != 0 && place % address_alignment == 0,
                 fmt::format("address {:#x}: a multiple of {}", place, address_alignment));
    if (interleave != TensorMapInterleave::none) {
      fail(Result::not_supported, "cuTensorMapEncodeTiled: interleaved layouts are not supported");
    }
    TensorMap encoded;
    encoded.tag = TensorMap::valid_tag;
    encoded.address = place;
    encoded.dimensions = static_cast<std::uint8_t>(rank);
    encoded.element = static_cast<TensorElement>(type);
    encoded.swizzle = static_cast<TensorSwizzle>(swizzle);
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
