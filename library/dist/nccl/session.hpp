#pragma once
// The library's own communicator, side streams for data transfers, and waits that end if a rank
// fails.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "library/dist/nccl/backend.hpp"
#include "library/dist/nccl/timeline.hpp"

namespace rung::nccl {

class Session {
 public:
  /// Collective. For the current context.
  Session(Comm parent, double timeout);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  const cuda::DriverApi& driver() const { return *backend_.driver; }
  const PeerApi& peers() const { return *backend_.peers; }
  const Api& nccl() const { return *backend_.nccl; }
  Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  /// The stream for outgoing data.
  cuda::Stream side() const { return side_; }
  /// The stream that copies arrived data to its target.
  cuda::Stream landing() const { return landing_; }
  /// Streams for products that run concurrently with those of the caller's stream.
  static constexpr int product_streams = 2;
  cuda::Stream products(int number) const { return products_.at(static_cast<std::size_t>(number)); }
  /// The timeline lane of a stream of products.
  const char* lane_of(cuda::Stream stream) const;

  /// Waits for the stream. After the timeout, or if NCCL reports an error, marks the session as
  /// failed and throws dist::CommunicationError.
  void wait(cuda::Stream stream);
  /// Sets a function that is called once when the session fails, to end waits on the GPU.
  void on_failure(std::function<void()> release) { release_ = std::move(release); }
  /// Throws dist::CommunicationError if the session has failed.
  void require_alive() const;
  bool is_alive() const { return failure_.empty(); }

  /// Gathers the same number of bytes, at most `max_gathered`, from every rank, in rank order.
  /// Waits.
  std::vector<std::byte> all_gather(std::span<const std::byte> mine);
  template <class T>
  std::vector<T> all_gather(const T& mine) {
    const std::vector<std::byte> bytes = all_gather(std::as_bytes(std::span(&mine, 1)));
    std::vector<T> values(static_cast<std::size_t>(ranks_));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  static constexpr std::size_t max_gathered = 512;

  /// Sets the timeline that records the following parts of calls; null: none.
  void record_in(Timeline* timeline) { timeline_ = timeline; }
  /// Calls `enqueue`, which enqueues a part of a call in `stream`; see Timeline::add().
  template <class Enqueue>
  void part(const char* lane, const char* work, std::int64_t rows, cuda::Stream stream,
            const Enqueue& enqueue) const {
    if (timeline_ == nullptr) return enqueue();
    timeline_->add(lane, work, rows, stream, enqueue);
  }

  bool streams_run_at_once() const { return backend_.streams_run_at_once; }
  /// True if the stream is being captured into a graph.
  bool is_capturing(cuda::Stream stream) const;
  /// Later work in `second` waits for the current work of `first`.
  void order(cuda::Stream first, cuda::Stream second);

 private:
  [[noreturn]] void give_up(const std::string& why);

  Backend backend_;
  double timeout_;
  Comm comm_ = nullptr;
  int rank_ = 0, ranks_ = 0;
  cuda::Stream side_ = nullptr, landing_ = nullptr;
  std::array<cuda::Stream, product_streams> products_ = {};
  cuda::Event event_ = nullptr;
  cuda::DevicePointer scratch_ = 0;  // ranks + 1 records of all_gather
  Timeline* timeline_ = nullptr;
  std::string failure_;
  std::function<void()> release_;
};

}  // namespace rung::nccl
