// The order of a program's operations, and the accesses of those that nothing orders.

#include "vgpu/happens_before/program_shadow.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "vgpu/happens_before/program_clock.hpp"

namespace rung::vgpu {
namespace {

constexpr ProgramMemory memory{0x10000, 1000};

class ProgramShadowTest : public testing::Test {
 protected:
  /// An access of a new operation of the timeline, after the operations of `clock`. Returns its point.
  ProgramPoint touch(std::uint32_t timeline, Touch kind, std::uint64_t offset, std::uint64_t bytes,
                     const ProgramClock& clock = {}) {
    ProgramPoint point{timeline, ++times_[timeline]};
    ProgramClock before = clock;
    if (point.time > 1) before.add({timeline, point.time - 1});
    shadow.begin({point, timeline}, before, {}, [&](const ProgramShadow::Conflict& conflict) {
      found.push_back(std::to_string(conflict.earlier.label) + " at " +
                      std::to_string(conflict.address - memory.address));
    });
    shadow.touch(memory, offset, bytes, kind);
    return point;
  }
  static ProgramClock after(ProgramPoint point) {
    ProgramClock clock;
    clock.add(point);
    return clock;
  }

  ProgramShadow shadow;
  std::vector<std::string> found;  // "timeline of the earlier operation at offset"

 private:
  std::map<std::uint32_t, std::uint32_t> times_;
};

using Found = std::vector<std::string>;

TEST_F(ProgramShadowTest, ReportsConflictsThatNothingOrders) {
  const ProgramPoint first = touch(0, Touch::write, 0, 1000);
  touch(1, Touch::read, 64, 64, after(first));
  EXPECT_EQ(found, Found());
  touch(2, Touch::read, 128, 64);
  EXPECT_EQ(found, Found({"0 at 128"}));
  touch(3, Touch::write, 64, 1, after(first));
  EXPECT_EQ(found, Found({"0 at 128", "1 at 64"}));
}

TEST_F(ProgramShadowTest, BytesAreApart) {
  touch(0, Touch::write, 0, 101);
  touch(1, Touch::write, 101, 899);
  EXPECT_EQ(found, Found());
  touch(2, Touch::read, 100, 2);
  EXPECT_EQ(found, Found({"0 at 100", "1 at 101"}));
}

TEST_F(ProgramShadowTest, ReadersDoNotConflictButAllOfThemAreRemembered) {
  const ProgramPoint first = touch(0, Touch::read, 0, 64);
  const ProgramPoint second = touch(1, Touch::read, 0, 64);
  EXPECT_EQ(found, Found());
  ProgramClock both = after(first);
  touch(2, Touch::write, 0, 4, both);
  EXPECT_EQ(found, Found({"1 at 0"}));
  both.join(after(second));
  touch(3, Touch::write, 8, 4, both);
  EXPECT_EQ(found.size(), 1u);
}

TEST_F(ProgramShadowTest, AtomicsConflictWithPlainAccessesOnly) {
  touch(0, Touch::synchronized_write, 0, 4);
  touch(1, Touch::synchronized_write, 0, 4);
  touch(2, Touch::synchronized_read, 0, 4);
  EXPECT_EQ(found, Found());
  touch(3, Touch::read, 0, 4);
  EXPECT_EQ(found, Found({"0 at 0", "1 at 0"}));
}

TEST_F(ProgramShadowTest, ForgetsStatesThatNoByteHas) {
  for (int i = 0; i < 70000; ++i) touch(0, Touch::write, 0, 10);
  touch(1, Touch::read, 0, 10);
  EXPECT_EQ(found, Found({"0 at 0"}));
}

TEST_F(ProgramShadowTest, TellsWhatTheHostMustWaitFor) {
  using enum ProgramShadow::Pending;
  const ProgramPoint read = touch(0, Touch::read, 0, 1000);
  touch(1, Touch::write, 64, 64, after(read));
  EXPECT_EQ(shadow.pending(memory, 0, 64, true, {}), reads);
  EXPECT_EQ(shadow.pending(memory, 0, 1000, false, {}), writes);
  EXPECT_EQ(shadow.pending(memory, 64, 64, true, {}), writes);
  EXPECT_EQ(shadow.pending(memory, 0, 64, true, after(read)), nothing);
}

TEST(Timelines, AreUsedAgainOnlyIfTheirOperationsAreOrderedBefore) {
  Timelines timelines;
  const std::uint32_t first = timelines.acquire({});
  ProgramClock clock;
  clock.add(timelines.advance(first));
  timelines.release(first);
  EXPECT_NE(timelines.acquire({}), first);
  EXPECT_EQ(timelines.acquire(clock), first);
}

}  // namespace
}  // namespace rung::vgpu
