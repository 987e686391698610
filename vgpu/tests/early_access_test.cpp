// A launch that may start before the previous one has ended, and accesses global memory before it
// waits for that (griddepcontrol; PTX ISA, 9.7.13.13).

#include "vgpu/tests/async_fixture.hpp"

namespace rung::vgpu {
namespace {

const std::string wait = "griddepcontrol.wait;\n";

class EarlyAccessTest : public AsyncTest {
 protected:
  void SetUp() override {
    options.starts_early = true;
    x = array(std::vector<std::uint32_t>(4096, 1u));
    box = map(x, TensorElement::f32, 32, 32, 128, 32, 4);
  }
  /// Runs blocks of two warps. %rd2: address of word t of x; %r3: address of word t of `data`; %p1:
  /// thread 0.
  LaunchReport run_body(const std::string& body, std::uint32_t blocks = 1) {
    options.cluster = {blocks, 1, 1};
    std::string text = entry(".param .u64 x, .param .u64 box", R"(
      .shared .align 1024 .b8 data[1024];
      .shared .align 8 .b8 bar[8];
      .local .align 4 .b8 own[4];)" + registers() + R"(
      ld.param.u64 %rd1, [x];
      ld.param.u64 %rd3, [box];
      mov.u32 %r1, %tid.x;
      mul.wide.u32 %rd2, %r1, 4;
      add.u64 %rd2, %rd1, %rd2;
      shl.b32 %r2, %r1, 2;
      mov.u32 %r3, data;
      add.u32 %r3, %r3, %r2;
      setp.eq.u32 %p1, %r1, 0;
      )" + body + "\nret;",
                             ".const .align 4 .u32 table[1] = {7};");
    text.replace(text.find("sm_80"), 5, "sm_90");
    return run(text, {blocks, 1, 1}, {64, 1, 1}, {x, box});
  }
  /// Expects exactly this hazard.
  void expect_early(const std::string& body, const std::string& access, std::uint32_t blocks = 1) {
    const Hazard hazard = found(run_body(body, blocks), HazardKind::early_access);
    EXPECT_EQ(hazard.first.access, access) << body;
  }
  void expect_clean(const std::string& body, std::uint32_t blocks = 1) {
    SCOPED_TRACE(body);
    expect_none(run_body(body, blocks));
  }

  std::uint64_t x = 0, box = 0;
};

const std::string ready = R"(
  @%p1 mbarrier.init.shared.b64 [bar], 1;
  fence.mbarrier_init.release.cluster;
  bar.sync 0;
  )";

struct Case {
  // An access to global memory, and the code that it needs around it.
  std::string before, access, after;
  std::string name = "read";
};

std::vector<Case> accesses() {
  const std::string expect = ready + "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], ";
  const std::string landed = wait_for("bar", "0", "0");
  const std::string filled =
      "st.shared.u32 [%r3], %r1;\nst.shared.u32 [%r3+256], %r1;\nfence.proxy.async;\nbar.sync 0;\n";
  const std::string stored = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";
  return {
      {"", "ld.global.u32 %r4, [%rd2];", ""},
      {"", "ld.global.nc.v2.u32 {%r4, %r5}, [%rd1];", ""},
      {"", "ld.acquire.gpu.global.u32 %r4, [%rd1];", ""},
      {"", "ld.u32 %r4, [%rd2];", ""},
      {"", "@%p1 ld.global.u32 %r4, [%rd2];", ""},
      {"", "st.global.u32 [%rd2], %r1;", "", "write"},
      {"", "atom.global.add.u32 %r4, [%rd1], 1;", "", "atomic"},
      {"", "red.global.add.u32 [%rd1], 1;", "", "atomic"},
      {"", "cp.async.ca.shared.global [%r3], [%rd2], 4;", "cp.async.wait_all;"},
      {expect + "256;\n",
       "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [data], [%rd1], "
       "256, [bar];",
       landed, "bulk copy"},
      {expect + "512;\nmov.u32 %r6, 0;\n",
       "@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
       "[data], [%rd3, {%r6, %r6}], [bar];",
       landed, "bulk copy"},
      {filled, "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [data], 256;", stored,
       "bulk copy"},
      {filled + "@!%p1 ret;\nmov.u32 %r6, 0;\n",
       "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [data], 256;", stored,
       "bulk copy"},
      {filled + "mov.u32 %r6, 0;\n",
       "@%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd3, {%r6, %r6}], "
       "[data];",
       stored, "bulk copy"},
  };
}

TEST_F(EarlyAccessTest, EachAccessHasToComeBehindTheWait) {
  for (const Case& c : accesses()) {
    expect_early(c.before + c.access + "\n" + wait + c.after, c.name);
    expect_early(c.before + c.access + "\n" + c.after, c.name);  // without any wait
    expect_clean(c.before + wait + c.access + "\n" + c.after);
    options.starts_early = false;
    expect_clean(c.before + c.access + "\n" + c.after);
    options.starts_early = true;
  }
}

TEST_F(EarlyAccessTest, Message) {
  const Hazard hazard =
      found(run_body("st.global.u32 [%rd2+8], %r1;\n" + wait), HazardKind::early_access);
  EXPECT_EQ(hazard.message,
            "early access: write by thread (0,0,0) of block (0,0,0), allocation 1 of 16384 bytes + "
            "8: the launch ahead may still run: no griddepcontrol.wait comes before");
  EXPECT_EQ(hazard.count, 2u) << "by warp";
}

TEST_F(EarlyAccessTest, WhatIsNotGlobalMemory) {
  expect_clean(R"(
    griddepcontrol.launch_dependents;
    prefetch.global.L2 [%rd1];
    prefetch.tensormap [%rd3];
    ld.const.u32 %r4, [table];
    st.local.u32 [own], %r4;
    ld.local.u32 %r4, [own];
    st.shared.u32 [%r3], %r4;
    ld.param.u64 %rd4, [x];
    mov.u64 %rd5, x;
    cvta.param.u64 %rd5, %rd5;
    ld.u64 %rd4, [%rd5];
    mov.u64 %rd5, table;
    cvta.const.u64 %rd5, %rd5;
    ld.u32 %r4, [%rd5];)");
}

// One thread or one warp waits; all threads access, after a barrier.
const std::string access = "\nst.global.u32 [%rd2], %r1;\n";

TEST_F(EarlyAccessTest, BarriersHandTheWaitOn) {
  expect_early("@%p1 griddepcontrol.wait;" + access, "write");
  expect_clean("@%p1 griddepcontrol.wait;\nbar.sync 0;" + access);
  expect_clean("@%p1 griddepcontrol.wait;\nbarrier.sync 3, 64;" + access);
  expect_early("bar.sync 0;\n@%p1 griddepcontrol.wait;" + access, "write");
  // The other lanes of its warp are ordered after the wait; the other warp is not.
  const std::string first_warp = "setp.lt.u32 %p2, %r1, 32;\n@!%p2 ret;\n";
  expect_clean(first_warp + "@%p1 griddepcontrol.wait;\nbar.warp.sync -1;" + access);
  expect_early("@%p1 griddepcontrol.wait;\nbar.warp.sync -1;" + access, "write");
  // The second of two barriers does not order any thread after the wait.
  expect_early(R"(
    setp.lt.u32 %p2, %r1, 32;
    @!%p2 bra SECOND;
    griddepcontrol.wait;
    barrier.sync 1, 32;
    bra END;
    SECOND: barrier.sync 2, 32;)" +
                   access + "END:",
               "write");
}

/// The first warp waits and arrives at an mbarrier, in the order of `first`; the other warp waits
/// there.
std::string by_mbarrier(const std::string& first) {
  return ready + R"(
    setp.lt.u32 %p2, %r1, 32;
    @!%p2 bra SECOND;
    )" + first +
         "bra END;\nSECOND:\n" + wait_for("bar", "0", "0") + access + "END:";
}

TEST_F(EarlyAccessTest, MbarriersHandTheWaitOn) {
  const std::string arrive = "@%p1 mbarrier.arrive.shared.b64 _, [bar];\n";
  expect_clean(by_mbarrier(wait + arrive));
  expect_early(by_mbarrier(arrive + wait), "write");
  expect_early(by_mbarrier(arrive), "write");
}

TEST_F(EarlyAccessTest, ClustersHandTheWaitOn) {
  const std::string sync = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
  const std::string first_block =
      "mov.u32 %r7, %cluster_ctarank;\nsetp.eq.u32 %p3, %r7, 0;\n@%p3 griddepcontrol.wait;\n";
  const std::string other = "@!%p3 st.global.u32 [%rd2], %r1;\n";
  expect_clean(first_block + sync + other, 2);
  expect_early(sync + first_block + other, "write", 2);
  // No cluster barrier in the whole kernel.
  expect_early(first_block + "bar.sync 0;\n" + other, "write", 2);
  expect_early(first_block +
                   "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n" +
                   other,
               "write", 2);
}

TEST_F(EarlyAccessTest, TheWaitIsRememberedWhenStampsAreUsedUp) {
  expect_clean(R"(
    @%p1 griddepcontrol.wait;
    mov.u32 %r4, 0;
    AGAIN: bar.sync 0;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p2, %r4, 1100000;
    @%p2 bra AGAIN;)" +
               access);
}

TEST_F(EarlyAccessTest, Instructions) {
  EXPECT_THROW(run_body("griddepcontrol.go;"), std::invalid_argument);
  try {
    run(entry("", "griddepcontrol.wait;\nret;"), {1, 1, 1}, {1, 1, 1}, {});
    ADD_FAILURE() << "taken";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(),
                 "test.ptx:7: griddepcontrol.wait is for sm_90 and up, the text for sm_80");
  }
}

}  // namespace
}  // namespace rung::vgpu
