#pragma once
// Loops over large data in chunks, one thread each: verification spends most of its time reading.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace rung {

namespace detail {
/// Whether this thread runs a chunk, while others run other ones.
inline bool& in_chunk() noexcept {
  static thread_local bool is_in_chunk = false;
  return is_in_chunk;
}
}  // namespace detail

inline std::int64_t chunks_of(std::int64_t count, std::int64_t size) {
  return (count + size - 1) / size;
}

/// Calls body(first, last, chunk) for each of the chunks_of(count, size) ranges [first, last) that
/// partition [0, count), on all processors. The ranges do not depend on the number of processors.
/// Within a chunk of several, another such loop runs on its caller alone. body must not throw.
template <class Body>
void for_each_chunk(std::int64_t count, std::int64_t size, const Body& body) {
  const std::int64_t chunks = chunks_of(count, size);
  std::atomic<std::int64_t> next = 0;
  const bool is_inner = detail::in_chunk();
  const auto work = [&] {
    detail::in_chunk() = is_inner || chunks > 1;
    for (std::int64_t chunk; (chunk = next++) < chunks;) {
      body(chunk * size, std::min(count, (chunk + 1) * size), chunk);
    }
  };
  std::vector<std::jthread> threads;
  const std::int64_t processors = is_inner ? 1 : std::thread::hardware_concurrency();
  for (std::int64_t i = 1; i < std::min(processors, chunks); ++i) threads.emplace_back(work);
  work();
  detail::in_chunk() = is_inner;
}

}  // namespace rung
