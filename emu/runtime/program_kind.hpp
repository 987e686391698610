#pragma once
// The program's API, CUDA or Metal. It decides the defaults of options and the words of reports.

#include <cstdint>

namespace rung::emu {

enum class ProgramKind : std::uint8_t { cuda, metal };

/// CUDA, unless set_program_kind() was called.
ProgramKind program_kind();
/// Before the first use of the driver.
void set_program_kind(ProgramKind kind);

}  // namespace rung::emu
