// The order between blocks: releases, acquires, and the barriers that propagate them.

#include "vgpu/tests/async_fixture.hpp"

namespace rung::vgpu {
namespace {

const std::string sync = "bar.sync 0;\n";

/// A message from block to block. In each block, one thread of the first warp handles the flag, and
/// the second warp the data. (Also with the warps exchanged: the order must not depend on the index
/// of a warp.)
struct Message {
  std::string write = "@%p2 st.global.u32 [%rd3], 7;\n";
  std::string before = sync;
  std::string publish = "@%p1 st.release.gpu.global.u32 [%rd1], 1;\n";
  std::string wait = "ld.acquire.gpu.global.u32 %r5, [%rd1];\n";
  std::string after_wait = "";
  std::string after = sync;
  std::string read = "@%p2 ld.global.u32 %r6, [%rd3];\n";
};

class GridOrderTest : public AsyncTest {
 protected:
  /// Runs it with either block, and either warp, first.
  std::vector<LaunchReport> send(const Message& message) {
    std::vector<LaunchReport> reports;
    for (const std::string sender : {"0", "1"}) {
      for (const std::string flag_warp : {"0", "1"}) {
        options.threads = 1;
        const std::uint64_t flag = array<std::uint32_t>({0, 0, 0, 0});
        reports.push_back(run(entry(".param .u64 flag", registers() + R"(
          ld.param.u64 %rd1, [flag];
          add.u64 %rd3, %rd1, 8;
          mov.u32 %r1, %tid.x;
          mov.u32 %r2, %ctaid.x;
          and.b32 %r3, %r1, 31;
          shr.u32 %r4, %r1, 5;
          setp.eq.u32 %p3, %r4, )" + flag_warp + R"(;
          setp.eq.and.u32 %p1, %r3, 0, %p3;
          setp.ne.u32 %p3, %r4, )" + flag_warp + R"(;
          setp.eq.and.u32 %p2, %r3, 0, %p3;
          setp.eq.u32 %p4, %r2, )" + sender + R"(;
          @!%p4 bra RECEIVE;
          )" + message.write + message.before + message.publish +
                                                            R"(
          bra END;
          RECEIVE: @!%p1 bra CAME;
          AGAIN: )" + message.wait + R"(
          setp.eq.u32 %p5, %r5, 0;
          @%p5 bra AGAIN;
          )" + message.after_wait + R"(
          CAME:
          )" + message.after + message.read + "END: ret;"),
                              {2, 1, 1}, {64, 1, 1}, {flag}));
      }
    }
    return reports;
  }
  void expect_ordered(const Message& message) {
    SCOPED_TRACE(message.before + message.publish + message.wait + message.after_wait);
    for (const LaunchReport& report : send(message)) expect_none(report);
  }
  void expect_race(const Message& message) {
    SCOPED_TRACE(message.before + message.publish + message.wait + message.after_wait);
    for (const LaunchReport& report : send(message)) {
      const Hazard hazard = found(report, HazardKind::global_race);
      EXPECT_EQ(hazard.first.block[0] + hazard.other.block[0], 1u) << "between the blocks";
    }
  }
};

TEST_F(GridOrderTest, ReleasesShowWhatCameBefore) {
  expect_ordered({});
  for (const std::string publish : {"red.release.gpu.global.add.u32 [%rd1], 1;",
                                    "atom.acq_rel.gpu.global.add.u32 %r7, [%rd1], 1;",
                                    "st.release.sys.global.u32 [%rd1], 1;"}) {
    expect_ordered({.publish = "@%p1 " + publish});
  }
  for (const std::string publish :
       {"st.relaxed.gpu.global.u32 [%rd1], 1;", "st.volatile.global.u32 [%rd1], 1;",
        "red.relaxed.gpu.global.add.u32 [%rd1], 1;",
        "atom.acquire.gpu.global.add.u32 %r7, [%rd1], 1;", "atom.global.add.u32 %r7, [%rd1], 1;"}) {
    // The acquire of the wait alone does not make it a release.
    expect_race({.publish = "@%p1 " + publish});
    expect_ordered({.publish = "@%p1 fence.acq_rel.gpu;\n@%p1 " + publish});
    expect_ordered({.publish = "@%p1 membar.gl;\n@%p1 " + publish});
    expect_race({.publish = "@%p1 fence.acq_rel.cta;\n@%p1 " + publish});
  }
}

TEST_F(GridOrderTest, ReleasesShowNothingThatComesLater) {
  const std::string write = Message{}.write, publish = Message{}.publish;
  const std::string by_one = "@%p1 st.global.u32 [%rd3], 7;\n";
  expect_race({.write = "", .before = "", .publish = publish + sync + write});
  expect_race({.write = "", .before = "", .publish = publish + by_one});
  expect_race({.write = "@%p1 membar.gl;\n" + by_one,
               .before = "",
               .publish = "@%p1 st.relaxed.gpu.global.u32 [%rd1], 1;\n"});
}

TEST_F(GridOrderTest, OfOtherWarpsWhatABarrierOrders) {
  expect_race({.before = ""});
  // A fence by each thread, and a write by a thread that has synchronized with them.
  expect_ordered(
      {.before = "membar.gl;\n" + sync, .publish = "@%p1 st.relaxed.gpu.global.u32 [%rd1], 1;\n"});
  expect_race({.before = sync + "@%p2 membar.gl;\n",
               .publish = "@%p1 st.relaxed.gpu.global.u32 [%rd1], 1;\n"});
}

TEST_F(GridOrderTest, ReadsThatAcquire) {
  for (const std::string wait :
       {"ld.acquire.gpu.global.u32 %r5, [%rd1];", "ld.volatile.global.u32 %r5, [%rd1];",
        "atom.acquire.gpu.global.add.u32 %r5, [%rd1], 0;", "atom.global.add.u32 %r5, [%rd1], 0;"}) {
    expect_ordered({.wait = wait});
  }
  for (const std::string wait : {"ld.relaxed.gpu.global.u32 %r5, [%rd1];",
                                 "atom.relaxed.gpu.global.add.u32 %r5, [%rd1], 0;"}) {
    expect_race({.wait = wait});
    expect_ordered({.wait = wait, .after_wait = "fence.acq_rel.gpu;\n"});
    expect_race({.wait = "fence.acq_rel.gpu;\n" + wait});
  }
}

TEST_F(GridOrderTest, BarriersHandAcquiresOn) {
  expect_race({.after = ""});
  // A lane of the warp that has acquired, and a lane that has synchronized with it.
  const std::string neighbour = "setp.eq.and.u32 %p6, %r3, 1, !%p3;\n";
  const std::string read = "@%p6 ld.global.u32 %r6, [%rd3];\n";
  expect_race({.after = neighbour, .read = read});
  expect_ordered({.after = neighbour + "bar.warp.sync -1;\n", .read = read});
}

TEST_F(GridOrderTest, WhoHasAcquiredMayResetTheFlag) {
  const std::string reset = "@%p1 st.global.u32 [%rd1], 0;\n";
  expect_ordered({.after = reset + sync});
  expect_ordered({.publish = "@%p1 membar.gl;\n@%p1 st.relaxed.gpu.global.u32 [%rd1], 1;\n",
                  .after = reset + sync});
  expect_race({.wait = "ld.relaxed.gpu.global.u32 %r5, [%rd1];\n", .after = reset + sync});
}

// The first block has read the row, so its writes are recorded as one for the whole row. The second
// block's lanes access separate granules.
TEST_F(GridOrderTest, ARowThatIsReadInAnotherOrder) {
  const std::string text = entry(".param .u64 row", registers() + R"(
    ld.param.u64 %rd1, [row];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    setp.ne.u32 %p1, %r2, 0;
    mov.u32 %r3, %r1;
    @%p1 mul.lo.u32 %r3, %r1, 5;
    and.b32 %r3, %r3, 31;
    mul.wide.u32 %rd2, %r3, 4;
    add.u64 %rd3, %rd1, %rd2;
    ld.global.u32 %r4, [%rd3];
    @%p1 bra END;
    st.global.u32 [%rd3], %r1;
    END: ret;)");
  options.threads = 1;
  const std::uint64_t row = array(std::vector<std::uint32_t>(32));
  const Hazard hazard = found(run(text, {2, 1, 1}, {32, 1, 1}, {row}), HazardKind::global_race);
  EXPECT_EQ(hazard.first.access, "read");
  EXPECT_EQ(hazard.other.access, "write");
}

TEST_F(GridOrderTest, BlocksAtTheSameTime) {
  // Two blocks, each on its own thread, alternate in adding 1 to a word. Whatever happens between
  // polling the flag and using the result, the kernel has no race. (A block that polls for long
  // lets its thread start the other block, so both count first until each thread has a block.)
  constexpr std::uint32_t turns = 400;
  const std::string text = entry(".param .u64 flag, .param .u64 turns", registers() + R"(
    ld.param.u64 %rd1, [flag];
    ld.param.u32 %r1, [turns];
    mov.u32 %r6, 0;
    COUNT: add.u32 %r6, %r6, 1;
    setp.lt.u32 %p1, %r6, 100000;
    @%p1 bra COUNT;
    mov.u32 %r2, %ctaid.x;
    NEXT: ld.acquire.gpu.global.u32 %r3, [%rd1];
    setp.ne.u32 %p1, %r3, %r2;
    @%p1 bra NEXT;
    ld.global.u32 %r4, [%rd1+8];
    add.u32 %r4, %r4, 1;
    st.global.u32 [%rd1+8], %r4;
    add.u32 %r5, %r2, 1;
    st.release.gpu.global.u32 [%rd1], %r5;
    add.u32 %r2, %r2, 2;
    setp.lt.u32 %p1, %r2, %r1;
    @%p1 bra NEXT;
    ret;)");
  options.threads = 2;
  const std::uint64_t flag = array<std::uint32_t>({0, 0, 0, 0});
  expect_none(run(text, {2, 1, 1}, {1, 1, 1}, {flag, turns}));
  EXPECT_EQ(values<std::uint32_t>(flag, 4)[2], turns);
}

/// Atomics of .cta scope are atomic for threads of one block (PTX ISA, 8.5).
TEST_F(GridOrderTest, AtomicsOfBlockScopeAreForOneBlock) {
  options.threads = 1;
  const auto run_blocks = [&](const std::string& instruction, unsigned blocks) {
    return run(entry(".param .u64 sum",
                     registers() + "ld.param.u64 %rd1, [sum];\n" + instruction + "\nret;"),
               {blocks, 1, 1}, {64, 1, 1}, {array<std::uint32_t>({0, 0, 0, 0})});
  };
  for (const std::string instruction :
       {"red.relaxed.cta.global.add.u32 [%rd1], 1;", "atom.cta.global.add.u32 %r7, [%rd1], 1;",
        "red.relaxed.cta.add.u32 [%rd1], 1;"}) {
    SCOPED_TRACE(instruction);
    expect_none(run_blocks(instruction, 1));
    found(run_blocks(instruction, 2), HazardKind::global_race);
  }
  expect_none(run_blocks("red.relaxed.gpu.global.add.u32 [%rd1], 1;", 2));
  expect_race({.wait = "ld.acquire.cta.global.u32 %r5, [%rd1];\n"});
}

/// Non-coherent loads must read what no thread of the launch writes, not even the same thread.
TEST_F(GridOrderTest, ReadOnlyLoadsComeBeforeNoWrite) {
  options.threads = 1;
  const auto run_lines = [&](const std::string& body) {
    return run(entry(".param .u64 words", registers() + R"(
      ld.param.u64 %rd1, [words];
      mov.u32 %r1, %tid.x;
      mul.wide.u32 %rd2, %r1, 4;
      add.u64 %rd1, %rd1, %rd2;
      )" + body + "\nret;"),
               {1, 1, 1}, {64, 1, 1}, {array(std::vector<std::uint32_t>(128, 1))});
  };
  const std::string write = "st.global.u32 [%rd1], 7;\nbar.sync 0;\n";
  const std::string read = "ld.global.nc.u32 %r6, [%rd1];\n";
  expect_none(run_lines(read + write));
  expect_none(run_lines(write + "ld.global.u32 %r6, [%rd1];\n"));
  expect_none(run_lines(write + "ld.global.nc.u32 %r6, [%rd1+256];\n"));
  const Hazard hazard = found(run_lines(write + read), HazardKind::global_race);
  EXPECT_NE(hazard.message.find("read-only load"), std::string::npos) << hazard.message;
}

}  // namespace
}  // namespace rung::vgpu
