#pragma once
// The 32-bit instruction descriptor of tcgen05.mma (PTX ISA, 9.7.16.4.2, "Instruction descriptor").

#include <cstdint>
#include <string>

#include "vgpu/model/matrix_form.hpp"
#include "vgpu/model/tensor_memory_ops.hpp"

namespace rung::vgpu {

/// Elements of A and B; e2m3, e3m2 and e2m1 exist only here.
enum class TensorElement5 : std::uint8_t { f16, bf16, tf32, e4m3, e5m2, e2m3, e3m2, e2m1, u8, s8 };

constexpr int bits_of(TensorElement5 element) {
  using enum TensorElement5;
  switch (element) {
    case tf32: return 32;
    case f16:
    case bf16: return 16;
    case e2m3:
    case e3m2: return 6;
    case e2m1: return 4;
    default: return 8;
  }
}
const char* name(TensorElement5 element);

struct InstructionDescriptor {
  int m = 0, n = 0, k = 0;  // k: of the matrix without compression, if A is sparse
  TensorElement5 a = TensorElement5::f16, b = TensorElement5::f16;
  MatrixElement d = MatrixElement::f32;
  bool negate_a = false, negate_b = false;
  bool transpose_a = false, transpose_b = false;  // MN-major
  bool saturates = false;
  bool has_e8m0_scales = false;  // otherwise e4m3
  int scale_a = 0, scale_b = 0;  // first byte of the scales in a cell
  int scales_of_k = 0;           // block scales of a row of A
  int selector = 0;   // of a sparse matrix: column of its metadata, from their address on
  std::string error;  // empty if the instruction exists
};

InstructionDescriptor instruction_descriptor(const TensorMultiplyOp& op, std::uint32_t bits);

}  // namespace rung::vgpu
