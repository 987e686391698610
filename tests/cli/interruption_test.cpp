// The effect of signals on a long run.

#include "interruption.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

namespace rung {
namespace {

TEST(Interruption, TheFirstSignalIsNoted) {
  const Interruption interruption;
  EXPECT_EQ(Interruption::noted(), 0);
  Interruption::end_by_noted();  // returns
  std::raise(SIGTERM);
  EXPECT_EQ(Interruption::noted(), SIGTERM);
}

TEST(Interruption, AnIgnoredSignalStaysIgnored) {
  std::signal(SIGINT, SIG_IGN);
  {
    const Interruption interruption;
    std::raise(SIGINT);
    EXPECT_EQ(Interruption::noted(), 0);
  }
  EXPECT_EQ(std::signal(SIGINT, SIG_DFL), SIG_IGN);
}

TEST(Interruption, NothingIsNotedBeforeTheNextRun) {
  std::signal(SIGINT, SIG_DFL);
  {
    const Interruption interruption;
    std::raise(SIGINT);
  }
  const Interruption next;
  EXPECT_EQ(Interruption::noted(), 0);
}

TEST(InterruptionDeathTest, TheSecondSignalEndsTheProcess) {
  const auto interrupt_twice = [] {
    std::signal(SIGINT, SIG_DFL);  // a background job ignores it
    const Interruption interruption;
    std::raise(SIGINT);
    std::raise(SIGINT);
    std::exit(0);
  };
  EXPECT_EXIT(interrupt_twice(), testing::KilledBySignal(SIGINT), "");
}

TEST(InterruptionDeathTest, TheProcessEndsByTheNotedSignal) {
  const auto interrupt = [] {
    const Interruption interruption;
    std::raise(SIGTERM);
    Interruption::end_by_noted();
    std::exit(0);
  };
  EXPECT_EXIT(interrupt(), testing::KilledBySignal(SIGTERM), "");
}

TEST(InterruptionDeathTest, AfterTheRunASignalEndsTheProcess) {
  const auto interrupt_later = [] {
    std::signal(SIGINT, SIG_DFL);
    {
      const Interruption interruption;
    }
    std::raise(SIGINT);
    std::exit(0);
  };
  EXPECT_EXIT(interrupt_later(), testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace rung
