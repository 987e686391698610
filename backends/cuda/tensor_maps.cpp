#include "backends/cuda/tensor_maps.hpp"

#include <algorithm>
#include <utility>

#include "device/cuda/library/halves_memory.hpp"

namespace rung::cuda {
namespace {

constexpr std::int64_t copying_blocks_per_sm = 8;

/// True if the operand is split into residues: the digit form of double operands.
bool is_in_residues(const TensorMapSpec& spec) {
  return spec.is_in_digits && spec.element_bytes == sizeof(double);
}

/// True if the operand is rounded to a block format, from any layout.
bool is_in_blocks(const TensorMapSpec& spec) { return block_format(spec) != BlockFormat::none; }

/// True if the operand must be packed first. Residues and parts can be made from any operand,
/// digits from any K-major operand.
bool needs_copy(const TensorMapSpec& spec) {
  return !spec.is_empty() && !is_in_residues(spec) && !is_in_parts(spec) &&
         (spec.is_in_digits ? spec.is_transposed : !spec.is_aligned());
}

std::int64_t halves_bytes(const TensorMapSpec& spec) {
  return bytes_of_halves(spec.rows, spec.row_length);
}

std::int64_t scales_bytes(const TensorMapSpec& spec) {
  const bool by_row = spec.is_scaled_by_row || (spec.is_in_digits && !is_in_parts(spec));
  const std::int64_t count = by_row ? spec.rows : spec.row_length;
  return up_to_copy(count * static_cast<std::int64_t>(sizeof(OperandScale)));
}

std::int64_t digits_bytes(const TensorMapSpec& spec) {
  return up_to_copy(spec.rows * SplitDigits::bytes_in_row(spec.row_length));
}

/// The size of a packed copy in elements.
std::int64_t packed_copy_size(const TensorMapSpec& spec) { return spec.rows * spec.ld_of_copy(); }

std::int64_t residues_bytes(const TensorMapSpec& spec) {
  return up_to_copy(spec.rows * SplitResidues::bytes_in_row(spec.row_length));
}

std::int64_t parts_bytes(const TensorMapSpec& spec) {
  constexpr std::int64_t bytes_of_part = 2;
  return up_to_copy(spec.rows * SplitParts::parts_in_row(spec.row_length) * bytes_of_part);
}

/// The size of the floats to which a bfloat16 operand is widened before it is split into parts.
std::int64_t widened_bytes(const TensorMapSpec& spec) {
  constexpr auto bytes_of_float = static_cast<std::int64_t>(sizeof(float));
  if (spec.element_bytes == bytes_of_float) return 0;
  return up_to_copy(spec.rows * spec.ld_of_copy() * bytes_of_float);
}

std::int64_t blocks_bytes(const TensorMapSpec& spec) {
  return up_to_copy(spec.rows * QuantizeOperand::bytes_in_row(block_format(spec), spec.row_length));
}

std::int64_t block_scales_bytes(const TensorMapSpec& spec) {
  return up_to_copy(
      QuantizeOperand::bytes_of_scales(block_format(spec), spec.row_length, spec.rows));
}

std::int64_t packed_copy_bytes(const TensorMapSpec& spec) {
  if (!needs_copy(spec)) return 0;
  const std::int64_t copies = std::max<std::int64_t>(spec.products, 1);
  return up_to_copy(copies * packed_copy_size(spec) * spec.element_bytes);
}

std::int64_t copy_bytes(const TensorMapSpec& spec) {
  if (spec.is_empty()) return 0;
  if (is_in_blocks(spec)) return blocks_bytes(spec) + block_scales_bytes(spec);
  if (is_in_parts(spec)) return widened_bytes(spec) + parts_bytes(spec) + scales_bytes(spec);
  if (spec.is_split) return halves_bytes(spec) + scales_bytes(spec);
  if (is_in_residues(spec)) return residues_bytes(spec) + scales_bytes(spec);
  return packed_copy_bytes(spec) +
         (spec.is_in_digits ? digits_bytes(spec) + scales_bytes(spec) : 0);
}

/// Stacks the copies of several matrices vertically, the two-dimensional form that kernels for
/// grouped products expect.
TensorMapSpec stacked(TensorMapSpec copy) {
  copy.rows *= std::max<std::int64_t>(copy.products, 1);
  copy.products = copy.product_stride = 0;
  return copy;
}

/// The same copy in wider words of up to 8 bytes, if the rows consist of whole words.
PackOperand by_words(PackOperand copy) {
  if (copy.from_transposed) return copy;
  const auto is_even = [&] {
    return (copy.row_length | copy.from_ld | copy.from_product_stride) % 2 == 0 &&
           reinterpret_cast<std::uintptr_t>(copy.from) % (2u * copy.element_bytes) == 0;
  };
  for (; copy.element_bytes < 8 && is_even(); copy.element_bytes *= 2) {
    for (std::int64_t* count :
         {&copy.row_length, &copy.from_ld, &copy.to_ld, &copy.from_product_stride}) {
      *count /= 2;
    }
  }
  return copy;
}

std::int64_t splitting_blocks(const SplitOperand& split, int multiprocessors) {
  constexpr std::int64_t blocks_per_sm = 4;
  const std::int64_t columns = SplitOperand::halves_in_row(split.row_length) / 2;
  const std::int64_t pieces = split.is_scaled_by_row ? split.rows : columns / SplitOperand::columns;
  return std::min(pieces, blocks_per_sm * multiprocessors);
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
  const std::int64_t room = is_in_residues(launch.a) ? launch.grid.x * residues_of_tile_bytes : 0;
  return copy_bytes(launch.a) + copy_bytes(launch.b) + room;
}

PreparedMaps::PreparedMaps(const DriverApi& api, const Launch& launch, void* room) {
  const auto in_memory = [&](const TensorMapSpec& spec, const OperandScale*& scales,
                             TensorMapSpec& floats) {
    if (is_in_blocks(spec)) return in_blocks(spec, room, scales);
    if (is_in_parts(spec)) return in_parts(spec, room, scales, floats);
    if (is_in_residues(spec)) return in_residues(spec, room, scales);
    if (spec.is_in_digits) return in_digits(copied(spec, room), room, scales);
    if (spec.is_split) return split(spec, room, scales);
    const TensorMapSpec copy = copied(spec, room);
    return launch.products_per_block == 0 ? stacked(copy) : copy;
  };
  a_ = in_memory(launch.a, scales_.a, floats_a_);
  b_ = in_memory(launch.b, scales_.b, floats_b_);
  if (is_in_residues(launch.a)) room_ = room;
  encode(api, a_, maps_.a);
  encode(api, b_, maps_.b);
  encode(api, launch.c, maps_.c);
}

TensorMapSpec PreparedMaps::copied(const TensorMapSpec& spec, void*& room) {
  if (!needs_copy(spec)) return spec;
  TensorMapSpec copy = spec;
  copy.data = room;
  copy.ld = spec.ld_of_copy();
  copy.is_transposed = false;
  copy.product_stride = spec.products > 0 ? packed_copy_size(spec) : 0;
  copies_[count_++] = by_words({.from = spec.data,
                                .to = room,
                                .row_length = spec.row_length,
                                .rows = spec.rows,
                                .from_ld = spec.ld,
                                .to_ld = copy.ld,
                                .element_bytes = spec.element_bytes,
                                .from_transposed = spec.is_transposed,
                                .products = std::max<std::int64_t>(spec.products, 1),
                                .from_product_stride = spec.product_stride});
  room = static_cast<char*>(room) + packed_copy_bytes(spec);
  return copy;
}

TensorMapSpec PreparedMaps::split(const TensorMapSpec& spec, void*& room,
                                  const OperandScale*& scales) {
  if (spec.is_empty()) return spec;
  auto* const begin = static_cast<char*>(room);
  auto* const its_scales = reinterpret_cast<OperandScale*>(begin + halves_bytes(spec));
  splits_[split_count_++] = {static_cast<const float*>(spec.data),
                             room,
                             its_scales,
                             spec.row_length,
                             spec.rows,
                             spec.ld,
                             spec.is_scaled_by_row};
  scales = its_scales;
  room = begin + copy_bytes(spec);
  TensorMapSpec halves = spec;
  halves.data = begin;
  halves.element_bytes = 2;
  halves.row_length = halves.ld = SplitOperand::halves_in_row(spec.row_length);
  return halves;
}

TensorMapSpec PreparedMaps::in_parts(const TensorMapSpec& spec, void*& room,
                                     const OperandScale*& scales, TensorMapSpec& floats) {
  if (spec.is_empty()) return spec;
  auto* const begin = static_cast<char*>(room);
  floats = spec;
  if (const std::int64_t bytes = widened_bytes(spec); bytes > 0) {
    auto* const to = reinterpret_cast<float*>(begin);
    floats.data = to;
    floats.ld = spec.ld_of_copy();
    widened_[widened_count_++] = {spec.data, to, spec.row_length, spec.rows, spec.ld, floats.ld};
    room = begin + bytes;
  }
  auto* const to = static_cast<char*>(room);
  auto* const its_scales = reinterpret_cast<OperandScale*>(to + parts_bytes(spec));
  parts_[part_count_++] = {static_cast<const float*>(floats.data),
                           to,
                           its_scales,
                           spec.row_length,
                           spec.rows,
                           floats.ld,
                           spec.is_scaled_by_row};
  scales = its_scales;
  room = begin + copy_bytes(spec);
  TensorMapSpec parts = spec;
  parts.data = to;
  parts.element_bytes = 2;
  parts.row_length = parts.ld = SplitParts::parts_in_row(spec.row_length);
  return parts;
}

TensorMapSpec PreparedMaps::in_digits(const TensorMapSpec& spec, void*& room,
                                      const OperandScale*& scales) {
  if (spec.is_empty()) return spec;
  auto* const begin = static_cast<char*>(room);
  auto* const its_scales = reinterpret_cast<OperandScale*>(begin + digits_bytes(spec));
  digits_[digit_count_++] = {
      static_cast<const float*>(spec.data), room, its_scales, spec.row_length, spec.rows, spec.ld};
  scales = its_scales;
  room = begin + digits_bytes(spec) + scales_bytes(spec);
  TensorMapSpec digits = spec;
  digits.data = begin;
  digits.element_bytes = 1;
  digits.row_length = digits.ld = SplitDigits::bytes_in_row(spec.row_length);
  return digits;
}

TensorMapSpec PreparedMaps::in_residues(const TensorMapSpec& spec, void*& room,
                                        const OperandScale*& scales) {
  if (spec.is_empty()) return spec;
  auto* const begin = static_cast<char*>(room);
  auto* const its_scales = reinterpret_cast<OperandScale*>(begin + residues_bytes(spec));
  residues_[residue_count_++] = {static_cast<const double*>(spec.data),
                                 room,
                                 its_scales,
                                 spec.rows,
                                 spec.row_length,
                                 spec.is_transposed ? 1 : spec.ld,
                                 spec.is_transposed ? spec.ld : 1};
  scales = its_scales;
  room = begin + copy_bytes(spec);
  TensorMapSpec residues = spec;
  residues.data = begin;
  residues.element_bytes = 1;
  residues.row_length = residues.ld = SplitResidues::bytes_in_row(spec.row_length);
  return residues;
}

TensorMapSpec PreparedMaps::in_blocks(const TensorMapSpec& spec, void*& room,
                                      const OperandScale*& scales) {
  if (spec.is_empty()) return spec;
  const BlockFormat format = block_format(spec);
  auto* const begin = static_cast<char*>(room);
  char* const its_scales = begin + blocks_bytes(spec);
  quantized_[quantized_count_++] = {spec.data,
                                    begin,
                                    its_scales,
                                    spec.row_length,
                                    spec.rows,
                                    spec.is_transposed ? 1 : spec.ld,
                                    spec.is_transposed ? spec.ld : 1,
                                    format};
  scales = reinterpret_cast<const OperandScale*>(its_scales);
  room = begin + copy_bytes(spec);
  TensorMapSpec blocks = spec;
  blocks.data = begin;
  blocks.element_bytes = 1;
  blocks.row_length = blocks.ld = QuantizeOperand::bytes_in_row(format, spec.row_length);
  blocks.box_row_length = 128;
  return blocks;
}

void PreparedMaps::encode(const DriverApi& api, const TensorMapSpec& spec, EncodedTensorMap& map) {
  const bool has_box = spec.box_rows > 0;
  if (spec.is_empty() || !has_box || result_ != Result::success) return;
  const auto bytes = [&](std::int64_t elements) {
    return static_cast<std::uint64_t>(elements * spec.element_bytes);
  };
  const std::uint64_t sizes[] = {static_cast<std::uint64_t>(spec.row_length),
                                 static_cast<std::uint64_t>(spec.rows),
                                 static_cast<std::uint64_t>(spec.products)};
  const std::uint64_t strides[] = {bytes(spec.ld), bytes(spec.product_stride)};
  const std::uint32_t box[] = {static_cast<std::uint32_t>(spec.box_row_length),
                               static_cast<std::uint32_t>(spec.box_rows), 1};
  constexpr std::uint32_t every_element[] = {1, 1, 1};
  result_ = api.cuTensorMapEncodeTiled(
      reinterpret_cast<TensorMap*>(&map), type_of(spec), spec.products == 0 ? 2 : 3,
      const_cast<void*>(spec.data), sizes, strides, box, every_element, TensorMapInterleave::none,
      TensorMapSwizzle::bytes_128, TensorMapL2Promotion::bytes_128, TensorMapFill::zeros);
}

Dtype type_of(const PackOperand& copy) {
  switch (copy.element_bytes) {
    case 1: return Dtype::i8;
    case 2: return Dtype::bf16;
    case 4: return Dtype::tf32;
    default: return Dtype::f64;
  }
}

Launch launch_of(const PackOperand& copy, int multiprocessors) {
  constexpr std::int64_t tile = PackOperand::tile;
  const std::int64_t tiles = ceil_div(copy.rows, tile) * ceil_div(copy.row_length, tile);
  const std::int64_t pieces = copy.products * (copy.from_transposed ? tiles : copy.rows);
  return {.grid = {std::min(pieces, copying_blocks_per_sm * multiprocessors)},
          .block = {PackOperand::threads}};
}

SplitOperands in_one_launch(std::span<const SplitOperand> splits, int multiprocessors) {
  SplitOperands both = {.first = splits.front()};
  if (splits.size() == 2) both.second = splits.back();
  // Column-wise splitting uses few, long-running blocks: start these first.
  if (both.first.is_scaled_by_row) std::swap(both.first, both.second);
  both.blocks_of_first = static_cast<unsigned>(splitting_blocks(both.first, multiprocessors));
  return both;
}

Launch launch_of(const SplitOperands& splits, int multiprocessors) {
  return {.grid = {splits.blocks_of_first + splitting_blocks(splits.second, multiprocessors)},
          .block = {SplitOperand::threads}};
}

Launch launch_of(const Widen& widen, int multiprocessors) {
  constexpr std::int64_t blocks_per_sm = 8;
  const std::int64_t pieces = widen.rows * ceil_div(widen.row_length, Widen::chunk);
  return {.grid = {std::min(pieces, blocks_per_sm * multiprocessors)}, .block = {Widen::threads}};
}

Launch launch_of(const SplitParts& split, int multiprocessors) {
  constexpr std::int64_t blocks_per_sm = 4;
  constexpr std::int64_t columns_of_block = 32;
  const std::int64_t columns = round_up(split.row_length, std::int64_t{SplitParts::chunk});
  const std::int64_t pieces = split.is_k_major ? split.rows : columns / columns_of_block;
  return {.grid = {std::min(pieces, blocks_per_sm * multiprocessors)},
          .block = {SplitParts::threads}};
}

Launch launch_of(const SplitDigits& split, int multiprocessors) {
  constexpr std::int64_t blocks_per_sm = 8;
  return {.grid = {std::min(split.rows, blocks_per_sm * multiprocessors)},
          .block = {SplitDigits::threads}};
}

Launch launch_of(const SplitResidues& split, int multiprocessors) {
  constexpr std::int64_t blocks_per_sm = 4;
  constexpr std::int64_t warps = SplitResidues::threads / SplitResidues::lanes;
  const bool is_k_major = split.from_k == 1;
  const std::int64_t pieces = ceil_div(split.rows, is_k_major ? warps : SplitResidues::lanes);
  return {.grid = {std::min(pieces, blocks_per_sm * multiprocessors)},
          .block = {SplitResidues::threads}};
}

Launch launch_of(const QuantizeOperand& operand, int multiprocessors) {
  constexpr std::int64_t blocks_per_sm = 8;
  const std::int64_t scales =
      QuantizeOperand::bytes_of_scales(operand.format, operand.row_length, operand.rows);
  const std::int64_t pieces = ceil_div(scales, std::int64_t{QuantizeOperand::threads});
  return {.grid = {std::min(pieces, blocks_per_sm * multiprocessors)},
          .block = {QuantizeOperand::threads}};
}

}  // namespace rung::cuda
