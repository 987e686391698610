#include "backends/cuda/tensor_maps.hpp"

#include <algorithm>

namespace rung::cuda {
namespace {

constexpr std::int64_t copying_blocks_per_sm = 8;

bool needs_copy(const TensorMapSpec& spec) { return !spec.is_empty() && !spec.is_aligned(); }

/// Rows of a copy begin at multiples of 128 bytes: then a row of a box is one line of L2, not two.
std::int64_t aligned_ld(const TensorMapSpec& spec) {
  const std::int64_t elements = 128 / spec.element_bytes;
  return round_up(spec.row_length, elements);
}

std::int64_t copy_bytes(const TensorMapSpec& spec) {
  if (!needs_copy(spec)) return 0;
  return up_to_copy(spec.rows * aligned_ld(spec) * spec.element_bytes);
}

TensorMapDataType type_of(const TensorMapSpec& spec) {
  if (spec.is_tf32) return TensorMapDataType::tfloat32;  // rounds to nearest
  switch (spec.element_bytes) {
    case 1: return TensorMapDataType::uint8;
    case 2: return TensorMapDataType::uint16;
    default: return TensorMapDataType::float32;
  }
}

}  // namespace

std::int64_t packed_bytes(const Launch& launch) {
  return copy_bytes(launch.a) + copy_bytes(launch.b);
}

PreparedMaps::PreparedMaps(const DriverApi& api, const Launch& launch, void* room) {
  encode(api, copied(launch.a, room), maps_.a);
  encode(api, copied(launch.b, room), maps_.b);
  encode(api, launch.c, maps_.c);
}

TensorMapSpec PreparedMaps::copied(const TensorMapSpec& spec, void*& room) {
  if (!needs_copy(spec)) return spec;
  TensorMapSpec copy = spec;
  copy.data = room;
  copy.ld = aligned_ld(spec);
  copy.is_transposed = false;
  copies_[count_++] = {spec.data, room,    spec.row_length,    spec.rows,
                       spec.ld,   copy.ld, spec.element_bytes, spec.is_transposed};
  room = static_cast<char*>(room) + copy_bytes(spec);
  return copy;
}

void PreparedMaps::encode(const DriverApi& api, const TensorMapSpec& spec, EncodedTensorMap& map) {
  if (spec.is_empty() || result_ != Result::success) return;
  const std::uint64_t sizes[] = {static_cast<std::uint64_t>(spec.row_length),
                                 static_cast<std::uint64_t>(spec.rows)};
  const std::uint64_t strides[] = {static_cast<std::uint64_t>(spec.ld * spec.element_bytes)};
  const std::uint32_t box[] = {static_cast<std::uint32_t>(spec.box_row_length),
                               static_cast<std::uint32_t>(spec.box_rows)};
  constexpr std::uint32_t every_element[] = {1, 1};
  result_ = api.cuTensorMapEncodeTiled(
      reinterpret_cast<TensorMap*>(&map), type_of(spec), 2, const_cast<void*>(spec.data), sizes,
      strides, box, every_element, TensorMapInterleave::none, TensorMapSwizzle::bytes_128,
      TensorMapL2Promotion::bytes_128, TensorMapFill::zeros);
}

Dtype type_of(const PackOperand& copy) {
  switch (copy.element_bytes) {
    case 1: return Dtype::i8;
    case 2: return Dtype::bf16;
    default: return Dtype::tf32;
  }
}

Launch launch_of(const PackOperand& copy, int multiprocessors) {
  const std::int64_t tile = PackOperand::tile(copy.element_bytes);
  const std::int64_t tiles = ceil_div(copy.rows, tile) * ceil_div(copy.row_length, tile);
  const std::int64_t pieces = copy.from_transposed ? tiles : copy.rows;
  return {.grid = {std::min(pieces, copying_blocks_per_sm * multiprocessors)},
          .block = {PackOperand::threads}};
}

}  // namespace rung::cuda
