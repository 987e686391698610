#pragma once
// The ends of a program that run no destructors: _exit, _Exit and quick_exit.

namespace rung::emu {

/// Ends the process, without any report.
[[noreturn]] void exit_at_once(int code);

}  // namespace rung::emu
