#include "core/chunks.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace rung {
namespace {

/// True while this thread runs one chunk of several.
thread_local bool is_in_chunk = false;

}  // namespace

void for_each_chunk(std::int64_t count, std::int64_t size,
                    const std::function<void(std::int64_t, std::int64_t, std::int64_t)>& body) {
  const std::int64_t chunks = chunks_of(count, size);
  std::atomic<std::int64_t> next = 0;
  const bool is_inner = is_in_chunk;
  const auto work = [&] {
    is_in_chunk = is_inner || chunks > 1;
    for (std::int64_t chunk; (chunk = next++) < chunks;) {
      body(chunk * size, std::min(count, (chunk + 1) * size), chunk);
    }
  };
  std::vector<std::jthread> threads;
  const std::int64_t processors = is_inner ? 1 : std::thread::hardware_concurrency();
  for (std::int64_t i = 1; i < std::min(processors, chunks); ++i) threads.emplace_back(work);
  work();
  is_in_chunk = is_inner;
}

}  // namespace rung
