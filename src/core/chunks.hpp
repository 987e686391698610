#pragma once
// Loops over large data in chunks, one thread each: verification spends most of its time reading.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace rung {

inline std::int64_t chunks_of(std::int64_t count, std::int64_t size) {
  return (count + size - 1) / size;
}

/// Calls body(first, last, chunk) for each of the chunks_of(count, size) ranges [first, last) that
/// partition [0, count), on all processors. The ranges do not depend on the number of processors.
/// body must not throw.
template <class Body>
void for_each_chunk(std::int64_t count, std::int64_t size, const Body& body) {
  const std::int64_t chunks = chunks_of(count, size);
  std::atomic<std::int64_t> next = 0;
  const auto work = [&] {
    for (std::int64_t chunk; (chunk = next++) < chunks;) {
      body(chunk * size, std::min(count, (chunk + 1) * size), chunk);
    }
  };
  std::vector<std::jthread> threads;
  const std::int64_t processors = std::thread::hardware_concurrency();
  for (std::int64_t i = 1; i < std::min(processors, chunks); ++i) threads.emplace_back(work);
  work();
}

}  // namespace rung
