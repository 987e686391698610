// The machine's driver, if its first call fails.

#include "core/cuda_driver/real_driver.hpp"

#include <gtest/gtest.h>

namespace rung::cuda {
namespace {

TEST(RealDriver, IsAskedAgainAfterARefusal) {
  const RealDriver refused = real_driver();
  EXPECT_EQ(refused.api, nullptr);
  EXPECT_EQ(refused.why_not.find("no GPU here: cuDeviceGetCount gives "), 0u) << refused.why_not;
  const RealDriver driver = real_driver();
  EXPECT_NE(driver.api, nullptr);
  EXPECT_EQ(driver.why_not, "");
  EXPECT_EQ(real_driver().api, driver.api);
}

}  // namespace
}  // namespace rung::cuda
