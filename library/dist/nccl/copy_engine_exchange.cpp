// Transfers blocks with copy engines, directly into the other ranks' staging memory. A 32-bit word
// in the receiver's memory signals that a block has arrived, and a word in the sender's memory
// permits it to send: streams set and await these words without using SMs (CUDA Driver API
// reference, "Stream Memory Operations"). A call resets its words to 0, so that it can be captured
// and replayed.

#include <algorithm>
#include <vector>

#include "library/dist/nccl/exchange.hpp"
#include "library/dist/nccl/peer_memory.hpp"

namespace rung::nccl {
namespace {

using cuda::DevicePointer;

/// Words at the beginning of a rank's memory: for each step one for its block's arrival and one for
/// its departure, followed by one for each rank.
constexpr std::int64_t word_bytes = 4;
constexpr std::int64_t words_bytes = 1 << 16;

class CopyEngineExchange final : public Exchange {
 public:
  CopyEngineExchange(Session& session, std::unique_ptr<PeerMemory> memory)
      : Exchange(session), driver_(session.driver()), memory_(std::move(memory)) {
    permit_all(session_.side());
    session_.on_failure([this] { release_waits(); });
  }
  ~CopyEngineExchange() override { session_.on_failure({}); }

  dist::Transport transport() const override { return dist::Transport::copy_engine; }
  int multiprocessors() const override { return 0; }
  DevicePointer incoming() const override { return memory_->own() + words_bytes; }
  DevicePointer outgoing() const override {
    return incoming() + static_cast<DevicePointer>(bytes_);
  }

  void reserve(std::int64_t bytes) override {
    if (bytes <= bytes_) return;
    session_.wait(session_.side());
    session_.all_gather(0);  // no rank is sending any more
    memory_.reset();
    memory_ = PeerMemory::make(session_, words_bytes + 2 * bytes);
    if (memory_ == nullptr) {
      throw Error(Status::device_error, "rung: memory of another GPU could not be mapped");
    }
    bytes_ = bytes;
    permit_all(session_.side());
    session_.wait(session_.side());
  }

  void begin(cuda::Stream stream) override {
    // Permissions may arrive before the stream reaches this point, so the side stream waits for
    // them meanwhile. In a graph, the side stream must first join the capture.
    awaited_.clear();
    ++call_;
    if (session_.is_capturing(stream)) session_.order(stream, session_.side());
    std::vector<WordOperation> operations;
    for_others([&](int rank) {
      const DevicePointer permission = memory_->own() + permission_word(rank);
      operations.push_back(wait_for(permission));
      operations.push_back(write(permission, 0));
    });
    enqueue(operations, session_.side());
  }

  void post(int number, const Step& step, cuda::Stream stream) override {
    if (step.out.is_empty()) return;
    session_.order(stream, session_.side());
    send(number, step);
  }

  void await(int number, cuda::Stream stream) override {
    enqueue({wait_for(arrival(number))}, stream);
  }

  bool has_words(cuda::Stream stream) const override {
    return session_.streams_run_at_once() && !session_.is_capturing(stream);
  }
  DevicePointer arrival(int number) override {
    awaited_.push_back(memory_->own() + arrival_of(number));
    return awaited_.back();
  }
  DevicePointer departure(int number) override { return memory_->own() + departure_of(number); }
  std::uint32_t departure_value() const override { return call_; }

  void post_after(int awaited, int number, const Step& step) override {
    if (step.out.is_empty()) return;
    session_.part("sends", "wait for product", step.out.lines, session_.side(), [&] {
      enqueue({wait_for(departure(awaited), departure_value())}, session_.side());
    });
    send(number, step);
  }

  void finish(cuda::Stream stream) override {
    await_all(stream);
    permit_all(stream);
  }

 private:
  static DevicePointer arrival_of(int number) {
    return static_cast<DevicePointer>(number * word_bytes);
  }
  static DevicePointer departure_of(int number) { return arrival_of(max_steps + number); }
  static DevicePointer permission_word(int rank) { return arrival_of(2 * max_steps + rank); }

  void send(int number, const Step& step) {
    const DevicePointer theirs = memory_->of(step.to);
    const DevicePointer place = theirs + words_bytes + static_cast<DevicePointer>(step.out_offset);
    session_.part("sends", "send", step.out.lines, session_.side(),
                  [&] { copy(driver_, step.out, place, step.pitch, session_.side()); });
    enqueue({write(theirs + arrival_of(number), 1)}, session_.side());
  }

  /// Permits all other ranks to write to this one's staging memory. Words are cleared only here,
  /// because a write waits for the GPU's memory traffic, which would delay products.
  void permit_all(cuda::Stream stream) {
    std::vector<WordOperation> operations;
    for (const DevicePointer word : awaited_) operations.push_back(write(word, 0));
    awaited_.clear();
    for_others([&](int rank) {
      operations.push_back(write(memory_->of(rank) + permission_word(session_.rank()), 1));
    });
    enqueue(operations, stream);
  }
  template <class Body>
  void for_others(const Body& body) const {
    for (int rank = 0; rank < session_.ranks(); ++rank) {
      if (rank != session_.rank()) body(rank);
    }
  }

  static WordOperation wait_for(DevicePointer word, std::uint32_t value = 1) {
    return {.type = WordOperation::Type::wait,
            .at = word,
            .value = value,
            .flags = WordOperation::Flags::until_equal};
  }
  static WordOperation write(DevicePointer word, std::uint64_t value) {
    return {.type = WordOperation::Type::write, .at = word, .value = value};
  }
  /// A single driver call, because several cost the stream several times as much.
  void enqueue(std::vector<WordOperation> operations, cuda::Stream stream) {
    if (operations.empty()) return;
    require(driver_,
            session_.peers().cuStreamBatchMemOp(stream, static_cast<unsigned>(operations.size()),
                                                operations.data(), 0),
            "cuStreamBatchMemOp");
  }

  /// Sets all words repeatedly until no stream of the context waits, because a step may await
  /// several words.
  void release_waits() {
    cuda::Stream other = nullptr;
    if (driver_.cuStreamCreate(&other, cuda::stream_non_blocking) != cuda::Result::success) return;
    constexpr int at_once = 64;  // no kernels: waiting kernels may occupy all SMs
    const int words = 2 * max_steps + session_.ranks();
    for (int first = 0; first < words; first += at_once) {
      std::vector<WordOperation> operations;
      for (int word = first; word < std::min(first + at_once, words); ++word) {
        const bool is_departure = word >= max_steps && word < 2 * max_steps;
        operations.push_back(write(memory_->own() + arrival_of(word), is_departure ? call_ : 1));
      }
      session_.peers().cuStreamBatchMemOp(other, static_cast<unsigned>(operations.size()),
                                          operations.data(), 0);
    }
    driver_.cuStreamSynchronize(other);
    driver_.cuStreamDestroy(other);
  }

  const cuda::DriverApi& driver_;
  std::unique_ptr<PeerMemory> memory_;
  std::int64_t bytes_ = 0;
  std::vector<DevicePointer> awaited_;  // words awaited in this call
  std::uint32_t call_ = 0;              // number of calls so far
};

}  // namespace

std::unique_ptr<Exchange> make_copy_engine_exchange(Session& session) {
  std::unique_ptr<PeerMemory> memory = PeerMemory::make(session, words_bytes);
  if (memory == nullptr) return nullptr;
  return std::make_unique<CopyEngineExchange>(session, std::move(memory));
}

}  // namespace rung::nccl
