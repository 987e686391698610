// Basic blocks, their successors, loops and post-dominators.

#include "vgpu/program/cfg.hpp"

#include <gtest/gtest.h>

#include "vgpu/tests/program_text.hpp"

namespace rung::vgpu {
namespace {

Cfg cfg_of(const std::string& body) { return control_flow(entry(body)); }

using Ints = std::vector<int>;

std::vector<Ints> successors(const Cfg& cfg) {
  std::vector<Ints> all;
  for (const CfgBlock& block : cfg.blocks) all.push_back(block.successors);
  return all;
}

Ints post_dominators(const Cfg& cfg) {
  Ints all;
  for (const CfgBlock& block : cfg.blocks) all.push_back(block.immediate_post_dominator);
  return all;
}

Ints loop_headers(const Cfg& cfg) {
  Ints headers;
  for (std::size_t i = 0; i < cfg.blocks.size(); ++i) {
    if (cfg.blocks[i].loop_header) headers.push_back(static_cast<int>(i));
  }
  return headers;
}

Ints counts(const Cfg& cfg) {
  Ints all;
  for (const CfgBlock& block : cfg.blocks) all.push_back(static_cast<int>(block.count));
  return all;
}

TEST(Cfg, StraightTextIsOneBlock) {
  const Cfg cfg = cfg_of("mov.u32 %r1, 1; mov.u32 %r2, 2; ret;");
  EXPECT_EQ(counts(cfg), Ints{3});
  EXPECT_EQ(successors(cfg), std::vector<Ints>{{to_exit}});
  EXPECT_EQ(post_dominators(cfg), Ints{-1});
  EXPECT_EQ(loop_headers(cfg), Ints{});
}

TEST(Cfg, ADiamondComesTogetherBehindIt) {
  const Cfg cfg = cfg_of(R"(
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra ELSE;
    mov.u32 %r2, 1;
    bra.uni JOIN;
    ELSE: mov.u32 %r2, 2;
    JOIN: add.u32 %r3, %r2, 1;
    ret;)");
  EXPECT_EQ(successors(cfg), (std::vector<Ints>{{2, 1}, {3}, {3}, {to_exit}}));
  EXPECT_EQ(cfg.blocks[3].predecessors, (Ints{1, 2}));
  EXPECT_EQ(post_dominators(cfg), (Ints{3, 3, 3, -1}));
}

TEST(Cfg, ALoopComesTogetherWhereItIsLeft) {
  const Cfg cfg = cfg_of(R"(
    mov.u32 %r1, 0;
    LOOP: add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 8;
    @%p1 bra LOOP;
    mov.u32 %r2, %r1;
    ret;)");
  EXPECT_EQ(successors(cfg), (std::vector<Ints>{{1}, {1, 2}, {to_exit}}));
  EXPECT_EQ(post_dominators(cfg), (Ints{1, 2, -1}));
  EXPECT_EQ(loop_headers(cfg), Ints{1});
}

TEST(Cfg, NestedLoopsEachHaveAHeader) {
  const Cfg cfg = cfg_of(R"(
    OUTER: mov.u32 %r1, 0;
    INNER: add.u32 %r1, %r1, 1;
    @%p1 bra INNER;
    @%p2 bra OUTER;
    ret;)");
  EXPECT_EQ(loop_headers(cfg), (Ints{0, 1}));
  EXPECT_EQ(post_dominators(cfg), (Ints{1, 2, 3, -1}));
}

TEST(Cfg, BarriersEndABlock) {
  const Cfg cfg = cfg_of(R"(
    mov.u32 %r1, 0;
    bar.sync 0;
    bar.warp.sync -1;
    barrier.cluster.arrive;
    nanosleep.u32 20;
    mov.u32 %r2, 0;
    ret;)");
  EXPECT_EQ(counts(cfg), (Ints{2, 1, 1, 1, 2}));
  EXPECT_EQ(post_dominators(cfg), (Ints{1, 2, 3, 4, -1}));
}

TEST(Cfg, ShufflesDoNotEndABlock) {
  EXPECT_EQ(counts(cfg_of("shfl.sync.down.b32 %r1, %r2, 1, 31, -1; ret;")), Ints{2});
}

TEST(Cfg, WarpWideInstructionsSynchronise) {
  for (const std::string wide :
       {"bar.sync 0;", "shfl.sync.down.b32 %r1, %r2, 1, 31, -1;", "activemask.b32 %r1;",
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];",
        "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;"}) {
    EXPECT_TRUE(cfg_of(wide + " ret;").blocks.at(0).synchronises) << wide;
  }
  EXPECT_FALSE(cfg_of("mov.u32 %r1, 1; ret;").blocks.at(0).synchronises);
}

TEST(Cfg, GuardedExitsGoOn) {
  const Cfg cfg = cfg_of("@%p1 exit; mov.u32 %r1, 0; @!%p2 ret; mov.u32 %r2, 0; ret;");
  EXPECT_EQ(successors(cfg), (std::vector<Ints>{{to_exit, 1}, {to_exit, 2}, {to_exit}}));
  // Other lanes do not wait for lanes that exit.
  EXPECT_EQ(post_dominators(cfg), (Ints{1, 2, -1}));
}

TEST(Cfg, ABranchToTheEndIsAnExit) {
  const Cfg cfg = cfg_of(R"(
    @%p1 bra END;
    mov.u32 %r1, 0;
    @%p2 bra HOP;
    mov.u32 %r2, 0;
    END: ret;
    HOP: bra END;)");
  EXPECT_EQ(cfg.blocks[0].successors, (Ints{to_exit, 1}));
  EXPECT_EQ(cfg.blocks[1].successors, (Ints{to_exit, 2}));
  EXPECT_EQ(cfg.blocks[2].successors, Ints{3});
}

TEST(Cfg, EarlyReturnsDoNotKeepABranchApart) {
  // if (a) { if (b) return; x; } y;
  const Cfg cfg = cfg_of(R"(
    @%p1 bra JOIN;
    @%p2 bra END;
    mov.u32 %r1, 0;
    JOIN: mov.u32 %r2, 0;
    END: ret;)");
  EXPECT_EQ(cfg.blocks[0].immediate_post_dominator, 3);
  EXPECT_EQ(cfg.blocks[1].immediate_post_dominator, 2);
}

TEST(Cfg, AnEndlessLoopComesTogetherInside) {
  // while (true) { if (a) x; else y; z; }
  const Cfg cfg = cfg_of(R"(
    LOOP: @%p1 bra ELSE;
    mov.u32 %r1, 1;
    bra JOIN;
    ELSE: mov.u32 %r1, 2;
    JOIN: mov.u32 %r2, 3;
    bra LOOP;)");
  EXPECT_EQ(post_dominators(cfg), (Ints{3, 3, 3, -1}));
}

TEST(Cfg, ALoopThatIsOnlyLeftByReturnComesTogetherInside) {
  // A persistent kernel: while (true) { if (done) return; if (a) x; else y; barrier; }
  const Cfg cfg = cfg_of(R"(
    LOOP: @%p3 bra END;
    @%p1 bra ELSE;
    mov.u32 %r1, 1;
    bra JOIN;
    ELSE: mov.u32 %r1, 2;
    JOIN: bar.sync 0;
    bra LOOP;
    END: ret;)");
  EXPECT_EQ(cfg.blocks[1].immediate_post_dominator, 4);
  EXPECT_EQ(cfg.blocks[2].immediate_post_dominator, 4);
  EXPECT_EQ(cfg.blocks[3].immediate_post_dominator, 4);
  EXPECT_EQ(cfg.blocks[4].immediate_post_dominator, 5);
}

TEST(Cfg, ALoopWithoutAWayOutBesideOneWithOne) {
  const Cfg cfg = cfg_of(R"(
    @%p1 bra SPIN;
    ret;
    SPIN: mov.u32 %r1, 0;
    bra SPIN;)");
  EXPECT_EQ(post_dominators(cfg), (Ints{-1, -1, -1}));
  EXPECT_EQ(loop_headers(cfg), Ints{2});
}

TEST(Cfg, AnIndirectBranchHasAllItsTargets) {
  const Cfg cfg = cfg_of(R"(
    targets: .branchtargets ONE, TWO, END;
    brx.idx %r1, targets;
    ONE: mov.u32 %r2, 1;
    bra JOIN;
    TWO: mov.u32 %r2, 2;
    JOIN: mov.u32 %r3, 3;
    END: ret;)");
  // Here, the exit is a block like any other: an index selects it. Lanes that take it exit.
  EXPECT_EQ(cfg.blocks[0].successors, (Ints{1, 2, 4}));
  EXPECT_EQ(cfg.blocks[0].immediate_post_dominator, 3);
  EXPECT_EQ(cfg.blocks[1].immediate_post_dominator, 3);
}

TEST(Cfg, ATrapEndsAllLanes) {
  const Cfg cfg = cfg_of("@%p1 trap; trap; mov.u32 %r1, 0; ret;");
  EXPECT_EQ(successors(cfg), (std::vector<Ints>{{to_exit, 1}, {to_exit}, {to_exit}}));
}

TEST(Cfg, TextThatNothingLeadsToIsKept) {
  const Cfg cfg = cfg_of("bra END; mov.u32 %r1, 0; bra END; END: mov.u32 %r2, 0; ret;");
  EXPECT_EQ(successors(cfg), (std::vector<Ints>{{2}, {2}, {to_exit}}));
  EXPECT_TRUE(cfg.blocks[1].predecessors.empty());
}

TEST(Cfg, AFunctionWithoutTextHasNoBlocks) { EXPECT_TRUE(cfg_of("").blocks.empty()); }

}  // namespace
}  // namespace rung::vgpu
