#pragma once
// wgmma: a warpgroup multiplies matrices, at least one of them in shared memory (PTX ISA, 9.7.15,
// "Asynchronous warpgroup level matrix instructions"). Each warp computes 16 rows of D.
//
// Sums are available at once; a static analysis checks that they are not read before
// wgmma.wait_group (program/wgmma_registers.hpp). Until then, the shared memory that a wgmma reads
// counts as in use. Numerics are those of engine/matrix/matrix.hpp.

#include <array>
#include <cstdint>

#include "vgpu/model/async_ops.hpp"
#include "vgpu/model/instr.hpp"
#include "vgpu/model/warp.hpp"

namespace rung::vgpu {

inline constexpr int wgmma_rows = 16;  // per warp
inline constexpr int most_columns = 256;
inline constexpr int deepest_k = 32;
inline constexpr int words_of_k = 8;  // of every type

/// The operands of one warp, every element exact in f32.
struct WgmmaTile {
  alignas(64) std::array<float, wgmma_rows * deepest_k> a;    // [row][k]
  alignas(64) std::array<float, deepest_k * most_columns> b;  // [k][column]
  /// B as it is in shared memory, [k / elements of a word][column], if its elements follow along k.
  alignas(64) std::array<std::uint32_t, words_of_k * most_columns> words;
};

/// D = A B + D of one warp, or A B alone. Unless B is transposed, its elements are taken from
/// `words`, and changed to f32 in `b`.
using WgmmaMultiply = void (*)(Warp& warp, const WgmmaOp& op, WgmmaTile& tile, bool adds);
WgmmaMultiply wgmma_multiply();

/// Instr::imm points at a WgmmaOp.
void run_wgmma(Warp& warp, const Instr& instr);
/// Instr::imm points at a WgmmaRegisterReport.
void report_wgmma_register(Warp& warp, const Instr& instr);
void commit_wgmma(Warp& warp, const Instr& instr);
/// Waits until at most Instr::imm groups are in flight.
void wait_wgmma(Warp& warp, const Instr& instr);

}  // namespace rung::vgpu
