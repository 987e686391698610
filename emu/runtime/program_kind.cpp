#include "emu/runtime/program_kind.hpp"

namespace rung::emu {
namespace {
ProgramKind current_kind = ProgramKind::cuda;
}  // namespace

ProgramKind program_kind() { return current_kind; }
void set_program_kind(ProgramKind kind) { current_kind = kind; }

}  // namespace rung::emu
