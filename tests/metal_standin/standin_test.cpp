// The stand-in itself: it must report what Metal's validation reports, or the tests of the host
// code could not fail.

#include "standin.hpp"

#include <gtest/gtest.h>

#include <Metal/Metal.hpp>

namespace metal_standin {
namespace {

class StandIn : public testing::Test {
 protected:
  NS::SharedPtr<NS::AutoreleasePool> pool_ = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  NS::SharedPtr<MTL::Device> device_ = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  NS::SharedPtr<MTL::CommandQueue> queue_ = NS::TransferPtr(device_->newCommandQueue());
};

TEST_F(StandIn, CountsWhatIsHeld) {
  const std::int64_t before = live_objects();
  auto buffer = NS::TransferPtr(device_->newBuffer(4, MTL::ResourceStorageModeShared));
  auto again = buffer;
  EXPECT_EQ(live_objects(), before + 1);
  buffer.reset();
  EXPECT_EQ(live_objects(), before + 1);
  again.reset();
  EXPECT_EQ(live_objects(), before);
}

TEST(StandInDeathTest, WantsAPoolForWhatItLends) {
  EXPECT_DEATH(NS::String::string("text", NS::UTF8StringEncoding), "no pool will drop it");
}

using StandInMisuseDeathTest = StandIn;

TEST_F(StandInMisuseDeathTest, StopsAtMisuse) {
  EXPECT_DEATH(device_->newBuffer(0, MTL::ResourceStorageModeShared), "a buffer of no bytes");
  MTL::CommandBuffer* const commands = queue_->commandBuffer();
  EXPECT_DEATH(commands->waitUntilCompleted(), "a wait before commit");
  MTL::ComputeCommandEncoder* const encoder = commands->computeCommandEncoder();
  EXPECT_DEATH(commands->blitCommandEncoder(), "two encoders at once");
  EXPECT_DEATH(commands->commit(), "a commit before the encoder's end");
  EXPECT_DEATH(encoder->setBytes("", 0, 0), "setBytes takes 1 to 4096 bytes");
  EXPECT_DEATH(encoder->dispatchThreadgroups({1, 1, 1}, {1, 1, 1}), "without encoder or pipeline");
  encoder->endEncoding();
  commands->commit();
  EXPECT_DEATH(commands->commit(), "a second commit");
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusCommitted);
  commands->waitUntilCompleted();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusCompleted);
}

}  // namespace
}  // namespace metal_standin
