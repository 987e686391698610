#pragma once
// Builds the tensor maps that a kernel takes from the TensorMapSpecs of its launch.

#include <cstdint>
#include <span>

#include "core/cuda_driver/api.hpp"
#include "core/element_types.hpp"
#include "core/integers.hpp"
#include "device/cuda/entry/launch.hpp"
#include "device/cuda/library/mixed_operand.hpp"
#include "device/cuda/library/pack_operand.hpp"
#include "device/cuda/library/quantize_operand.hpp"
#include "device/cuda/library/split_digits.hpp"
#include "device/cuda/library/split_operand.hpp"
#include "device/cuda/library/split_residues.hpp"

namespace rung::cuda {

/// Rounds a size up to the alignment of packed copies in device memory.
constexpr std::int64_t up_to_copy(std::int64_t bytes) { return round_up(bytes, 256); }

/// The device memory in bytes for packed and split copies of A and B and for the residues of C, in
/// addition to the launch's own workspace.
std::int64_t packed_bytes(const Launch& launch);

/// The copies that precede a launch, and the tensor maps for it.
class PreparedMaps {
 public:
  PreparedMaps() = default;
  /// `room`: packed_bytes() bytes of device memory, aligned to 256 bytes.
  PreparedMaps(const DriverApi& api, const Launch& launch, void* room);

  /// The result of the driver's encoding.
  Result result() const { return result_; }
  std::span<const PackOperand> copies() const {
    return {copies_, static_cast<std::size_t>(count_)};
  }
  std::span<const SplitOperand> splits() const {
    return {splits_, static_cast<std::size_t>(split_count_)};
  }
  std::span<const Widen> widened() const {
    return {widened_, static_cast<std::size_t>(widened_count_)};
  }
  std::span<const SplitParts> parts() const {
    return {parts_, static_cast<std::size_t>(part_count_)};
  }
  std::span<const SplitDigits> digits() const {
    return {digits_, static_cast<std::size_t>(digit_count_)};
  }
  std::span<const SplitResidues> residues() const {
    return {residues_, static_cast<std::size_t>(residue_count_)};
  }
  std::span<const QuantizeOperand> quantized() const {
    return {quantized_, static_cast<std::size_t>(quantized_count_)};
  }
  const TensorMaps& maps() const { return maps_; }
  /// A and B as the launch reads them: their copies, or the operands in place.
  const TensorMapSpec& a() const { return a_; }
  const TensorMapSpec& b() const { return b_; }
  const OperandScales& scales() const { return scales_; }
  /// The floats from which an operand in parts was made, with their leading dimension. data is null
  /// if the operand is not in parts.
  const TensorMapSpec& floats_a() const { return floats_a_; }
  const TensorMapSpec& floats_b() const { return floats_b_; }
  /// The memory in which blocks keep residues of C; null unless the launch multiplies residues.
  void* room() const { return room_; }

 private:
  void encode(const DriverApi& api, const TensorMapSpec& spec, EncodedTensorMap& map);
  TensorMapSpec copied(const TensorMapSpec& spec, void*& room);
  TensorMapSpec split(const TensorMapSpec& spec, void*& room, const OperandScale*& scales);
  TensorMapSpec in_parts(const TensorMapSpec& spec, void*& room, const OperandScale*& scales,
                         TensorMapSpec& floats);
  TensorMapSpec in_digits(const TensorMapSpec& spec, void*& room, const OperandScale*& scales);
  TensorMapSpec in_residues(const TensorMapSpec& spec, void*& room, const OperandScale*& scales);
  TensorMapSpec in_blocks(const TensorMapSpec& spec, void*& room, const OperandScale*& scales);

  Result result_ = Result::success;
  TensorMapSpec a_ = {}, b_ = {}, floats_a_ = {}, floats_b_ = {};
  PackOperand copies_[2] = {};
  int count_ = 0;
  SplitOperand splits_[2] = {};
  int split_count_ = 0;
  Widen widened_[2] = {};
  int widened_count_ = 0;
  SplitParts parts_[2] = {};
  int part_count_ = 0;
  SplitDigits digits_[2] = {};
  int digit_count_ = 0;
  SplitResidues residues_[2] = {};
  int residue_count_ = 0;
  QuantizeOperand quantized_[2] = {};
  int quantized_count_ = 0;
  void* room_ = nullptr;
  TensorMaps maps_ = {};
  OperandScales scales_ = {};
};

/// The type in the name of the copy kernel: any type with the same element size.
Dtype type_of(const PackOperand& copy);

/// Combines one or two split operations into the parameter of one launch.
SplitOperands in_one_launch(std::span<const SplitOperand> splits, int multiprocessors);

/// The launch of a copy on `multiprocessors` SMs.
Launch launch_of(const PackOperand& copy, int multiprocessors);
Launch launch_of(const SplitOperands& splits, int multiprocessors);
Launch launch_of(const Widen& widen, int multiprocessors);
Launch launch_of(const SplitParts& split, int multiprocessors);
Launch launch_of(const SplitDigits& split, int multiprocessors);
Launch launch_of(const SplitResidues& split, int multiprocessors);
Launch launch_of(const QuantizeOperand& operand, int multiprocessors);

}  // namespace rung::cuda
