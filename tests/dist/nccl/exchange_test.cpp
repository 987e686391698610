// The words in memory by which streams synchronize in an exchange by copy engines.

#include "library/dist/nccl/exchange.hpp"

#include "fixture.hpp"

namespace rung::nccl {
namespace {

std::vector<WordOperation> waits;

/// Records what a stream would wait for, without waiting.
cuda::Result record(cuda::Stream, unsigned count, WordOperation* operations, unsigned) {
  for (unsigned i = 0; i < count; ++i) {
    if (operations[i].type == WordOperation::Type::wait) waits.push_back(operations[i]);
  }
  return cuda::Result::success;
}

// A stream can reach the wait of a call before the caller's stream has ended the preceding call,
// whose word is still set. If both calls waited for the same value, the stream would send the
// preceding call's results (observed on two H200).
TEST_F(TensorParallelTest, AWordOfTheCallBeforeIsNotTakenForThisOnes) {
  static PeerApi recording = standin_peers();
  recording.cuStreamBatchMemOp = record;
  static const Backend standin = {
      .driver = &vgpu::virtual_driver(), .peers = &recording, .nccl = &standin_nccl()};
  use_backend(&standin);
  const auto errors = on_ranks(1, [](int, Comm comm) {
    Session session(comm, 10);
    const std::unique_ptr<Exchange> exchange = make_copy_engine_exchange(session);
    exchange->reserve(1 << 10);
    ASSERT_TRUE(exchange->has_words(nullptr));
    const Block block = {exchange->outgoing(), 1, 64, 64};
    waits.clear();
    for (int call = 0; call < 2; ++call) {
      exchange->begin(nullptr);
      exchange->post_after(3, 5, {.out = block, .pitch = 64});
      EXPECT_EQ(waits.back().at, exchange->departure(3));
      EXPECT_EQ(waits.back().value, exchange->departure_value());
      exchange->finish(nullptr);
    }
    ASSERT_EQ(waits.size(), 2u);
    EXPECT_NE(waits[0].value, waits[1].value);
  });
  EXPECT_EQ(errors, std::vector<std::string>(1));
}

}  // namespace
}  // namespace rung::nccl
