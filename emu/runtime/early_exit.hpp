#pragma once
// The ends of a program that run no destructors: _exit, _Exit, quick_exit, and the signals SIGTERM and SIGINT.

namespace rung::emu {

/// Ends the process, without any report.
[[noreturn]] void exit_at_once(int code);

/// From now on, SIGTERM and SIGINT end the program only after a report, unless it has handlers of its own.
/// A second signal ends it at once.
void report_at_signals();

}  // namespace rung::emu
