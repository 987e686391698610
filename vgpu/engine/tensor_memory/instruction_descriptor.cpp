#include "vgpu/engine/tensor_memory/instruction_descriptor.hpp"

#include <fmt/format.h>

#include <optional>

namespace rung::vgpu {
namespace {

using Element = TensorElement5;

constexpr int field(std::uint32_t bits, int first, int count) {
  return static_cast<int>(bits >> first & ((1u << count) - 1));
}

/// The type that a field of three bits names (Tables "Instruction descriptor format").
std::optional<Element> element_of(TensorKind kind, int code) {
  using enum TensorElement5;
  switch (kind) {
    case TensorKind::f16:
      return code == 0 ? std::optional(f16) : code == 1 ? std::optional(bf16) : std::nullopt;
    case TensorKind::tf32: return code == 2 ? std::optional(tf32) : std::nullopt;
    case TensorKind::i8:
      return code == 0 ? std::optional(u8) : code == 1 ? std::optional(s8) : std::nullopt;
    case TensorKind::mxf4:
    case TensorKind::mxf4nvf4: return code == 1 ? std::optional(e2m1) : std::nullopt;
    default: break;
  }
  constexpr std::optional<Element> narrow[] = {e4m3, e5m2, std::nullopt, e2m3,
                                               e3m2, e2m1, std::nullopt, std::nullopt};
  return narrow[code];
}

std::optional<MatrixElement> sum_type_of(TensorKind kind, int code) {
  if (has_block_scales(kind)) return MatrixElement::f32;
  if (kind == TensorKind::i8) return code == 2 ? std::optional(MatrixElement::s32) : std::nullopt;
  if (code == 1) return MatrixElement::f32;
  const bool has_half = kind == TensorKind::f16 || kind == TensorKind::f8f6f4;
  return code == 0 && has_half ? std::optional(MatrixElement::f16) : std::nullopt;
}

/// The number that n is a multiple of (PTX ISA, 9.7.16.2.1 and, for matrices of 8 bits that are not K-major, 9.7.16.10.1).
int step_of_n(const TensorMultiplyOp& op, const InstructionDescriptor& it) {
  if (it.transpose_b && bits_of(it.b) == 8) return 16 * op.blocks;
  if (op.kind == TensorKind::i8) return op.blocks == 2 ? 32 : it.n > 32 ? 16 : 8;
  return 8 * op.blocks;
}

/// Checks the shape (PTX ISA, 9.7.16.2.1, Table "Various combinations of .kind and shapes").
std::string shape_error(const TensorMultiplyOp& op, const InstructionDescriptor& it) {
  const bool fits_m = op.weight_stationary ? it.m == 32 || it.m == 64 || it.m == 128
                      : op.blocks == 2     ? it.m == 128 || it.m == 256
                                           : it.m == 64 || it.m == 128;
  if (!fits_m) {
    return fmt::format("m = {}: expected {}", it.m,
                       op.weight_stationary ? "32, 64 or 128"
                       : op.blocks == 2     ? "128 or 256 with .cta_group::2"
                                            : "64 or 128");
  }
  if (op.weight_stationary) {
    const bool fits = it.n == 64 || it.n == 128 || it.n == 256;
    return fits ? "" : fmt::format("n = {}: expected 64, 128 or 256 with .ws", it.n);
  }
  const int step = step_of_n(op, it);
  if (it.n < step || it.n > 256 || it.n % step != 0) {
    return fmt::format("n = {}: expected a multiple of {} up to 256", it.n, step);
  }
  return "";
}

std::string error_of(const TensorMultiplyOp& op, const InstructionDescriptor& it,
                     std::uint32_t bits) {
  if (std::string error = shape_error(op, it); !error.empty()) return error;
  if (field(bits, 2, 1) != (op.sparse ? 1 : 0)) {
    return op.sparse ? "the sparsity bit is not set, and the instruction is tcgen05.mma.sp"
                     : "the sparsity bit is set, and the instruction is not tcgen05.mma.sp";
  }
  if (it.k == 96 && op.sparse) return "k = 96 (bit 31) exists for dense matrices only";
  if (op.shifts_a && it.m / op.blocks != tensor_lanes) {
    return fmt::format("m = {}: expected {} with .ashift", it.m, tensor_lanes * op.blocks);
  }
  const auto is_narrow = [](Element element) { return bits_of(element) < 8; };
  if ((it.transpose_a && is_narrow(it.a)) || (it.transpose_b && is_narrow(it.b))) {
    return fmt::format("matrices of {} are K-major only", name(it.transpose_a ? it.a : it.b));
  }
  return "";
}

}  // namespace

const char* name(TensorElement5 element) {
  constexpr const char* names[] = {"f16",  "bf16", "tf32", "e4m3", "e5m2",
                                   "e2m3", "e3m2", "e2m1", "u8",   "s8"};
  return names[static_cast<std::size_t>(element)];
}

InstructionDescriptor instruction_descriptor(const TensorMultiplyOp& op, std::uint32_t bits) {
  InstructionDescriptor result;
  const auto a = element_of(op.kind, field(bits, 7, 3)),
             b = element_of(op.kind, field(bits, 10, 3));
  const auto d = sum_type_of(op.kind, field(bits, 4, 2));
  if (!a || !b) {
    result.error = fmt::format("the type of {} is {}, which this .kind does not have",
                               a ? "B" : "A", field(bits, a ? 10 : 7, 3));
    return result;
  }
  if (!d) {
    result.error =
        fmt::format("the type of D is {}, which this .kind does not have", field(bits, 4, 2));
    return result;
  }
  result.a = *a;
  result.b = *b;
  result.d = *d;
  result.negate_a = field(bits, 13, 1) != 0;
  result.negate_b = field(bits, 14, 1) != 0;
  result.transpose_a = field(bits, 15, 1) != 0;
  result.transpose_b = field(bits, 16, 1) != 0;
  result.n = field(bits, 17, 6) * 8;
  result.m = field(bits, 24, 5) * 16;
  result.k = op.kind == TensorKind::tf32                                      ? 8
             : op.kind == TensorKind::f16                                     ? 16
             : op.kind == TensorKind::mxf4 || op.kind == TensorKind::mxf4nvf4 ? 64
                                                                              : 32;
  const bool packs_nibbles = op.kind == TensorKind::mxf4 || op.kind == TensorKind::mxf4nvf4;
  result.scales_of_k = op.scales_of_k;
  if (packs_nibbles && field(bits, 31, 1) != 0) {
    // Bit 31 selects k = 96, with 3 or 6 scales (9.7.16.4.2, and 9.7.16.10.7.1).
    result.k = 96;
    result.scales_of_k = op.scales_of_k * 96 / 64;
  }
  if (op.sparse) {
    result.k *= 2;
    const bool has_selector = op.kind == TensorKind::f16 || op.kind == TensorKind::tf32;
    if (has_selector) result.selector = field(bits, 0, 2);
  }
  if (has_block_scales(op.kind)) {
    result.scale_b = field(bits, 4, 2);
    result.has_e8m0_scales = field(bits, 23, 1) != 0;
    result.scale_a = field(bits, 29, 2);
  } else {
    result.saturates = op.kind == TensorKind::i8 && field(bits, 3, 1) != 0;
  }
  result.error = error_of(op, result, bits);
  return result;
}

}  // namespace rung::vgpu
