// Races of bulk copies in global memory: one block stores with a bulk copy, and another loads with
// one.

#include "vgpu/tests/async_fixture.hpp"

namespace rung::vgpu {
namespace {

const std::string load_of_64_bytes =
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r20], [%rd3], 64, "
    "[bar];\n";
const std::string store = "cp.async.bulk.global.shared::cta.bulk_group [%rd3], [%r20], 64;\n";
const std::string wait_for_load = "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;\n" +
                                  load_of_64_bytes + wait_for("bar", "0", "0");

/// The actions of one thread in each of two blocks, around a flag that the first one sets.
struct Message {
  std::string write = store + "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";
  std::string publish = "st.release.sys.global.u32 [%rd1], 1;\n";
  std::string wait = "ld.acquire.sys.global.u32 %r5, [%rd1];\n";
  std::string before_read = "fence.proxy.async.global;\n";
  std::string read = wait_for_load;
};

const std::string by_thread = "st.global.u32 [%rd3], 7;\n";
const std::string proxy_fence = "fence.proxy.async;\n";

class BulkRacesTest : public AsyncTest {
 protected:
  LaunchReport send(const Message& message) {
    options.threads = 1;
    // Separate allocations: other writes to the same one could hide that of a copy.
    const std::uint64_t word = array(std::vector<std::uint32_t>(1));
    const std::uint64_t place = array(std::vector<std::uint32_t>(16));
    return run(entry(".param .u64 word, .param .u64 place", R"(
      .shared .align 128 .b8 data[64];
      .shared .align 8 .b8 bar[8];)" + registers() +
                                                                R"(
      ld.param.u64 %rd1, [word];
      ld.param.u64 %rd3, [place];
      mov.u32 %r1, %tid.x;
      mov.u32 %r2, %ctaid.x;
      mov.u32 %r20, data;
      setp.ne.u32 %p1, %r1, 0;
      @%p1 bra END;
      mov.u32 %r6, 5;
      st.shared.v4.u32 [data], {%r6, %r6, %r6, %r6};
      st.shared.v4.u32 [data + 16], {%r6, %r6, %r6, %r6};
      st.shared.v4.u32 [data + 32], {%r6, %r6, %r6, %r6};
      st.shared.v4.u32 [data + 48], {%r6, %r6, %r6, %r6};
      mbarrier.init.shared.b64 [bar], 1;
      fence.mbarrier_init.release.cluster;
      fence.proxy.async.shared::cta;
      setp.ne.u32 %p2, %r2, 0;
      @%p2 bra RECEIVE;
      )" + message.write + message.publish + R"(
      bra END;
      RECEIVE: )" + message.wait + R"(
      setp.eq.u32 %p3, %r5, 0;
      @%p3 bra RECEIVE;
      )" + message.before_read + message.read + "END: ret;"),
               {2, 1, 1}, {32, 1, 1}, {word, place});
  }
  void expect_race(const Message& message) {
    SCOPED_TRACE(message.write + message.publish + message.wait + message.before_read);
    const Hazard hazard = found(send(message), HazardKind::global_race);
    EXPECT_NE(hazard.first.block[0], hazard.other.block[0]);
  }
};

TEST_F(BulkRacesTest, AFlagOrdersBulkCopies) {
  expect_none(send({}));
  expect_none(send({.read = "ld.global.u32 %r6, [%rd3];\n"}));
  expect_race({.publish = "st.relaxed.sys.global.u32 [%rd1], 1;\n"});
  expect_race({.wait = "ld.relaxed.sys.global.u32 %r5, [%rd1];\n"});
  expect_race({.publish = "st.relaxed.sys.global.u32 [%rd1], 1;\n",
               .read = "ld.global.u32 %r6, [%rd3];\n"});
}

TEST_F(BulkRacesTest, AStoreIsInFlightUntilItIsComplete) {
  const std::string commit = store + "cp.async.bulk.commit_group;\n";
  expect_race({.write = commit + "cp.async.bulk.wait_group.read 0;\n"});
  expect_race(
      {.write = commit + "cp.async.bulk.wait_group 1;\n" + "cp.async.bulk.wait_group.read 0;\n"});
  expect_none(
      send({.write = commit + "cp.async.bulk.wait_group.read 0;\ncp.async.bulk.wait_group 0;\n"}));
  // The thread that issues the copy is not ordered after it, either.
  const Message own = {.write =
                           commit + "ld.global.u32 %r6, [%rd3];\ncp.async.bulk.wait_group 0;\n"};
  const Hazard hazard = found(send(own), HazardKind::global_race);
  EXPECT_EQ(hazard.first.block[0], hazard.other.block[0]);
  EXPECT_NE(hazard.message.find("bulk copy"), std::string::npos) << hazard.message;
}

TEST_F(BulkRacesTest, StoresOfTwoBlocksToOnePlace) {
  const Message both = {.wait = "mov.u32 %r5, 1;\n", .read = Message{}.write};
  expect_race(both);
  expect_none(send({.read = both.read}));
  Message sums = both;
  const std::string reduction =
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd3], [%r20], 64;\n";
  sums.write = sums.read = reduction + "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";
  expect_none(send(sums));
}

// A copy reads its source until it is complete.
TEST_F(BulkRacesTest, ASourceIsWrittenAfterTheLoad) {
  const std::string load =
      "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;\n" + load_of_64_bytes;
  const std::string wait = wait_for("bar", "0", "0");
  const auto receive = [&](const std::string& code) {
    return send({.write = "", .publish = "", .wait = "mov.u32 %r5, 1;\n", .read = code});
  };
  const std::string bulk_store =
      store + "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";
  const std::string stores[] = {by_thread, "atom.global.add.u32 %r6, [%rd3], 1;\n", bulk_store};
  for (const std::string& write : stores) {
    SCOPED_TRACE(write);
    expect_none(receive(load + wait + write));
    const Hazard hazard = found(receive(load + write + wait), HazardKind::global_race);
    EXPECT_EQ(hazard.other.access, "bulk copy");
    EXPECT_EQ(hazard.first.block[0], hazard.other.block[0]);
  }
  expect_none(receive(load + "st.global.u32 [%rd1], 7;\n" + wait));
}

/// Two lanes of a warp store 64 bytes each with one instruction.
class BulkStoresOfLanesTest : public AsyncTest {
 protected:
  /// `shared_offset`, `global_offset`: byte offsets of the second lane's addresses from the first
  /// one's.
  LaunchReport stores(int shared_offset, int global_offset,
                      const std::string& instruction = store) {
    const std::uint64_t place = array(std::vector<std::uint32_t>(32));
    return run(entry(".param .u64 place", R"(
      .shared .align 128 .b8 data[128];)" + registers() +
                                              R"(
      ld.param.u64 %rd3, [place];
      mov.u32 %r1, %tid.x;
      mov.u32 %r20, data;
      mad.lo.u32 %r2, %r1, 4, %r20;
      st.shared.u32 [%r2], 5;
      fence.proxy.async.shared::cta;
      bar.sync 0;
      setp.gt.u32 %p1, %r1, 1;
      @%p1 bra END;
      mad.lo.u32 %r20, %r1, )" + std::to_string(shared_offset) +
                                              R"(, %r20;
      mul.wide.u32 %rd4, %r1, )" + std::to_string(global_offset) +
                                              R"(;
      add.u64 %rd3, %rd3, %rd4;
      )" + instruction + R"(
      cp.async.bulk.commit_group;
      cp.async.bulk.wait_group 0;
      END: ret;)"),
               {1, 1, 1}, {32, 1, 1}, {place});
  }
};

TEST_F(BulkStoresOfLanesTest, OneCopyByAllLanesIsTheSameValue) {
  const LaunchReport same = stores(0, 0);
  EXPECT_TRUE(has(same, HazardKind::same_value));
  EXPECT_FALSE(has(same, HazardKind::global_race));
  // Equal bytes at another address in shared memory are another copy.
  EXPECT_TRUE(has(stores(64, 0), HazardKind::global_race));
  EXPECT_TRUE(has(stores(0, 16), HazardKind::global_race));
  expect_none(stores(64, 64));
  expect_none(stores(0, 64));
}

TEST_F(BulkStoresOfLanesTest, ALaneThatDoesNotWaitLeavesItsCopyInFlight) {
  const LaunchReport left = stores(0, 0, store + R"(
      cp.async.bulk.commit_group;
      setp.eq.u32 %p2, %r1, 0;
      @%p2 cp.async.bulk.wait_group 0;
      @%p2 ld.global.u32 %r6, [%rd3];)");
  EXPECT_TRUE(has(left, HazardKind::global_race));
}

TEST_F(BulkRacesTest, ACopySeesWhatThreadsWriteBehindAProxyFence) {
  const auto is_missing = [&](const Message& message) {
    const LaunchReport report = send(message);
    EXPECT_FALSE(has(report, HazardKind::global_race));
    return has(report, HazardKind::missing_fence);
  };
  EXPECT_FALSE(is_missing({.write = by_thread}));
  EXPECT_TRUE(is_missing({.write = by_thread, .before_read = ""}));
  EXPECT_TRUE(
      is_missing({.write = by_thread, .before_read = "", .read = wait_for_load + proxy_fence}));
  // A fence by the writer suffices, too, if it is between.
  EXPECT_FALSE(is_missing({.write = by_thread + proxy_fence, .before_read = ""}));
  EXPECT_TRUE(is_missing({.write = proxy_fence + by_thread, .before_read = ""}));
  // Within one block.
  const std::string wait = "mov.u32 %r5, 1;\n";
  EXPECT_TRUE(is_missing({.write = "", .wait = wait, .before_read = by_thread}));
  EXPECT_FALSE(is_missing({.write = "", .wait = wait, .before_read = by_thread + proxy_fence}));
  // Data stored by a bulk copy need no fence.
  EXPECT_FALSE(is_missing({.before_read = ""}));
}

}  // namespace
}  // namespace rung::vgpu
