#pragma once
// The enumerators of Opcode. Only files that name one include this header, so a new row in
// instructions.def recompiles only these files.

#include "vgpu/ptx/opcode.hpp"

namespace rung::vgpu::ptx {

/// `unknown` stands for every opcode without a row in the table. and_, not_, or_ and xor_ have an
/// underscore because C++ reserves the words.
enum class Opcode : std::uint8_t {
  unknown,
#define RUNG_PTX_INSTRUCTION(id, opcode, kind, facts) id,
#include "vgpu/ptx/instructions.def"
};

}  // namespace rung::vgpu::ptx
