#pragma once
// Multithreading for rungs: a process-wide thread pool with a parallel loop. Needs no
// initialization.

#include <cstdint>
#include <memory>
#include <type_traits>

namespace rung::cpu {

/// The upper limit of threads in a loop, regardless of the caller's request: four per processor of
/// the machine, and at most 1024.
int max_threads();

namespace detail {
using Task = void (*)(const void* body, std::int64_t index);
void parallel_for(std::int64_t count, int threads, Task task, const void* body);
}  // namespace detail

/// Calls body(index) once for every index in [0, count) on at most `threads` threads including the
/// caller, and returns when all calls are done. Indices are handed out one by one in ascending
/// order, which balances blocks of unequal cost. The writes of all bodies are visible to the caller
/// afterwards.
///
/// If a body throws, no further index starts, and the first exception is rethrown here when every
/// thread has left the loop. Concurrent calls and nested calls are allowed: if the pool is in use,
/// the caller runs its loop alone. A body must not call fork().
///
/// All threads of a loop use the caller's rounding mode and flush-to-zero setting, and the caller's
/// exception flags include those of all threads afterwards. An exception that the caller traps
/// raises SIGFPE only in the caller, after the loop; a loop that runs on the caller alone may raise
/// it earlier.
///
/// The loop itself throws nothing: if there is no memory for more threads, fewer do the work. The
/// pool's threads live as long as the process and receive none of its signals.
template <class Body>
void parallel_for(std::int64_t count, int threads, const Body& body) {
  if (threads <= 1 || count <= 1) {
    for (std::int64_t index = 0; index < count; ++index) body(index);
    return;
  }
  detail::parallel_for(
      count, threads,
      [](const void* erased, std::int64_t index) { (*static_cast<const Body*>(erased))(index); },
      std::addressof(body));
}

}  // namespace rung::cpu
