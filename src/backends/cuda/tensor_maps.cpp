#include "backends/cuda/tensor_maps.hpp"

#include <algorithm>

namespace rung::cuda {
namespace {

constexpr std::int64_t most_copying_blocks = 132 * 8;

bool needs_copy(const Boxes& boxes) { return !boxes.is_empty() && !boxes.is_aligned(); }

/// Rows begin at multiples of 128 bytes, so that a row of a box is one L2 line, not two.
std::int64_t aligned_ld(const Boxes& boxes) {
  const std::int64_t elements = 128 / boxes.element_bytes;
  return round_up(boxes.length, elements);
}

std::int64_t copy_bytes(const Boxes& boxes) {
  if (!needs_copy(boxes)) return 0;
  return up_to_copy(boxes.lines * aligned_ld(boxes) * boxes.element_bytes);
}

TensorMapDataType type_of(const Boxes& boxes) {
  if (boxes.is_tf32) return TensorMapDataType::tfloat32;  // rounds to nearest
  switch (boxes.element_bytes) {
    case 1: return TensorMapDataType::uint8;
    case 2: return TensorMapDataType::uint16;
    default: return TensorMapDataType::float32;
  }
}

}  // namespace

std::int64_t repitched_bytes(const Launch& launch) {
  return copy_bytes(launch.a) + copy_bytes(launch.b);
}

PreparedMaps::PreparedMaps(const DriverApi& api, const Launch& launch, void* room) {
  encode(api, copied(launch.a, room), maps_.a);
  encode(api, copied(launch.b, room), maps_.b);
  encode(api, launch.c, maps_.c);
}

Boxes PreparedMaps::copied(const Boxes& boxes, void*& room) {
  if (!needs_copy(boxes)) return boxes;
  Boxes copy = boxes;
  copy.data = room;
  copy.ld = aligned_ld(boxes);
  copy.is_transposed = false;
  copies_[count_++] = {boxes.data, room,    boxes.length,        boxes.lines,
                       boxes.ld,   copy.ld, boxes.element_bytes, boxes.is_transposed};
  room = static_cast<char*>(room) + copy_bytes(boxes);
  return copy;
}

void PreparedMaps::encode(const DriverApi& api, const Boxes& boxes, EncodedBoxes& map) {
  if (boxes.is_empty() || result_ != Result::success) return;
  const std::uint64_t sizes[] = {static_cast<std::uint64_t>(boxes.length),
                                 static_cast<std::uint64_t>(boxes.lines)};
  const std::uint64_t strides[] = {static_cast<std::uint64_t>(boxes.ld * boxes.element_bytes)};
  const std::uint32_t box[] = {static_cast<std::uint32_t>(boxes.box_length),
                               static_cast<std::uint32_t>(boxes.box_lines)};
  constexpr std::uint32_t every_element[] = {1, 1};
  result_ = api.cuTensorMapEncodeTiled(
      reinterpret_cast<TensorMap*>(&map), type_of(boxes), 2, const_cast<void*>(boxes.data), sizes,
      strides, box, every_element, TensorMapInterleave::none, TensorMapSwizzle::bytes_128,
      TensorMapL2Promotion::bytes_128, TensorMapFill::zeros);
}

Dtype type_of(const Repitch& copy) {
  switch (copy.element_bytes) {
    case 1: return Dtype::i8;
    case 2: return Dtype::bf16;
    default: return Dtype::tf32;
  }
}

Launch launch_of(const Repitch& copy) {
  const std::int64_t tile = Repitch::tile(copy.element_bytes);
  const std::int64_t tiles = ceil_div(copy.lines, tile) * ceil_div(copy.length, tile);
  const std::int64_t pieces = copy.from_transposed ? tiles : copy.lines;
  return {.grid = {std::min(pieces, most_copying_blocks)}, .block = {Repitch::threads}};
}

}  // namespace rung::cuda
