#pragma once
// mma.sp without .kind: D = A B + C with a sparse A of 16-bit floats, tf32, 8-bit floats or 8-bit integers (PTX ISA,
// 9.7.14.6, "Matrix multiply-accumulate operation using mma.sp instruction with sparse matrix A").

#include <cstdint>
#include <optional>
#include <vector>

#include "vgpu/model/instr.hpp"
#include "vgpu/model/matrix_form.hpp"
#include "vgpu/model/warp.hpp"
#include "vgpu/ptx/module.hpp"

namespace rung::vgpu {

/// D (16 x 8) = A (16 x k) B (k x 8) + C. Rows of registers are indices as in Instr::rows.
struct SparseMultiplyOp {
  MatrixElement a = MatrixElement::f16, b = MatrixElement::f16;
  MatrixElement sum = MatrixElement::f32;  // of C and D
  int k = 0;                               // of the matrix without compression
  bool saturates = false;
  int selector = 0;  // which threads of each four have the metadata
  std::vector<std::uint32_t> d_rows, a_rows, b_rows, c_rows;
  std::uint32_t metadata = 0;  // row

  int a_registers() const { return 16 * k / 2 / warp_size / per_register(a); }
  int b_registers() const { return 8 * k / warp_size / per_register(b); }
  int sum_registers() const { return 4 / per_register(sum); }
  /// Four bits of metadata name two of four units: elements, or halves of a tf32.
  int chunks() const { return k / (a == MatrixElement::tf32 ? 2 : 4); }
  /// Selectors that exist: 32 lanes hold 32 bits each, and 16 rows need 4 bits per chunk.
  int selectors() const { return 16 / chunks(); }
};

/// The lane that holds the metadata of a chunk of a row, and their first bit (9.7.14.6.2, figures of the metadata).
struct MetadataPlace {
  int lane, bit;
};
MetadataPlace metadata_place(const SparseMultiplyOp& op, int row, int chunk);

/// The form of an mma.sp without .kind, without rows; nullopt for other instructions and unknown forms.
std::optional<SparseMultiplyOp> sparse_multiply_form(const ptx::Instruction& instruction);

/// Instr::imm points at a SparseMultiplyOp. The groups in which hardware sums the products of a sparse A are not
/// known: here each has twice as many elements of k as without sparsity.
void run_sparse_multiply(Warp& warp, const Instr& instr);

}  // namespace rung::vgpu
