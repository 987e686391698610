#pragma once
// Transfers blocks of bytes between ranks while products run. An interface with two
// implementations.

#include <cstdint>
#include <memory>

#include "library/dist/nccl/block.hpp"
#include "library/dist/nccl/session.hpp"
#include "rung/tensor_parallel.hpp"

namespace rung::nccl {

/// One outgoing and one incoming message. The pitch in staging memory is the same on both ranks.
struct Step {
  Block out;  // empty: nothing is sent
  int to = 0;
  std::int64_t out_offset = 0;  // in the incoming staging memory of rank `to`
  std::int64_t in_lines = 0;    // 0: nothing arrives
  int source = 0;
  std::int64_t in_offset = 0;  // in this rank's incoming staging memory
  std::int64_t pitch = 0;
};

/// A call consists of begin(), post() and await() for each step, and finish(). All ranks perform
/// the same steps, numbered from 0 to max_steps - 1. A rank must await data that depends, directly
/// or through other ranks, on a step of every rank, so that no rank gets two calls ahead of
/// another.
class Exchange {
 public:
  static constexpr int max_steps = 512;

  explicit Exchange(Session& session) : session_(session) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  virtual ~Exchange() = default;

  Session& session() const { return session_; }
  const cuda::DriverApi& driver() const { return session_.driver(); }
  virtual dist::Transport transport() const = 0;
  /// The number of SMs that transfers occupy.
  virtual int multiprocessors() const = 0;

  /// Reserves staging memory: `bytes` for arriving data and as many for computed data to be sent.
  /// Collective, with the same size on all ranks; waits if the memory must grow.
  virtual void reserve(std::int64_t bytes) = 0;
  virtual cuda::DevicePointer incoming() const = 0;
  virtual cuda::DevicePointer outgoing() const = 0;

  virtual void begin(cuda::Stream stream) = 0;
  /// Sends the step's block when the stream's current work is done.
  virtual void post(int number, const Step& step, cuda::Stream stream) = 0;
  /// Later work of the stream waits for the arrival of that step's block.
  virtual void await(int number, cuda::Stream stream) = 0;
  /// True if running kernels in the stream may await arrivals and signal departures through words.
  /// False in a graph, which does not guarantee that its branches run concurrently.
  virtual bool has_words(cuda::Stream /*stream*/) const { return false; }
  /// If has_words(): a word that becomes 1 when that step's block has arrived.
  virtual cuda::DevicePointer arrival(int /*number*/) { return 0; }
  /// A word that a kernel sets to departure_value() when the data sent by that step (and possibly
  /// by others after it) is complete.
  virtual cuda::DevicePointer departure(int /*number*/) { return 0; }
  /// A value that differs from that of the previous calls, so that their words are not mistaken for
  /// this call's.
  virtual std::uint32_t departure_value() const { return 1; }
  /// Sends the step's block when departure(awaited) has that value.
  virtual void post_after(int /*awaited*/, int /*number*/, const Step& /*step*/) {}
  /// Blocks that arrive later may be copied to memory that the stream has used before this call.
  void begin_arrivals(cuda::Stream stream);
  /// Copies the arriving block of that step to its target, concurrently with the stream; finish()
  /// waits for it.
  void deliver(int number, const Block& arrived, const Block& target);
  /// Later work of the stream waits for all deliveries so far.
  void await_deliveries(cuda::Stream stream) { session_.order(session_.landing(), stream); }
  /// Ends the use of the staging memory. Later work of the stream may overwrite data that was sent.
  virtual void finish(cuda::Stream stream) = 0;

 protected:
  /// Later work of the stream waits for everything delivered and sent so far.
  void await_all(cuda::Stream stream) {
    if (lands_) await_deliveries(stream);
    lands_ = false;
    session_.order(session_.side(), stream);
  }

  Session& session_;

 private:
  bool lands_ = false;  // a delivery is in flight
};

std::unique_ptr<Exchange> make_nccl_exchange(Session& session);
/// Null if the ranks cannot map each other's memory. Collective.
std::unique_ptr<Exchange> make_copy_engine_exchange(Session& session);

}  // namespace rung::nccl
