#pragma once
// Records when the parts of a call run on the GPU.

#include <cstdint>
#include <string>
#include <vector>

#include "library/dist/nccl/backend.hpp"
#include "rung/tensor_parallel.hpp"

namespace rung::nccl {

/// Events before and after each part of a call.
class Timeline {
 public:
  /// Time 0 is when the stream has finished its current work.
  Timeline(const cuda::DriverApi& driver, cuda::Stream stream)
      : driver_(driver), zero_(record(stream)) {}
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;
  ~Timeline();

  /// Calls `enqueue`, which enqueues the part in `stream`. lane: as in dist::TimelineSpan.
  template <class Enqueue>
  void add(const char* lane, const char* work, std::int64_t rows, cuda::Stream stream,
           const Enqueue& enqueue) {
    const cuda::Event begin = record(stream);
    enqueue();
    spans_.push_back({lane, work, rows, begin, record(stream)});
  }

  /// Call when the streams have finished.
  std::vector<dist::TimelineSpan> read() const;

 private:
  struct Span {
    const char* lane;
    const char* work;
    std::int64_t rows;
    cuda::Event begin, end;
  };

  cuda::Event record(cuda::Stream stream);
  double seconds_until(cuda::Event event) const;

  const cuda::DriverApi& driver_;
  std::vector<cuda::Event> events_;
  cuda::Event zero_;
  std::vector<Span> spans_;
};

}  // namespace rung::nccl
