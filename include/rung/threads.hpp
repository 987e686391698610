#pragma once
// The default number of threads of calls on CPUs.

#include "rung/error.hpp"
#include "rung/export.hpp"

namespace rung {

/// Limits the number of threads of CPU calls whose options.threads is 0, in all threads of the
/// process: from now on such calls use at most `threads` threads, and never more than the
/// processors that their caller may run on. 0 restores the limit from the environment:
/// RUNG_NUM_THREADS, or else the first number in OMP_NUM_THREADS, both read once, by the first call
/// that needs them. Without a limit, a call uses the processors that its caller may run on. Options
/// that set threads are not limited.
///
/// May be called at any time. Throws rung::Error (Status::invalid_argument) if threads is negative.
RUNG_API void set_num_threads(int threads);

/// The limit or, without one, the number of processors that the calling thread may run on now.
RUNG_API int get_num_threads();

}  // namespace rung
