// The hint about --launches.

#include <gtest/gtest.h>

#include "emu/runtime/repetitions.hpp"

namespace rung::emu {
namespace {

TEST(Repetitions, AreToldOnceWhenTheyTakeLong) {
  Repetitions repetitions(false);
  EXPECT_FALSE(repetitions.add("a", 4));
  EXPECT_FALSE(repetitions.add("b", 1));
  for (int i = 0; i < 14; ++i) EXPECT_FALSE(repetitions.add("b", 1)) << i;
  const auto hint = repetitions.add("a", 2);
  ASSERT_TRUE(hint);
  EXPECT_NE(hint->find("17 launches of 2 kernels have taken 21 s"), std::string::npos) << *hint;
  EXPECT_NE(hint->find("--launches 1"), std::string::npos);
  EXPECT_NE(hint->find("--ci"), std::string::npos);
  EXPECT_FALSE(repetitions.add("a", 100));
}

TEST(Repetitions, AreNotWhatALongKernelTakes) {
  Repetitions repetitions(false);
  EXPECT_FALSE(repetitions.add("a", 100));
  EXPECT_FALSE(repetitions.add("b", 100));
  EXPECT_FALSE(repetitions.add("a", 100));
}

TEST(Repetitions, DoNotOfferWhatIsOn) {
  Repetitions repetitions(true);
  repetitions.add("a", 2);
  const auto hint = repetitions.add("a", 100);
  ASSERT_TRUE(hint);
  EXPECT_NE(hint->find("--launches 1"), std::string::npos);
  EXPECT_EQ(hint->find("--ci"), std::string::npos) << *hint;
}

}  // namespace
}  // namespace rung::emu
