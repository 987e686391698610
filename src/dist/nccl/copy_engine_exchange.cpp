// Blocks by the copy engines, straight into the other ranks' staging memory. A 32-bit word in the
// receiver's memory says that a block has arrived, and one in the sender's that it may send: streams
// set and await them without SMs (CUDA Driver API reference, "Stream Memory Operations"). A wait sets its word
// back to 0, so that a captured call can be replayed.

#include <vector>

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
    // Permissions may come before the stream gets here, and are awaited meanwhile; in a graph, the side
    // stream has to join it first.
    const bool is_captured = session_.is_capturing(stream);
    if (is_captured) session_.order(stream, session_.side());
    take(of_others([this](int rank) { return memory_->own() + permission_word(rank); }),
         session_.side());
    if (!is_captured) session_.order(stream, session_.side());
    session_.order(stream, session_.landing());
  }

  void post(int number, const Step& step, cuda::Stream stream) override {
    if (step.out.is_empty()) return;
    session_.order(stream, session_.side());
    const DevicePointer theirs = memory_->of(step.to);
    const DevicePointer place = theirs + words_bytes + static_cast<DevicePointer>(step.out_offset);
    session_.part("sends", "send", step.out.lines, session_.side(),
                  [&] { copy(driver_, step.out, place, step.pitch, session_.side()); });
    set({theirs + arrival_of(number)}, session_.side());
  }

  void await(int number, cuda::Stream stream) override {
    take({memory_->own() + arrival_of(number)}, stream);
  }

  void finish(cuda::Stream stream) override {
    await_all(stream);
    permit_all(stream);
  }

 private:
  static DevicePointer arrival_of(int number) {
    return static_cast<DevicePointer>(number * word_bytes);
  }
  static DevicePointer permission_word(int rank) {
    return static_cast<DevicePointer>((most_steps + rank) * word_bytes);
  }

  /// Lets all other ranks write to this one's staging memory.
  void permit_all(cuda::Stream stream) {
    set(of_others(
            [this](int rank) { return memory_->of(rank) + permission_word(session_.rank()); }),
        stream);
  }

  template <class WordOfRank>
  std::vector<DevicePointer> of_others(const WordOfRank& word_of_rank) const {
    std::vector<DevicePointer> words;
    for (int rank = 0; rank < session_.ranks(); ++rank) {
      if (rank != session_.rank()) words.push_back(word_of_rank(rank));
    }
    return words;
  }

  void set(const std::vector<DevicePointer>& words, cuda::Stream stream) {
    std::vector<WordOperation> operations;
    for (const DevicePointer at : words) {
      operations.push_back({.type = WordOperation::Type::write, .at = at, .value = 1});
    }
    enqueue(operations, stream);
  }
  /// Waits for the words to be set, and clears them.
  void take(const std::vector<DevicePointer>& words, cuda::Stream stream) {
    using enum WordOperation::Type;
    std::vector<WordOperation> operations;
    for (const DevicePointer at : words) {
      operations.push_back(
          {.type = wait, .at = at, .value = 1, .flags = WordOperation::Flags::until_equal});
      operations.push_back({.type = write, .at = at, .value = 0});
    }
    enqueue(operations, stream);
  }
  /// Of one call of the driver, a stream makes several in the time of one.
  void enqueue(std::vector<WordOperation>& operations, cuda::Stream stream) {
    if (operations.empty()) return;
    require(driver_,
            session_.peers().cuStreamBatchMemOp(stream, static_cast<unsigned>(operations.size()),
                                                operations.data(), 0),
            "cuStreamBatchMemOp");
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
