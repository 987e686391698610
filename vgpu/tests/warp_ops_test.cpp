// Shuffles, votes, matches and reductions within a warp.

#include "vgpu/engine/warp/warp_ops.hpp"

#include "vgpu/tests/lanes.hpp"

namespace rung::vgpu {
namespace {

std::vector<Mask> reported, outside_reported;

}  // namespace

// The engine's own definition reports a hazard.
void report_bad_participant(Warp&, const Instr&, Mask missing) { reported.push_back(missing); }
std::vector<Mask> absent_reported;
void report_absent_source(Warp&, const Instr&, Mask readers) { absent_reported.push_back(readers); }
void report_exited_members(Warp&, const Instr&, Mask) {}
void report_not_a_member(Warp&, const Instr&, Mask outside) { outside_reported.push_back(outside); }

}  // namespace rung::vgpu

namespace rung::vgpu::lanes {
namespace {

using U = std::uint32_t;

class WarpOps : public testing::Test {
 protected:
  void SetUp() override {
    reported.clear();
    outside_reported.clear();
    for (std::size_t i = 0; i < warp_size; ++i) lane_ids[i] = static_cast<U>(i);
  }

  static Row<U> filled(U value) {
    Row<U> row;
    row.fill(value);
    return row;
  }

  /// A shuffle with p|q. Rows: d, p, a, b, c, membermask.
  void shuffle(const std::string& mode, const Row<U>& b, U c, Mask mask = all_lanes,
               Mask members = all_lanes) {
    ptx::Instruction shfl = instruction("shfl.sync." + mode + ".b32");
    shfl.operands = {group(ptx::Operand::Kind::pair, 2), reg(), reg(), reg(), reg()};
    const auto spec = arithmetic(shfl);
    ASSERT_TRUE(spec);
    EXPECT_EQ(spec->destinations, 2);
    machine.set(0, filled(999));
    machine.warp.predicate(Machine::offset(1)) = 0;
    machine.set(2, values());
    machine.set(3, b);
    machine.set(4, filled(c));
    machine.set(5, filled(members));
    machine.run(*spec, mask);
    results = machine.get<U>(0);
    in_range = machine.warp.predicate(Machine::offset(1));
  }

  static Row<U> values() {
    Row<U> row;
    for (std::size_t i = 0; i < warp_size; ++i) row[i] = static_cast<U>(100 + i);
    return row;
  }

  Machine machine;
  Row<U> lane_ids, results;
  Mask in_range = 0;
};

TEST_F(WarpOps, ShufflesWholeWarps) {
  shuffle("down", filled(4), 31);
  EXPECT_EQ(results[0], 104u);
  EXPECT_EQ(results[27], 131u);
  EXPECT_EQ(results[28], 128u) << "out of range: its own";
  EXPECT_EQ(in_range, 0x0FFFFFFFu);
  shuffle("up", filled(4), 0);
  EXPECT_EQ(results[4], 100u);
  EXPECT_EQ(results[3], 103u);
  EXPECT_EQ(in_range, 0xFFFFFFF0u);
  shuffle("bfly", filled(1), 31);
  EXPECT_EQ(results[6], 107u);
  EXPECT_EQ(results[7], 106u);
  EXPECT_EQ(in_range, all_lanes);
  shuffle("idx", filled(17), 31);
  EXPECT_EQ(results[0], 117u);
  EXPECT_EQ(results[31], 117u);
  EXPECT_TRUE(reported.empty());
}

TEST_F(WarpOps, ShufflesSegments) {
  const U width8 = (32 - 8) << 8;  // as in __shfl_sync(…, 8)
  shuffle("down", filled(3), width8 | 31);
  EXPECT_EQ(results[8], 111u);
  EXPECT_EQ(results[13], 113u) << "lane 16 is of the next segment";
  EXPECT_EQ(in_range, 0x1F1F1F1Fu);
  shuffle("up", filled(3), width8);
  EXPECT_EQ(results[11], 108u);
  EXPECT_EQ(results[10], 110u);
  shuffle("idx", filled(10), width8 | 31);
  EXPECT_EQ(results[0], 102u) << "10 modulo 8";
  EXPECT_EQ(results[20], 118u);
  shuffle("bfly", filled(8), width8 | 31);
  EXPECT_EQ(results[0], 100u) << "lane 8 lies behind the segment";
}

TEST_F(WarpOps, ShuffleByLane) {
  Row<U> reversed;
  for (std::size_t i = 0; i < warp_size; ++i) reversed[i] = static_cast<U>(31 - i);
  shuffle("idx", reversed, 31);
  for (std::size_t i = 0; i < warp_size; ++i) EXPECT_EQ(results[i], 131 - i);
}

TEST_F(WarpOps, MaskedLanesKeepTheirs) {
  shuffle("down", filled(1), 31, 0x0000FFFFu, 0x0000FFFFu);
  EXPECT_EQ(results[0], 101u);
  EXPECT_EQ(results[16], 999u);
  EXPECT_EQ(in_range, 0x0000FFFFu);
  EXPECT_TRUE(reported.empty());
}

TEST_F(WarpOps, ReportsNamedLanesThatAreElsewhere) {
  shuffle("down", filled(1), 31, 0x0000FFFFu);
  EXPECT_EQ(reported, std::vector<Mask>{0xFFFF0000u});
  reported.clear();
  machine.warp.live = 0x00FFFFFFu;  // exited lanes need not take part
  shuffle("down", filled(1), 31, 0x0000FFFFu);
  EXPECT_EQ(reported, std::vector<Mask>{0x00FF0000u});
}

TEST_F(WarpOps, ShuffleInPlace) {
  const auto spec = arithmetic(plain("shfl.sync.down.b32", 4));
  ASSERT_TRUE(spec);
  machine.set(0, values());
  machine.set(2, filled(1));
  machine.set(3, filled(31));
  machine.set(4, filled(all_lanes));
  machine.run(*spec, all_lanes, {0, 0, 2, 3, 4});
  for (std::size_t i = 0; i < 31; ++i) EXPECT_EQ(machine.get<U>(0)[i], 101 + i);
}

TEST_F(WarpOps, Votes) {
  const auto vote = [&](const std::string& mnemonic, Mask a, Mask mask, U members, bool negated) {
    ptx::Instruction instruction = plain(mnemonic, 2);
    instruction.operands[1].negated = negated;
    const auto spec = arithmetic(instruction);
    EXPECT_TRUE(spec) << mnemonic;
    machine.set(0, filled(0));
    machine.warp.predicate(Machine::offset(1)) = a;
    machine.set(2, filled(members));
    machine.run(*spec, mask);
    return machine.warp.predicate(Machine::offset(0));
  };
  EXPECT_EQ(vote("vote.sync.all.pred", ~0u, all_lanes, ~0u, false), all_lanes);
  EXPECT_EQ(vote("vote.sync.all.pred", ~1u, all_lanes, ~0u, false), 0u);
  EXPECT_EQ(vote("vote.sync.all.pred", ~1u, 0xFEu, 0xFEu, false), 0xFEu);
  EXPECT_EQ(vote("vote.sync.any.pred", 1u, all_lanes, ~0u, false), all_lanes);
  EXPECT_EQ(vote("vote.sync.any.pred", ~0u, all_lanes, ~0u, true), 0u);
  EXPECT_EQ(vote("vote.sync.uni.pred", 0u, all_lanes, ~0u, false), all_lanes);
  EXPECT_EQ(vote("vote.sync.uni.pred", 2u, all_lanes, ~0u, false), 0u);
  EXPECT_EQ(vote("vote.sync.ballot.b32", 0xABCDu, all_lanes, 0xFFu, false), 0xCDu);
  EXPECT_EQ(vote("vote.sync.ballot.b32", 0xABCDu, 0xFFu, 0xFFu, true), 0x32u);
}

TEST_F(WarpOps, GroupsVoteEachForItself) {
  const auto spec = arithmetic(plain("vote.sync.ballot.b32", 2));
  ASSERT_TRUE(spec);
  Row<U> members;
  for (std::size_t i = 0; i < warp_size; ++i) members[i] = i < 8 ? 0xFFu : 0xFFFFFF00u;
  machine.warp.predicate(Machine::offset(1)) = 0x10101010u;
  machine.set(2, members);
  machine.run(*spec, all_lanes);
  EXPECT_EQ(machine.get<U>(0)[3], 0x10u);
  EXPECT_EQ(machine.get<U>(0)[9], 0x10101000u);
  EXPECT_TRUE(reported.empty());
}

TEST_F(WarpOps, Matches) {
  Row<U> keys;
  for (std::size_t i = 0; i < warp_size; ++i) keys[i] = static_cast<U>(i % 4);
  const auto any = run_full<U>(plain("match.any.sync.b32", 2), keys, filled(~0u));
  for (std::size_t i = 0; i < warp_size; ++i) EXPECT_EQ(any[i], 0x11111111u << (i % 4));

  ptx::Instruction all = instruction("match.all.sync.b64");
  all.operands = {group(ptx::Operand::Kind::pair, 2), reg(), reg()};
  const auto spec = arithmetic(all);
  ASSERT_TRUE(spec);
  Row<std::uint64_t> wide;
  wide.fill(1ull << 40);
  machine.set(2, wide);
  machine.set(3, filled(~0u));
  machine.run(*spec, all_lanes);
  EXPECT_EQ(machine.get<U>(0)[5], ~0u);
  EXPECT_EQ(machine.warp.predicate(Machine::offset(1)), ~0u);
  wide[7] = 1;
  machine.set(2, wide);
  machine.run(*spec, all_lanes);
  EXPECT_EQ(machine.get<U>(0)[5], 0u);
  EXPECT_EQ(machine.warp.predicate(Machine::offset(1)), 0u);
}

TEST_F(WarpOps, Reductions) {
  const Row<U> all = filled(~0u);
  EXPECT_EQ(run_full<U>(plain("redux.sync.add.u32", 2), values(), all)[9], 32u * 100 + 31 * 16);
  EXPECT_EQ(run_full<U>(plain("redux.sync.xor.b32", 2), lane_ids, all)[0], 0u);
  EXPECT_EQ(run_full<U>(plain("redux.sync.or.b32", 2), lane_ids, all)[0], 31u);
  EXPECT_EQ(run_full<U>(plain("redux.sync.and.b32", 2), values(), all)[0], 0u);
  Row<std::int32_t> numbers;
  Row<float> floats;
  for (std::size_t i = 0; i < warp_size; ++i) {
    numbers[i] = static_cast<int>(i * 37 % 32) - 16;
    floats[i] = static_cast<float>(numbers[i]);
  }
  floats[3] = NAN;
  using S = std::int32_t;
  EXPECT_EQ(run_full<S>(plain("redux.sync.min.s32", 2), numbers, all)[1], -16);
  EXPECT_EQ(run_full<S>(plain("redux.sync.max.s32", 2), numbers, all)[1], 15);
  EXPECT_EQ(run_full<float>(plain("redux.sync.max.f32", 2), floats, all)[1], 15.0f);
  EXPECT_EQ(run_full<float>(plain("redux.sync.max.abs.f32", 2), floats, all)[1], 16.0f);
  EXPECT_TRUE(std::isnan(run_full<float>(plain("redux.sync.min.NaN.f32", 2), floats, all)[1]));
}

TEST_F(WarpOps, ActiveMaskAndElection) {
  const auto active = arithmetic(plain("activemask.b32", 0));
  ASSERT_TRUE(active);
  machine.run(*active, 0xF0u);
  EXPECT_EQ(machine.get<U>(0)[4], 0xF0u);

  ptx::Instruction elect = instruction("elect.sync");
  elect.operands = {group(ptx::Operand::Kind::pair, 2), reg()};
  const auto spec = arithmetic(elect);
  ASSERT_TRUE(spec);
  machine.warp.predicate(Machine::offset(1)) = 0;
  machine.set(2, filled(0xF0u));
  machine.run(*spec, 0xF0u);
  EXPECT_EQ(machine.get<U>(0)[6], 4u);
  EXPECT_EQ(machine.warp.predicate(Machine::offset(1)), 0x10u);
}

}  // namespace
}  // namespace rung::vgpu::lanes
