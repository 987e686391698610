#pragma once
// Threads for rungs: one pool per process, a parallel loop, and no initialisation.

#include <cstdint>
#include <memory>
#include <type_traits>

namespace rung::cpu {

/// The most threads that a loop uses, whatever its caller asks for: four for each processor of the
/// machine, and at most 1024.
int max_threads();

namespace detail {
using Task = void (*)(const void* body, std::int64_t index);
void parallel_for(std::int64_t count, int threads, Task task, const void* body);
}  // namespace detail

/// Calls body(index) once for every index in [0, count) on at most `threads` threads, the caller
/// included, and returns when all calls are done. Indices are handed out one by one in ascending
/// order, which balances blocks of unequal cost. The writes of body are visible to the caller
/// afterwards.
///
/// If a body throws, no index begins after that, and the first exception is rethrown here when
/// every thread has left the loop. Calls from several threads at once, and calls from inside a
/// body, are allowed: a caller that finds the pool taken runs its loop alone. A body must not call
/// fork().
///
/// The loop itself throws nothing: with too little memory for more threads, fewer do the same work.
/// The pool's threads live as long as the process and take none of its signals.
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
