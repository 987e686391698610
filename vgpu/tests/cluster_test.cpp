// Clusters: positions, barriers, accesses to other blocks' shared memory, multicast.

#include <numeric>

#include "vgpu/tests/async_fixture.hpp"

namespace rung::vgpu {
namespace {

class ClusterTest : public AsyncTest {
 protected:
  /// Runs blocks of one warp. %r1: thread; %r2: rank; %rd2: address of the thread's word of `out`.
  LaunchReport run_body(const std::string& body, Dim3 grid, Dim3 cluster,
                        std::uint64_t parameter = 0) {
    options.cluster = cluster;
    out = array(std::vector<std::uint32_t>(grid.count() * 32, 0xFFFFFFFFu));
    return run(entry(".param .u64 out, .param .u64 x", R"(
      .shared .align 1024 .b8 data[1024];
      .shared .align 8 .b8 bar[16];)" + registers() +
                                                           R"(
      ld.param.u64 %rd1, [out];
      ld.param.u64 %rd3, [x];
      mov.u32 %r1, %tid.x;
      mov.u32 %r2, %cluster_ctarank;
      mov.u32 %r3, %ctaid.x;
      mov.u32 %r4, %ctaid.y;
      mov.u32 %r5, %nctaid.x;
      mad.lo.u32 %r6, %r4, %r5, %r3;
      mad.lo.u32 %r6, %r6, 32, %r1;
      mul.wide.u32 %rd2, %r6, 4;
      add.u64 %rd2, %rd1, %rd2;
      mov.u32 %r7, data;
      shl.b32 %r8, %r1, 2;
      add.u32 %r9, %r7, %r8;
      setp.eq.u32 %p1, %r1, 0;
      )" + body + "\nret;"),
               grid, {32, 1, 1}, {out, parameter});
  }
  std::vector<std::uint32_t> results(std::size_t count) {
    return values<std::uint32_t>(out, count);
  }
  std::uint64_t out = 0;
};

const std::string cluster_sync =
    "barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\n";

TEST_F(ClusterTest, Places) {
  // For 4 x 4 blocks in clusters of 2 x 2: cluster, position in it, rank and sizes, as digits.
  const std::string digits = R"(
    mov.u32 %r10, %clusterid.x;
    mov.u32 %r11, %clusterid.y;
    mad.lo.u32 %r10, %r10, 10, %r11;
    mov.u32 %r11, %cluster_ctaid.x;
    mad.lo.u32 %r10, %r10, 10, %r11;
    mov.u32 %r11, %cluster_ctaid.y;
    mad.lo.u32 %r10, %r10, 10, %r11;
    mad.lo.u32 %r10, %r10, 10, %r2;
    mov.u32 %r11, %cluster_nctarank;
    mad.lo.u32 %r10, %r10, 10, %r11;
    mov.u32 %r11, %nclusterid.x;
    mad.lo.u32 %r10, %r10, 10, %r11;
    st.global.u32 [%rd2], %r10;)";
  expect_none(run_body(digits, {4, 4, 1}, {2, 2, 1}));
  const auto result = results(16 * 32);
  EXPECT_EQ(result[0 * 32], 42u);
  EXPECT_EQ(result[1 * 32], 10142u);              // (1, 0)
  EXPECT_EQ(result[4 * 32], 1242u);               // (0, 1)
  EXPECT_EQ(result[(3 * 4 + 2) * 32], 1101242u);  // (2, 3)
}

const std::string exchange_body = R"(
  st.shared.u32 [%r9], %r6;
  )";
const std::string read_other = R"(
  xor.b32 %r10, %r2, 1;
  mapa.shared::cluster.u32 %r11, %r9, %r10;
  ld.shared::cluster.u32 %r12, [%r11];
  st.global.u32 [%rd2], %r12;
  )";

TEST_F(ClusterTest, ReadsEachOthersMemory) {
  expect_none(
      run_body(exchange_body + cluster_sync + read_other + cluster_sync, {4, 1, 1}, {2, 1, 1}));
  const auto result = results(128);
  for (std::uint32_t i = 0; i < 128; ++i) EXPECT_EQ(result[i], i ^ 32);
}

TEST_F(ClusterTest, ReadsNeedBarriers) {
  // The first barrier orders the write before the read; the last keeps the memory alive.
  const LaunchReport early =
      run_body(exchange_body + read_other + cluster_sync, {2, 1, 1}, {2, 1, 1});
  EXPECT_TRUE(has(early, HazardKind::uninitialised_read) || has(early, HazardKind::shared_race));
  const LaunchReport late =
      run_body(exchange_body + cluster_sync + read_other, {2, 1, 1}, {2, 1, 1});
  EXPECT_NE(found(late, HazardKind::out_of_bounds).message.find("has ended"), std::string::npos);
}

TEST_F(ClusterTest, WritesToEachOthersMemory) {
  const std::string write = R"(
    xor.b32 %r10, %r2, 1;
    mapa.shared::cluster.u32 %r11, %r9, %r10;
    st.shared::cluster.u32 [%r11], %r6;
    )";
  const std::string read = "ld.shared.u32 %r12, [%r9];\nst.global.u32 [%rd2], %r12;\n";
  expect_none(run_body(write + cluster_sync + read, {2, 1, 1}, {2, 1, 1}));
  const auto result = results(64);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(result[i], i ^ 32);
  const std::string relaxed =
      "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n";
  const Hazard race =
      found(run_body(write + relaxed + read, {2, 1, 1}, {2, 1, 1}), HazardKind::shared_race);
  EXPECT_TRUE(race.has_other);
  EXPECT_NE(race.first.block[0], race.other.block[0]) << race.message;
}

/// %rd5: generic address of the thread's word in the other block's memory.
const std::string generic_place = R"(
  xor.b32 %r10, %r2, 1;
  cvt.u64.u32 %rd4, %r9;
  cvta.shared.u64 %rd4, %rd4;
  mapa.u64 %rd5, %rd4, %r10;
  )";

TEST_F(ClusterTest, GenericAddressesReachOtherBlocks) {
  const std::string read = "ld.u32 %r12, [%rd5];\nst.global.u32 [%rd2], %r12;\n";
  expect_none(run_body(exchange_body + cluster_sync + generic_place + read + cluster_sync,
                       {2, 1, 1}, {2, 1, 1}));
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(results(64)[i], i ^ 32);
  const LaunchReport early =
      run_body(exchange_body + generic_place + read + cluster_sync, {2, 1, 1}, {2, 1, 1});
  EXPECT_TRUE(has(early, HazardKind::uninitialised_read) || has(early, HazardKind::shared_race));
}

TEST_F(ClusterTest, LanesOfOneAccessMayReachSeveralBlocks) {
  // Odd lanes address their own block by its rank, lanes that are multiples of 4 without it.
  const std::string body = R"(
    and.b32 %r13, %r1, 1;
    setp.eq.u32 %p2, %r13, 1;
    and.b32 %r13, %r1, 3;
    setp.eq.u32 %p3, %r13, 0;
    mapa.u64 %rd6, %rd4, %r2;
    selp.b64 %rd5, %rd6, %rd5, %p2;
    selp.b64 %rd5, %rd4, %rd5, %p3;
    ld.u32 %r12, [%rd5];
    st.global.u32 [%rd2], %r12;
    )";
  expect_none(run_body(exchange_body + cluster_sync + generic_place + body + cluster_sync,
                       {2, 1, 1}, {2, 1, 1}));
  for (std::uint32_t i = 0; i < 64; ++i) {
    EXPECT_EQ(results(64)[i], i % 4 == 2 ? i ^ 32 : i) << i;
  }
}

TEST_F(ClusterTest, AtomicsInOtherBlocksDoNotRace) {
  const std::string clear = "mov.u32 %r12, 0;\nst.shared.u32 [%r9], %r12;\n" + cluster_sync;
  const std::string generic = generic_place + "atom.add.u32 %r12, [%rd5], 1;\n";
  const std::string own = "atom.shared.add.u32 %r12, [%r9], 10;\n";
  const std::string window = R"(
    mapa.shared::cluster.u32 %r11, %r9, %r10;
    red.shared::cluster.add.u32 [%r11], 100;
    )";
  const std::string read = "ld.shared.u32 %r12, [%r9];\nst.global.u32 [%rd2], %r12;\n";
  expect_none(run_body(clear + generic + own + window + cluster_sync + read, {2, 1, 1}, {2, 1, 1}));
  for (const std::uint32_t sum : results(64)) EXPECT_EQ(sum, 111u);
  found(run_body(clear + generic + read + cluster_sync, {2, 1, 1}, {2, 1, 1}),
        HazardKind::shared_race);
}

TEST_F(ClusterTest, WordsBesideOneAnotherDoNotRace) {
  // Each block writes the even words of the other block and its own odd words.
  const std::string write = R"(
    and.b32 %r13, %r1, 1;
    setp.eq.u32 %p2, %r13, 1;
    @%p2 st.shared.u32 [%r9], %r6;
    @!%p2 st.u32 [%rd5], %r6;
    )";
  const std::string read = "ld.shared.u32 %r12, [%r9];\nst.global.u32 [%rd2], %r12;\n";
  expect_none(run_body(generic_place + cluster_sync + write + write + cluster_sync + read,
                       {2, 1, 1}, {2, 1, 1}));
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(results(64)[i], i % 2 == 0 ? i ^ 32 : i);
}

TEST_F(ClusterTest, BarrierThatNobodyCompletes) {
  const std::string half = R"(
    setp.ne.u32 %p2, %r2, 0;
    @%p2 bra OTHER;
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
    OTHER: mbarrier.init.shared.b64 [bar], 1;
    )" + wait_for("bar", "0", "0");
  const LaunchReport report = run_body("@!%p1 ret;" + half, {2, 1, 1}, {2, 1, 1});
  EXPECT_EQ(report.fault, HazardKind::deadlock);
  bool cluster = false, barrier = false;
  for (const Hazard& hazard : report.hazards) {
    cluster = cluster ||
              hazard.message.find("the cluster's barrier waits for 1 more") != std::string::npos;
    barrier = barrier || hazard.message.find("mbarrier bar + 0, phase 0") != std::string::npos;
  }
  EXPECT_TRUE(cluster);
  EXPECT_TRUE(barrier);
}

// The barrier waits for every block, although 31 of 32 threads exit as soon as they have arrived.
TEST_F(ClusterTest, ThreadsThatArriveAndExit) {
  expect_none(run_body(R"(
      @%p1 st.shared.u32 [%r7], %r6;
      barrier.cluster.arrive.release.aligned;
      @!%p1 bra END;
      barrier.cluster.wait.acquire;
      mapa.shared::cluster.u32 %r10, %r7, 3;
      ld.shared::cluster.u32 %r11, [%r10];
      st.global.u32 [%rd2], %r11;
      barrier.cluster.arrive.release;
      barrier.cluster.wait.acquire;
      END:)",
                       {4, 1, 1}, {4, 1, 1}));
  for (std::size_t block = 0; block < 4; ++block) EXPECT_EQ(results(4 * 32)[block * 32], 96u);
}

TEST_F(ClusterTest, EachWaitNeedsAnArrival) {
  for (const std::uint32_t blocks : {1u, 2u}) {
    const auto run_barriers = [&](const std::string& body) {
      return run_body(body, {2, 1, 1}, {blocks, 1, 1});
    };
    expect_none(run_barriers(cluster_sync + cluster_sync));
    EXPECT_EQ(run_barriers("barrier.cluster.wait.aligned;\n").fault, HazardKind::deadlock);
    EXPECT_EQ(run_barriers(cluster_sync + "barrier.cluster.wait.aligned;\n").fault,
              HazardKind::deadlock);
    // Lanes may arrive and wait separately.
    expect_none(
        run_barriers("@%p1 barrier.cluster.arrive;\n@!%p1 barrier.cluster.arrive;\n"
                     "@!%p1 barrier.cluster.wait;\n@%p1 barrier.cluster.wait;\n"));
  }
}

TEST_F(ClusterTest, OneArrivalInAPhase) {
  const LaunchReport report =
      run_body("barrier.cluster.arrive.aligned;\n" + cluster_sync, {2, 1, 1}, {2, 1, 1});
  EXPECT_EQ(report.fault, HazardKind::barrier_misuse);
}

TEST_F(ClusterTest, ArrivesAtAnothersBarrier) {
  // Rank 1 signals rank 0 that its data are written, and rank 0 reads them.
  const std::string body = R"(
    @%p1 mbarrier.init.shared.b64 [bar], 1;
    fence.mbarrier_init.release.cluster;
    )" + cluster_sync + exchange_body +
                           R"(
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra WAITS;
    bar.warp.sync -1;
    mov.u32 %r13, bar;
    mapa.shared::cluster.u32 %r14, %r13, 0;
    @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r14];
    bra END;
    WAITS: )" + wait_for("bar", "0", "0") +
                           read_other + "END:\n" + cluster_sync;
  expect_none(run_body(body, {2, 1, 1}, {2, 1, 1}));
  const auto result = results(32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(result[i], i + 32);
}

TEST_F(ClusterTest, InitialisedBarriersAreKnownBehindARelaxedArrival) {
  const auto use_others = [](const std::string& sync) {
    return "@%p1 mbarrier.init.shared.b64 [bar], 1;\n" + sync + R"(
      xor.b32 %r10, %r2, 1;
      mov.u32 %r13, bar;
      mapa.shared::cluster.u32 %r14, %r13, %r10;
      @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r14];
      )" + wait_for("bar", "0", "0") +
           cluster_sync;
  };
  const std::string fence = "fence.mbarrier_init.release.cluster;\n";
  const std::string relaxed =
      "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n";
  expect_none(run_body(use_others(fence + relaxed), {2, 1, 1}, {2, 1, 1}));
  const Hazard race =
      found(run_body(use_others(relaxed), {2, 1, 1}, {2, 1, 1}), HazardKind::shared_race);
  EXPECT_NE(race.first.block[0], race.other.block[0]) << race.message;
  // The fence covers only operations before it, and only one arrival.
  found(run_body(fence + use_others(relaxed), {2, 1, 1}, {2, 1, 1}), HazardKind::shared_race);
  found(run_body(fence + relaxed + use_others(relaxed), {2, 1, 1}, {2, 1, 1}),
        HazardKind::shared_race);
}

std::string multicast(const std::string& mask) {
  return R"(
    @%p1 mbarrier.init.shared.b64 [bar], 1;
    fence.mbarrier_init.release.cluster;
    )" + cluster_sync +
         R"(
    @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
    setp.eq.and.u32 %p2, %r2, 0, %p1;
    mov.b16 %h1, )" +
         mask + R"(;
    @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r7], [%rd3], 128, [bar], %h1;
    )" + wait_for("bar", "0", "0") +
         R"(
    ld.shared.u32 %r12, [%r9];
    st.global.u32 [%rd2], %r12;
    )" + cluster_sync;
}

TEST_F(ClusterTest, CopiesFromBlockToBlock) {
  // Rank 1 sends its data to rank 0, by generic addresses. Rank 0's barrier counts the bytes.
  const std::string body = R"(
    mov.u64 %rd10, bar;
    cvta.shared.u64 %rd10, %rd10;
    @%p1 mbarrier.init.b64 [%rd10], 1;
    fence.mbarrier_init.release.cluster;
    st.shared.u32 [%r9], %r6;
    fence.proxy.async.shared::cta;
    )" + cluster_sync + R"(
    setp.eq.u32 %p2, %r2, 0;
    @%p2 bra WAITS;
    mov.u32 %r13, bar;
    mapa.shared::cluster.u32 %r14, %r13, 0;
    mapa.shared::cluster.u32 %r15, %r7, 0;
    add.u32 %r15, %r15, 512;
    @%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r15], [%r7], 128, [%r14];
    bra END;
    WAITS:
    @%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 128;
    @%p1 mbarrier.arrive.b64 %rd11, [%rd10];
    )" + wait_for("bar", "0", "0") +
                           R"(
    ld.shared.u32 %r12, [%r9+512];
    st.global.u32 [%rd2], %r12;
    END:
    )" + cluster_sync;
  const LaunchReport report = run_body(body, {2, 1, 1}, {2, 1, 1});
  expect_none(report);
  EXPECT_EQ(report.counters.bulk_loads, 1u);
  EXPECT_EQ(report.counters.bulk_load_bytes + report.counters.bulk_load_sectors, 0u) << "of global";
  EXPECT_EQ(report.counters.bulk_shared_load_bytes, 128u);
  EXPECT_EQ(report.counters.bulk_shared_store_bytes, 128u);
  const auto result = results(32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(result[i], i + 32);
  // Without the first barrier of the cluster, rank 0 might not have initialised the mbarrier yet.
  std::string early = body;
  early.erase(early.find(cluster_sync), cluster_sync.size());
  const Hazard race = found(run_body(early, {2, 1, 1}, {2, 1, 1}), HazardKind::shared_race);
  EXPECT_NE(race.address.find("bar + 0 of block 0"), std::string::npos) << race.message;
}

TEST_F(ClusterTest, MulticastToAll) {
  std::vector<std::uint32_t> numbers(32);
  std::iota(numbers.begin(), numbers.end(), 7u);
  const std::uint64_t x = array(numbers);
  const LaunchReport report = run_body(multicast("3"), {2, 1, 1}, {2, 1, 1}, x);
  expect_none(report);
  EXPECT_EQ(report.counters.bulk_loads, 1u);
  EXPECT_EQ(report.counters.bulk_load_bytes, 128u) << "read once";
  EXPECT_EQ(report.counters.bulk_load_sectors, 4u);
  EXPECT_EQ(report.counters.bulk_shared_store_bytes, 2u * 128) << "written twice";
  const auto result = results(64);
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(result[i], i % 32 + 7);
  // Multicast to only one block: the other waits forever.
  EXPECT_EQ(run_body(multicast("1"), {2, 1, 1}, {2, 1, 1}, x).fault, HazardKind::deadlock);
}

TEST_F(ClusterTest, RequiredByTheKernel) {
  const std::string text =
      ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param "
      ".u64 out) .reqnctapercluster 2\n{\n.reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
      "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %cluster_nctarank;\n"
      "st.global.u32 [%rd1], %r1;\nret;\n}\n";
  const std::uint64_t y = memory.allocate(4);
  run(text, {2, 1, 1}, {1, 1, 1}, {y});
  EXPECT_EQ(values<std::uint32_t>(y, 1)[0], 2u);
  EXPECT_THROW(run(text, {3, 1, 1}, {1, 1, 1}, {y}), std::invalid_argument);
}

TEST_F(ClusterTest, RegistersOfWarpgroups) {
  const auto with = [&](const std::string& counts) {
    return run(entry("", registers() + "mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 128;\n" +
                             counts + "ret;"),
               {1, 1, 1}, {384, 1, 1}, {});
  };
  expect_none(
      with("@%p1 setmaxnreg.dec.sync.aligned.u32 40;\n@!%p1 setmaxnreg.inc.sync.aligned.u32 "
           "232;\n"));
  found(with("@!%p1 setmaxnreg.inc.sync.aligned.u32 232;\n"), HazardKind::deadlock);
  const LaunchReport parted =
      with("setp.lt.u32 %p2, %r1, 96;\n@%p2 setmaxnreg.dec.sync.aligned.u32 40;\n");
  const Hazard hazard = found(parted, HazardKind::bad_participant);
  EXPECT_TRUE(hazard.message.ends_with(
      "warp 3 of its warpgroup does not execute the same setmaxnreg as warp 0"))
      << hazard.message;
  EXPECT_THROW(with("setmaxnreg.inc.sync.aligned.u32 100;\n"), std::invalid_argument);
  const auto direction = [&](const std::string& first, const std::string& second) {
    return with("@!%p1 setmaxnreg." + first + ";\n@!%p1 setmaxnreg." + second + ";\n");
  };
  const std::string dec = "dec.sync.aligned.u32 ", inc = "inc.sync.aligned.u32 ";
  expect_none(direction(dec + "40", inc + "96"));
  expect_none(direction(dec + "40", dec + "40"));
  // 384 threads have at most 168 registers each.
  EXPECT_TRUE(found(direction(dec + "168", inc + "40"), HazardKind::bad_participant)
                  .message.ends_with("40 registers are fewer than the 168 that the warp has: use "
                                     "setmaxnreg.dec"));
  EXPECT_TRUE(found(direction(dec + "40", dec + "96"), HazardKind::bad_participant)
                  .message.ends_with("96 registers are more than the 40 that the warp has: use "
                                     "setmaxnreg.inc"));
  EXPECT_TRUE(
      found(direction(dec + "176", dec + "24"), HazardKind::bad_participant)
          .message.ends_with("176 registers are more than the at most 168 that the warp has: "
                             "use setmaxnreg.inc"));
}

}  // namespace
}  // namespace rung::vgpu
