// Blocks by the copy engines, straight into the other ranks' staging memory. A 32-bit word in the
// receiver's memory says that a block has arrived, and one in the sender's that it may send: streams
// set and await them without SMs (CUDA Driver API reference, "Stream Memory Operations"). A wait sets its word
// back to 0, so that a captured call can be replayed.

#include "dist/nccl/exchange.hpp"
#include "dist/nccl/peer_memory.hpp"

namespace rung::nccl {
namespace {

using cuda::DevicePointer;

/// The words at the beginning of a rank's memory: one for each step, then one for each rank.
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
    session_.all_gather(0);  // no rank sends any more
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
    session_.order(stream, session_.side());
    session_.order(stream, session_.landing());
    for (int rank = 0; rank < session_.ranks(); ++rank) {
      if (rank != session_.rank()) take(permission_of(rank), session_.side());
    }
  }

  void post(int number, const Step& step, cuda::Stream stream) override {
    if (step.out.is_empty()) return;
    session_.order(stream, session_.side());
    const DevicePointer theirs = memory_->of(step.to);
    copy(driver_, step.out, theirs + words_bytes + static_cast<DevicePointer>(step.out_offset),
         step.pitch, session_.side());
    set(theirs + arrival_of(number), session_.side());
  }

  void await(int number, cuda::Stream stream) override {
    take(memory_->own() + arrival_of(number), stream);
  }

  void finish(cuda::Stream stream) override {
    await_deliveries(stream);
    permit_all(stream);
    session_.order(session_.side(), stream);
  }

 private:
  static DevicePointer arrival_of(int number) {
    return static_cast<DevicePointer>(number * word_bytes);
  }
  static DevicePointer permission_word(int rank) {
    return static_cast<DevicePointer>((most_steps + rank) * word_bytes);
  }
  DevicePointer permission_of(int rank) const { return memory_->own() + permission_word(rank); }

  /// Lets all other ranks write to this one's staging memory.
  void permit_all(cuda::Stream stream) {
    for (int rank = 0; rank < session_.ranks(); ++rank) {
      if (rank != session_.rank()) {
        set(memory_->of(rank) + permission_word(session_.rank()), stream);
      }
    }
  }

  void set(DevicePointer word, cuda::Stream stream) {
    require(driver_, session_.peers().cuStreamWriteValue32(stream, word, 1, 0),
            "cuStreamWriteValue32");
  }
  /// Waits for the word to be set, and clears it.
  void take(DevicePointer word, cuda::Stream stream) {
    const PeerApi& peers = session_.peers();
    require(driver_, peers.cuStreamWaitValue32(stream, word, 1, wait_until_equal),
            "cuStreamWaitValue32");
    require(driver_, peers.cuStreamWriteValue32(stream, word, 0, 0), "cuStreamWriteValue32");
  }

  /// Sets all words again and again, until no stream of the context waits: a step can await several.
  void release_waits() {
    cuda::Stream other = nullptr;
    if (driver_.cuStreamCreate(&other, cuda::stream_non_blocking) != cuda::Result::success) return;
    for (int word = 0; word < most_steps + session_.ranks(); ++word) {
      driver_.cuMemsetD32Async(memory_->own() + static_cast<DevicePointer>(word * word_bytes), 1, 1,
                               other);
    }
    driver_.cuStreamSynchronize(other);
    driver_.cuStreamDestroy(other);
  }

  const cuda::DriverApi& driver_;
  std::unique_ptr<PeerMemory> memory_;
  std::int64_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<Exchange> make_copy_engine_exchange(Session& session) {
  std::unique_ptr<PeerMemory> memory = PeerMemory::make(session, words_bytes);
  if (memory == nullptr) return nullptr;
  return std::make_unique<CopyEngineExchange>(session, std::move(memory));
}

}  // namespace rung::nccl
