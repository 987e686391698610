#pragma once
// Parallel loops over large data in chunks. Verification spends most of its time reading memory.

#include <cstdint>
#include <functional>

namespace rung {

inline std::int64_t chunks_of(std::int64_t count, std::int64_t size) {
  return (count + size - 1) / size;
}

/// Calls body(first, last, chunk) for each of the chunks_of(count, size) ranges [first, last) that
/// partition [0, count), on all processors. The ranges do not depend on the number of processors. A
/// nested loop runs only on the calling thread. body must not throw.
void for_each_chunk(std::int64_t count, std::int64_t size,
                    const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& body);

}  // namespace rung
