// Each kind of hazard is reported where it occurs, and only there.

#include "vgpu/tests/launch_fixture.hpp"

namespace rung::vgpu {
namespace {

class HazardsTest : public LaunchTest {};

/// Thread t writes s[t], then `between`, then reads s[t ^ partner].
std::string exchange(const std::string& between, int partner, const std::string& after = {}) {
  return entry("", R"(
    .shared .align 4 .b8 s[512];
    .reg .b32 %r<12>; .reg .pred %p<4>;
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.u32 %r3, s;
    add.s32 %r4, %r3, %r2;
    st.shared.u32 [%r4], %r1;
    )" + between + R"(
    xor.b32 %r5, %r1, )" +
                       std::to_string(partner) + R"(;
    shl.b32 %r6, %r5, 2;
    add.s32 %r7, %r3, %r6;
    ld.shared.u32 %r8, [%r7];
    )" + after + R"(
    ret;)");
}

TEST_F(HazardsTest, ExchangeBetweenWarpsNeedsABarrier) {
  // The first warp reads data that the second has not yet written, which is another hazard.
  const LaunchReport bad = run(exchange("", 32), {1, 1, 1}, {128, 1, 1}, {});
  const Hazard hazard = found(bad, HazardKind::shared_race);
  EXPECT_TRUE(hazard.has_other);
  EXPECT_EQ(hazard.first.access, "write");
  EXPECT_EQ(hazard.other.access, "read");
  EXPECT_EQ(hazard.first.thread[0] ^ 32u, hazard.other.thread[0]);
  EXPECT_EQ(hazard.address.rfind("s + ", 0), 0u) << hazard.address;
  expect_none(run(exchange("bar.sync 0;", 32), {1, 1, 1}, {128, 1, 1}, {}));
}

TEST_F(HazardsTest, ExchangeInsideAWarpNeedsSyncwarp) {
  expect_only(run(exchange("", 1), {1, 1, 1}, {32, 1, 1}, {}), HazardKind::shared_race);
  expect_none(run(exchange("bar.warp.sync -1;", 1), {1, 1, 1}, {32, 1, 1}, {}));
  // It does not order other warps.
  EXPECT_FALSE(run(exchange("bar.warp.sync -1;", 32), {1, 1, 1}, {64, 1, 1}, {}).hazards.empty());
}

TEST_F(HazardsTest, NamedBarriersOrderThoseThatCome) {
  // Warps 0 and 1 synchronize at barrier 1, warps 2 and 3 at barrier 2.
  const std::string pairs = R"(
    shr.u32 %r9, %r1, 6;
    add.s32 %r9, %r9, 1;
    barrier.sync %r9, 64;)";
  expect_none(run(exchange(pairs, 32), {1, 1, 1}, {128, 1, 1}, {}));
  found(run(exchange(pairs, 64), {1, 1, 1}, {128, 1, 1}, {}), HazardKind::shared_race);
}

TEST_F(HazardsTest, NamedBarriersDoNotOrderThoseThatExited) {
  // The second warp, alone at its barrier, reads data written by the first one.
  const std::string alone = R"(
    setp.lt.u32 %p1, %r1, 32;
    @%p1 ret;
    )";
  found(run(exchange(alone + "barrier.sync 1, 32;", 32), {1, 1, 1}, {64, 1, 1}, {}),
        HazardKind::shared_race);
  expect_none(run(exchange(alone + "bar.sync 0;", 32), {1, 1, 1}, {64, 1, 1}, {}));
}

TEST_F(HazardsTest, ArrivalsOrderWhatCameBeforeThem) {
  // The first warp writes and arrives, in the order of `first`; the second waits and reads.
  const auto body = [](const std::string& first) {
    return entry("", R"(
      .shared .align 4 .b8 s[128];
      .reg .b32 %r<8>; .reg .pred %p<2>;
      mov.u32 %r1, %tid.x;
      and.b32 %r2, %r1, 31;
      shl.b32 %r2, %r2, 2;
      mov.u32 %r3, s;
      add.s32 %r4, %r3, %r2;
      setp.lt.u32 %p1, %r1, 32;
      @!%p1 bra SECOND;
      )" + first + R"(
      bra END;
      SECOND: barrier.sync 1, 64;
      ld.shared.u32 %r5, [%r4];
      END: ret;)");
  };
  const std::string write = "st.shared.u32 [%r4], %r1;\n", arrive = "barrier.arrive 1, 64;\n";
  expect_none(run(body(write + arrive), {1, 1, 1}, {64, 1, 1}, {}));
  found(run(body(arrive + write), {1, 1, 1}, {64, 1, 1}, {}), HazardKind::shared_race);
}

TEST_F(HazardsTest, ReadBeforeAnotherThreadsNextWrite) {
  const std::string overwrite = "st.shared.u32 [%r4], %r8;";
  expect_only(run(exchange("bar.sync 0;", 32, overwrite), {1, 1, 1}, {64, 1, 1}, {}),
              HazardKind::shared_race);
  expect_none(
      run(exchange("bar.sync 0;", 32, "bar.sync 0;" + overwrite), {1, 1, 1}, {64, 1, 1}, {}));
}

TEST_F(HazardsTest, AnAtomicDoesNotHideThePlainStoreBeforeIt) {
  // Thread 0 clears the sum, then every thread adds to it, thread 0 first.
  const auto sum = [](const std::string& between) {
    return entry("", R"(
      .shared .align 4 .b8 s[4];
      .reg .b32 %r<4>; .reg .pred %p<2>;
      mov.u32 %r1, %tid.x;
      setp.ne.u32 %p1, %r1, 0;
      @!%p1 st.shared.u32 [s], 0;
      )" + between + R"(
      atom.shared.add.u32 %r2, [s], 1;
      bar.sync 0;
      atom.shared.add.u32 %r3, [s], 1;
      ret;)");
  };
  for (const std::uint32_t threads : {32u, 64u}) {
    const LaunchReport bad = run(sum(""), {1, 1, 1}, {threads, 1, 1}, {});
    expect_only(bad, HazardKind::shared_race);
    const Hazard hazard = found(bad, HazardKind::shared_race);
    EXPECT_EQ(hazard.first.access, "atomic");
    EXPECT_NE(hazard.first.thread[0], 0u);
    EXPECT_EQ(hazard.other.access, "write");
    EXPECT_EQ(hazard.other.thread[0], 0u);
    expect_none(run(sum("bar.sync 0;"), {1, 1, 1}, {threads, 1, 1}, {}));
  }
}

TEST_F(HazardsTest, AnAtomicDoesNotHideThePlainStoreToGlobalMemoryBeforeIt) {
  // The first thread of block 0 clears the sum, and adds to it before the others do.
  const auto sum = [](const std::string& between) {
    return entry(".param .u64 p", R"(
      .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p<2>;
      ld.param.u64 %rd1, [p];
      mov.u32 %r1, %tid.x;
      mov.u32 %r2, %ctaid.x;
      or.b32 %r1, %r1, %r2;
      setp.ne.u32 %p1, %r1, 0;
      @!%p1 st.global.u32 [%rd1], 0;
      )" + between + R"(
      atom.global.add.u32 %r3, [%rd1], 1;
      ret;)");
  };
  const std::uint64_t word = array<std::uint32_t>({0});
  for (const auto& [blocks, threads] : {std::pair{1u, 64u}, std::pair{2u, 1u}}) {
    const LaunchReport bad = run(sum(""), {blocks, 1, 1}, {threads, 1, 1}, {word});
    expect_only(bad, HazardKind::global_race);
  }
  expect_none(run(sum("bar.sync 0;"), {1, 1, 1}, {64, 1, 1}, {word}));
}

TEST_F(HazardsTest, UninitialisedSharedMemory) {
  const std::string text = entry("", R"(
    .shared .align 4 .b8 s[512];
    .reg .b32 %r<4>;
    .reg .pred %p<2>;
    ld.shared.u32 %r1, [s+64];
    setp.eq.u32 %p1, %r1, 0;
    @%p1 exit;
    ret;)");
  expect_only(run(text, {1, 1, 1}, {1, 1, 1}, {}), HazardKind::uninitialised_read);
}

TEST_F(HazardsTest, OneArrayIntoAnother) {
  // b follows a: the address is inside shared memory, but not inside the array from which it was
  // computed.
  const std::string text = entry("", R"(
    .shared .align 4 .b8 a[128];
    .shared .align 4 .b8 b[128];
    .reg .b32 %r<4>;
    mov.u32 %r1, a;
    st.shared.u32 [b], %r1;
    st.shared.u32 [%r1+128], %r1;
    ret;)");
  const LaunchReport report = run(text, {1, 1, 1}, {1, 1, 1}, {});
  expect_only(report, HazardKind::out_of_bounds);
  EXPECT_EQ(report.hazards.front().address, "a + 128");
}

std::string global_store(int offset, const std::string& op = "st.global.u32") {
  return entry(".param .u64 p", R"(
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, 7;
    )" + op + " [%rd1+" + std::to_string(offset) +
                                    R"(], %r1;
    ret;)");
}

TEST_F(HazardsTest, PastTheEndOfAnAllocation) {
  const std::uint64_t p = memory.allocate(64);
  expect_none(run(global_store(60), {1, 1, 1}, {1, 1, 1}, {p}));
  const LaunchReport report = run(global_store(64), {1, 1, 1}, {1, 1, 1}, {p});
  expect_only(report, HazardKind::out_of_bounds);
  EXPECT_EQ(report.fault, HazardKind::out_of_bounds);
}

TEST_F(HazardsTest, Misaligned) {
  const std::uint64_t p = memory.allocate(64);
  expect_only(run(global_store(2), {1, 1, 1}, {1, 1, 1}, {p}), HazardKind::misaligned);
}

TEST_F(HazardsTest, VectorsWithAlignedElementsAreFaultsUnlessMetals) {
  const auto store = [](const std::string& vector) {
    return entry(".param .u64 p", R"(
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, 7;
    st.global)" + vector + R"(.v2.u32 [%rd1+4], {%r1, %r1};
    ret;)");
  };
  const std::uint64_t p = memory.allocate(64);
  const LaunchReport cuda = run(store(""), {1, 1, 1}, {1, 1, 1}, {p});
  expect_only(cuda, HazardKind::misaligned);
  EXPECT_EQ(cuda.fault, HazardKind::misaligned);
  const LaunchReport metal = run(store(".elements"), {1, 1, 1}, {1, 1, 1}, {p});
  expect_only(metal, HazardKind::unaligned_vector);
  EXPECT_FALSE(metal.fault);
}

TEST_F(HazardsTest, OffsetsMayMakeAnAddressAligned) {
  const std::string text = entry(".param .u64 p", R"(
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    add.s64 %rd2, %rd1, 8;
    mov.u32 %r1, 7;
    st.global.v4.u32 [%rd2+-8], {%r1, %r1, %r1, %r1};
    ret;)");
  expect_none(run(text, {1, 1, 1}, {1, 1, 1}, {memory.allocate(64)}));
}

TEST_F(HazardsTest, BlocksThatWriteOneWord) {
  const std::uint64_t p = memory.allocate(64);
  expect_only(run(global_store(0), {4, 1, 1}, {1, 1, 1}, {p}), HazardKind::same_value);
  expect_none(run(global_store(0, "red.global.add.u32"), {4, 1, 1}, {1, 1, 1}, {array<int>({0})}));
}

TEST_F(HazardsTest, UninitialisedGlobalMemory) {
  const std::string text = entry(".param .u64 p", R"(
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [p];
    ld.global.u32 %r1, [%rd1+4];
    ret;)");
  expect_only(run(text, {1, 1, 1}, {1, 1, 1}, {memory.allocate(64)}),
              HazardKind::uninitialised_read);
  expect_none(run(text, {1, 1, 1}, {1, 1, 1}, {array<int>({1, 2})}));
}

/// Each block writes a word and takes a ticket; the last one reads all words.
std::string last_block(const std::string& fence) {
  return entry(".param .u64 p, .param .u64 ticket", R"(
    .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p<4>;
    ld.param.u64 %rd1, [p];
    ld.param.u64 %rd2, [ticket];
    mov.u32 %r1, %ctaid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    st.global.u32 [%rd4], %r1;
    )" + fence + R"(
    atom.global.add.u32 %r2, [%rd2], 1;
    mov.u32 %r3, %nctaid.x;
    sub.s32 %r3, %r3, 1;
    setp.ne.s32 %p1, %r2, %r3;
    @%p1 bra done;
    mov.u32 %r4, 0;
    mov.u32 %r5, 0;
loop:
    ld.global.u32 %r6, [%rd1];
    add.s32 %r5, %r5, %r6;
    add.s64 %rd1, %rd1, 4;
    add.s32 %r4, %r4, 1;
    setp.le.s32 %p2, %r4, %r3;
    @%p2 bra loop;
    st.global.u32 [%rd2+4], %r5;
done:
    ret;)");
}

TEST_F(HazardsTest, TheLastBlockMayReadWhatWasFenced) {
  const std::uint64_t p = memory.allocate(16 * 4);
  const std::uint64_t good = array<std::uint32_t>({0, 0});
  expect_none(run(last_block("membar.gl;"), {16, 1, 1}, {1, 1, 1}, {p, good}));
  EXPECT_EQ(values<std::uint32_t>(good, 2)[1], 120u);
  const std::uint64_t bad = array<std::uint32_t>({0, 0});
  expect_only(run(last_block(""), {16, 1, 1}, {1, 1, 1}, {p, bad}), HazardKind::global_race);
}

TEST_F(HazardsTest, BarrierInABranch) {
  const std::string text = entry("", R"(
    .reg .b32 %r<4>; .reg .pred %p<2>;
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 16;
    @!%p1 bra rest;
    bar.sync 0;
    bra.uni end;
rest:
    mov.u32 %r2, 1;
    bar.sync 0;
end:
    mov.u32 %r3, 1;
    ret;)");
  expect_only(run(text, {1, 1, 1}, {32, 1, 1}, {}), HazardKind::divergent_barrier);
}

TEST_F(HazardsTest, BarrierThatNobodyCompletes) {
  const std::string text = entry("", R"(
    .reg .b32 %r<4>; .reg .pred %p<2>;
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, 32;
    @%p1 bra end;
    barrier.sync 1, 64;
end:
    ret;)");
  const LaunchReport report = run(text, {1, 1, 1}, {64, 1, 1}, {});
  expect_only(report, HazardKind::deadlock);
}

TEST_F(HazardsTest, LanesThatLeaveEarlyAreNotWaitedFor) {
  const std::string text = entry("", R"(
    .reg .b32 %r<4>; .reg .pred %p<2>;
    mov.u32 %r1, %tid.x;
    setp.ge.u32 %p1, %r1, 40;
    @%p1 bra end;
    mov.u32 %r2, 1;
    bar.sync 0;
    mov.u32 %r3, 1;
end:
    ret;)");
  expect_none(run(text, {1, 1, 1}, {64, 1, 1}, {}));
}

TEST_F(HazardsTest, EndlessLoopEndsAtTheLimit) {
  options.instruction_limit = 1 << 22;
  const std::string text = entry("", "again:\n  bra.uni again;\n");
  const LaunchReport report = run(text, {1, 1, 1}, {32, 1, 1}, {});
  expect_only(report, HazardKind::instruction_limit);
  EXPECT_EQ(report.fault, HazardKind::instruction_limit);
}

TEST_F(HazardsTest, LanesOfAWarpMaySpinOnEachOther) {
  // Lane 1 waits for a write by lane 0 in the other branch.
  const std::string text = entry(".param .u64 p", R"(
    .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .pred %p<4>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %tid.x;
    setp.eq.s32 %p1, %r1, 0;
    @%p1 bra signal;
wait:
    ld.volatile.global.u32 %r2, [%rd1];
    setp.eq.s32 %p2, %r2, 0;
    @%p2 bra wait;
    bra.uni end;
signal:
    mov.u32 %r3, 1;
    st.volatile.global.u32 [%rd1], %r3;
end:
    mov.u32 %r4, 1;
    ret;)");
  const LaunchReport report = run(text, {1, 1, 1}, {2, 1, 1}, {array<int>({0})});
  EXPECT_FALSE(report.fault.has_value());
}

TEST_F(HazardsTest, ABlockMayWaitForALaterOne) {
  options.threads = 1;
  const std::string text = entry(".param .u64 p", R"(
    .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .pred %p<4>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %ctaid.x;
    setp.eq.s32 %p1, %r1, 1;
    @%p1 bra signal;
wait:
    ld.acquire.gpu.global.u32 %r2, [%rd1];
    setp.eq.s32 %p2, %r2, 0;
    @%p2 bra wait;
    bra.uni end;
signal:
    mov.u32 %r3, 1;
    st.release.gpu.global.u32 [%rd1], %r3;
end:
    mov.u32 %r4, 1;
    ret;)");
  expect_none(run(text, {2, 1, 1}, {1, 1, 1}, {array<int>({0})}));
}

TEST_F(HazardsTest, AssertionsAndTraps) {
  expect_only(run(entry("", "  trap;\n  ret;"), {1, 1, 1}, {1, 1, 1}, {}), HazardKind::trap);
}

TEST_F(HazardsTest, ReportsAreTheSameForEveryRun) {
  const auto messages = [&](unsigned threads) {
    options.threads = threads;
    std::vector<std::string> found;
    const LaunchReport report = run(exchange("", 32), {8, 1, 1}, {128, 1, 1}, {});
    for (const Hazard& hazard : report.hazards) found.push_back(hazard.message);
    return found;
  };
  EXPECT_EQ(messages(1), messages(2));
}

}  // namespace
}  // namespace rung::vgpu
