#pragma once
// Tensor maps for kernels that a test launches without the driver.

#include <cstring>

#include "device/cuda/entry/launch.hpp"
#include "vgpu/model/tensor_map.hpp"

namespace rung {

inline vgpu::TensorMap map_of(const cuda::TensorMapSpec& spec) {
  vgpu::TensorMap map;
  map.tag = vgpu::TensorMap::valid_tag;
  map.address = reinterpret_cast<std::uint64_t>(spec.data);
  map.dimensions = spec.products == 0 ? 2 : 3;
  map.element = spec.element_bytes == 1   ? vgpu::TensorElement::u8
                : spec.element_bytes == 2 ? vgpu::TensorElement::bf16
                                          : vgpu::TensorElement::f32;
  map.swizzle = vgpu::TensorSwizzle::bytes_128;
  map.sizes = {static_cast<std::uint32_t>(spec.row_length - 1),
               static_cast<std::uint32_t>(spec.rows - 1),
               static_cast<std::uint32_t>(spec.products - 1)};
  map.strides = {static_cast<std::uint64_t>(spec.ld * spec.element_bytes),
                 static_cast<std::uint64_t>(spec.product_stride * spec.element_bytes)};
  map.box = {static_cast<std::uint16_t>(spec.box_row_length),
             static_cast<std::uint16_t>(spec.box_rows), 1};
  map.steps = {1, 1, 1};
  return map;
}

/// Encodes a map. Leaves the map of an operand without boxes unchanged.
inline void encode(const cuda::TensorMapSpec& spec, cuda::EncodedTensorMap& to) {
  const vgpu::TensorMap map = map_of(spec);
  static_assert(sizeof map <= sizeof to);
  if (!spec.is_empty()) std::memcpy(&to, &map, sizeof map);
}

}  // namespace rung
