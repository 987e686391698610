#pragma once
// How blocks of bytes travel between ranks while products run: an interface of two transports.

#include <cstdint>
#include <memory>

#include "dist/nccl/block.hpp"
#include "dist/nccl/session.hpp"
#include "rung/nccl.hpp"

namespace rung::nccl {

/// One message out and one in. Lines are as far apart in staging memory on both ranks.
struct Step {
  Block out;  // empty: nothing is sent
  int to = 0;
  std::int64_t out_offset = 0;  // in the incoming staging memory of rank `to`
  std::int64_t in_lines = 0;    // 0: nothing arrives
  int source = 0;
  std::int64_t in_offset = 0;  // in this rank's
  std::int64_t pitch = 0;
};

/// A call is begin(), post() and await() for each step, finish(). All ranks make the same steps, which
/// are numbered from 0 to most_steps - 1. What a rank awaits has to depend, directly or through others,
/// on a step of every rank: so no rank is two calls ahead of another.
class Exchange {
 public:
  static constexpr int most_steps = 512;

  explicit Exchange(Session& session) : session_(session) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  Session& session() const { return session_; }
  const cuda::DriverApi& driver() const { return session_.driver(); }
  virtual dist::Transport transport() const = 0;
  /// SMs that it occupies while data travels.
  virtual int multiprocessors() const = 0;

  /// Staging memory, `bytes` for what arrives and as many for what is computed to be sent. Collective,
  /// with the same number on all ranks; waits if there is less.
  virtual void reserve(std::int64_t bytes) = 0;
  virtual cuda::DevicePointer incoming() const = 0;
  virtual cuda::DevicePointer outgoing() const = 0;

  virtual void begin(cuda::Stream stream) = 0;
  /// Sends the step's block once the work that the stream has so far is done.
  virtual void post(int number, const Step& step, cuda::Stream stream) = 0;
  /// Later work of the stream follows the arrival of that step's block.
  virtual void await(int number, cuda::Stream stream) = 0;
  /// Whether kernels in the stream may await arrivals and report departures by words while they run. Not in
  /// a graph, which does not promise that its branches run beside each other.
  virtual bool has_words(cuda::Stream /*stream*/) const { return false; }
  /// Where there are words: one that becomes 1 when that step's block has arrived.
  virtual cuda::DevicePointer arrival(int /*number*/) { return 0; }
  /// One that a kernel sets to departure_value() when what that step sends, and others after it, is there.
  virtual cuda::DevicePointer departure(int /*number*/) { return 0; }
  /// Another one in each call: no word that a call before set is taken for this one's.
  virtual std::uint32_t departure_value() const { return 1; }
  /// Sends the step's block once departure(awaited) has that value.
  virtual void post_after(int /*awaited*/, int /*number*/, const Step& /*step*/) {}
  /// Blocks that arrive later may be copied to memory that the stream uses until now.
  void begin_arrivals(cuda::Stream stream);
  /// Copies what arrives in that step to where it belongs, beside the stream; finish() waits for it.
  void deliver(int number, const Block& arrived, const Block& target);
  /// Later work of the stream follows what was delivered so far.
  void await_deliveries(cuda::Stream stream) { session_.order(session_.landing(), stream); }
  /// Nothing of the staging memory is read or sent after this. Later work of the stream may overwrite what was sent.
  virtual void finish(cuda::Stream stream) = 0;

 protected:
  /// Later work of the stream follows what was delivered and sent so far.
  void await_all(cuda::Stream stream) {
    if (lands_) await_deliveries(stream);
    lands_ = false;
    session_.order(session_.side(), stream);
  }

  Session& session_;

 private:
  bool lands_ = false;  // in this call
};

std::unique_ptr<Exchange> make_nccl_exchange(Session& session);
/// Null where ranks cannot map each other's memory. Collective.
std::unique_ptr<Exchange> make_copy_engine_exchange(Session& session);

}  // namespace rung::nccl
