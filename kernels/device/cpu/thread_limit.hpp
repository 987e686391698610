#pragma once
// The number of threads of a call that does not specify it.

namespace rung::cpu {

/// The maximum number of threads of a call that requests 0: the processors that the calling thread
/// may run on now, limited by thread_limit().
int default_threads();

/// The limit set by the last set_thread_limit(); otherwise RUNG_NUM_THREADS, otherwise the first
/// number of OMP_NUM_THREADS, both read by the first call that needs them. 0: no limit. An invalid
/// value is reported on standard error once and ignored.
int thread_limit();

/// Sets the limit for all threads of the process. 0 restores the environment's limit.
void set_thread_limit(int threads);

}  // namespace rung::cpu
