#pragma once
// Whether the program is in CUDA or in Metal, which decides the defaults of its options and the words of its
// reports.

#include <cstdint>

namespace rung::emu {

enum class ProgramKind : std::uint8_t { cuda, metal };

/// CUDA, unless set_program_kind() was called.
ProgramKind program_kind();
/// Before the first use of the driver.
void set_program_kind(ProgramKind kind);

}  // namespace rung::emu
