// The registers that instructions read and write, live registers, and reads of unwritten registers.

#include "vgpu/program/liveness.hpp"

#include <gtest/gtest.h>

#include <set>

#include "vgpu/program/live_ranges.hpp"
#include "vgpu/program/operands.hpp"
#include "vgpu/program/undefined_reads.hpp"
#include "vgpu/tests/program_text.hpp"

namespace rung::vgpu {
namespace {

using Names = std::set<std::string>;

struct Roles {
  Names read, written;
  bool operator==(const Roles&) const = default;
};

void PrintTo(const Roles& roles, std::ostream* out) {
  *out << "read " << testing::PrintToString(roles.read) << ", written "
       << testing::PrintToString(roles.written);
}

/// The roles of registers in the first instruction.
Roles roles_of(const std::string& body) {
  const ptx::Function function = entry(body);
  Roles roles;
  const auto name = [&](int reg) { return function.registers[static_cast<std::size_t>(reg)].name; };
  for_each_use(function.body.at(0), [&](int reg) { roles.read.insert(name(reg)); });
  for_each_definition(function.body.at(0), [&](int reg) { roles.written.insert(name(reg)); });
  return roles;
}

TEST(Operands, ArithmeticWritesItsFirst) {
  EXPECT_EQ(roles_of("fma.rn.f32 %f1, %f2, %f3, %f4;"), (Roles{{"%f2", "%f3", "%f4"}, {"%f1"}}));
  EXPECT_EQ(roles_of("@!%p1 add.u32 %r1, %r1, 1;"), (Roles{{"%p1", "%r1"}, {"%r1"}}));
}

TEST(Operands, PairsAndVectorsAreWrittenWhole) {
  EXPECT_EQ(roles_of("setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;"),
            (Roles{{"%r1", "%r2", "%p3"}, {"%p1", "%p2"}}));
  EXPECT_EQ(roles_of("shfl.sync.down.b32 %r1|%p1, %r2, %r3, 31, -1;"),
            (Roles{{"%r2", "%r3"}, {"%r1", "%p1"}}));
  EXPECT_EQ(roles_of("mov.b64 {%r1, _}, %rd1;"), (Roles{{"%rd1"}, {"%r1"}}));
  EXPECT_EQ(roles_of("mov.b64 %rd1, {%r1, %r2};"), (Roles{{"%r1", "%r2"}, {"%rd1"}}));
}

TEST(Operands, LoadsWriteAndStoresDoNot) {
  EXPECT_EQ(roles_of("ld.global.v2.f32 {%f1, %f2}, [%rd1+8];"), (Roles{{"%rd1"}, {"%f1", "%f2"}}));
  EXPECT_EQ(roles_of("st.global.v2.f32 [%rd1], {%f1, %f2};"), (Roles{{"%rd1", "%f1", "%f2"}, {}}));
  EXPECT_EQ(roles_of("atom.global.cas.b32 %r1, [%rd1], %r2, %r3;"),
            (Roles{{"%rd1", "%r2", "%r3"}, {"%r1"}}));
  EXPECT_EQ(roles_of("red.global.add.u32 [%rd1], %r1;"), (Roles{{"%rd1", "%r1"}, {}}));
  EXPECT_EQ(roles_of("cp.async.ca.shared.global [%r1], [%rd1], 16, %r2;"),
            (Roles{{"%r1", "%rd1", "%r2"}, {}}));
  EXPECT_EQ(roles_of("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2}, [%r3];"),
            (Roles{{"%r3"}, {"%r1", "%r2"}}));
  EXPECT_EQ(roles_of("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r3], {%r1, %r2};"),
            (Roles{{"%r1", "%r2", "%r3"}, {}}));
  EXPECT_EQ(roles_of("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1], {%f1, %f2, %f3, "
                     "%f4, %f5, %f6, %f7, %f8}, %r1;")
                .written,
            Names{});
}

TEST(Operands, BarriersReadExceptForReductions) {
  EXPECT_EQ(roles_of("bar.sync %r1, %r2;"), (Roles{{"%r1", "%r2"}, {}}));
  EXPECT_EQ(roles_of("bar.warp.sync %r1;"), (Roles{{"%r1"}, {}}));
  EXPECT_EQ(roles_of("bar.red.popc.u32 %r1, %r2, %p1;"), (Roles{{"%r2", "%p1"}, {"%r1"}}));
  EXPECT_EQ(roles_of("barrier.sync.aligned %r1;"), (Roles{{"%r1"}, {}}));
  EXPECT_EQ(roles_of("nanosleep.u32 %r1;"), (Roles{{"%r1"}, {}}));
}

TEST(Operands, MbarriersReturnStates) {
  EXPECT_EQ(roles_of("mbarrier.init.shared.b64 [%r1], %r2;"), (Roles{{"%r1", "%r2"}, {}}));
  EXPECT_EQ(roles_of("mbarrier.arrive.shared.b64 %rd1, [%r1];"), (Roles{{"%r1"}, {"%rd1"}}));
  EXPECT_EQ(roles_of("mbarrier.arrive.shared.b64 _, [%r1];"), (Roles{{"%r1"}, {}}));
  EXPECT_EQ(roles_of("mbarrier.try_wait.shared.b64 %p1, [%r1], %rd1;"),
            (Roles{{"%r1", "%rd1"}, {"%p1"}}));
}

TEST(Operands, AccumulatorsOfWgmmaAreReadAndWritten) {
  EXPECT_EQ(roles_of("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, "
                     "%rd1, %rd2, 1, 1, 1, 0, 0;"),
            (Roles{{"%f1", "%f2", "%f3", "%f4", "%rd1", "%rd2"}, {"%f1", "%f2", "%f3", "%f4"}}));
  EXPECT_EQ(roles_of("wgmma.wait_group.sync.aligned 0;"), (Roles{{}, {}}));
}

TEST(Operands, BranchesReadTheirGuardAndIndex) {
  EXPECT_EQ(roles_of("@%p1 bra END; END: ret;"), (Roles{{"%p1"}, {}}));
  EXPECT_EQ(roles_of("brx.idx %r1, T; A: ret; T: .branchtargets A;"), (Roles{{"%r1"}, {}}));
}

TEST(Operands, EveryPartOfAnAddressIsRead) {
  EXPECT_EQ(roles_of("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%r1], [%rd1, {%r2, %r3}], [%r4];"),
            (Roles{{"%r1", "%rd1", "%r2", "%r3", "%r4"}, {}}));
}

struct Analysed {
  ptx::Function function;
  Cfg cfg;
  Liveness liveness;

  Names in(std::size_t block) const {
    Names names;
    liveness.in.at(block).for_each(
        [&](int reg) { names.insert(function.registers[static_cast<std::size_t>(reg)].name); });
    return names;
  }
};

Analysed analyse(const std::string& body) {
  Analysed result{entry(body), {}, {}};
  result.cfg = control_flow(result.function);
  result.liveness = live_registers(result.function, result.cfg);
  return result;
}

TEST(Liveness, GoesRoundALoop) {
  const Analysed found = analyse(R"(
    mov.u32 %r1, 0; mov.f32 %f1, 0f00000000; ld.param.u32 %r2, [n];
    LOOP: add.f32 %f1, %f1, 0f3F800000;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, %r2;
    @%p1 bra LOOP;
    st.global.f32 [%rd1], %f1;
    ret;)");
  EXPECT_EQ(found.in(0), Names{"%rd1"});
  EXPECT_EQ(found.in(1), (Names{"%r1", "%r2", "%f1", "%rd1"}));
  EXPECT_EQ(found.in(2), (Names{"%f1", "%rd1"}));
  EXPECT_EQ(found.liveness.max_pressure, 5);
}

TEST(Liveness, AGuardedWriteEndsNoRange) {
  const Analysed found = analyse(R"(
    bar.sync 0;
    @%p1 mov.u32 %r1, 1;
    mov.u32 %r2, 2;
    st.global.v2.u32 [%rd1], {%r1, %r2};
    ret;)");
  EXPECT_EQ(found.in(1), (Names{"%p1", "%r1", "%rd1"}));
}

TEST(Liveness, BothSidesOfABranchCount) {
  const Analysed found = analyse(R"(
    @%p1 bra ELSE;
    st.global.u32 [%rd1], %r1;
    ret;
    ELSE: mov.u32 %r1, 0;
    st.global.u32 [%rd2], %r1;
    ret;)");
  EXPECT_EQ(found.in(0), (Names{"%p1", "%rd1", "%r1", "%rd2"}));
  EXPECT_EQ(found.in(2), Names{"%rd2"});
}

TEST(Liveness, PressureCountsResultsThatNobodyReads) {
  EXPECT_EQ(analyse("mov.u64 %rd1, 0; mov.u64 %rd2, 0; ret;").liveness.max_pressure, 2);
  EXPECT_EQ(analyse("setp.eq.u32 %p1, 0, 0; ret;").liveness.max_pressure, 0);
}

/// The live range of a register as text, such as "%r1 [3,6) [8,9)".
std::string range_of(const Analysed& found, const std::string& name) {
  const auto ranges = live_ranges(found.function, found.cfg, found.liveness);
  std::string text = name;
  for (const Segment& segment :
       ranges.at(static_cast<std::size_t>(register_named(found.function, name)))) {
    text += " [" + std::to_string(segment.begin) + "," + std::to_string(segment.end) + ")";
  }
  return text;
}

TEST(LiveRanges, EndAtTheLastReadIfTheInstructionWorksInPlace) {
  const Analysed found = analyse(R"(
    mov.u32 %r1, %tid.x;
    add.u32 %r2, %r1, 1;
    shfl.sync.down.b32 %r3, %r2, 1, 31, -1;
    st.global.u32 [%rd1], %r3;
    ret;)");
  EXPECT_EQ(range_of(found, "%r1"), "%r1 [1,3)");
  EXPECT_EQ(range_of(found, "%r2"), "%r2 [3,6)");  // until after the shuffle's write
  EXPECT_EQ(range_of(found, "%r3"), "%r3 [5,8)");
  EXPECT_EQ(range_of(found, "%rd1"), "%rd1 [0,8)");
}

TEST(LiveRanges, HaveHolesWhereTheValueIsNotWanted) {
  // The code of compilers for an accumulator: a copy at the end of each iteration.
  const Analysed found = analyse(R"(
    mov.f32 %f1, 0f00000000;
    LOOP: fma.rn.f32 %f2, %f3, %f3, %f1;
    st.global.f32 [%rd1], %f3;
    mov.f32 %f1, %f2;
    @%p1 bra LOOP;
    st.global.f32 [%rd1], %f2;
    ret;)");
  EXPECT_EQ(range_of(found, "%f1"), "%f1 [1,3) [7,10)");
  EXPECT_EQ(range_of(found, "%f2"), "%f2 [3,12)");
}

TEST(LiveRanges, AWriteThatNobodyReadsTakesItsPlace) {
  const Analysed found = analyse("mov.u32 %r1, 0; mov.u32 %r1, 1; mov.u32 %r2, %r1; ret;");
  EXPECT_EQ(range_of(found, "%r1"), "%r1 [1,2) [3,5)");
  EXPECT_EQ(range_of(found, "%r2"), "%r2 [5,6)");
}

/// The undefined reads as text, such as "%r1 at line 3: never".
std::vector<std::string> undefined(const std::string& body) {
  const ptx::Function function = entry(body);
  std::vector<std::string> found;
  for (const UndefinedRead& read : undefined_reads(function, control_flow(function))) {
    found.push_back(function.registers[static_cast<std::size_t>(read.reg)].name + " at line " +
                    std::to_string(function.body[read.instruction].line) +
                    (read.never_written ? ": never" : ": on some path"));
  }
  return found;
}

using Lines = std::vector<std::string>;

TEST(UndefinedReads, NoneInRightText) {
  EXPECT_EQ(undefined("setp.eq.u32 %p1, 0, 0; mov.u32 %r1, 0; @%p1 bra END; mov.u32 %r1, 1; "
                      "END: mov.u32 %r2, %r1; ret;"),
            Lines{});
  EXPECT_EQ(undefined("mov.u32 %r1, 0;\nL: add.u32 %r1, %r1, 1;\nbra L;"), Lines{});
}

TEST(UndefinedReads, TellsNeverFromSometimes) {
  EXPECT_EQ(undefined(R"(
    setp.eq.u32 %p1, 0, 0;
    @%p1 bra ELSE;
    mov.u32 %r1, 1;
    ELSE: add.u32 %r2, %r1, %r3;
    mov.u32 %r3, %r1;
    ret;)"),
            (Lines{"%r1 at line 5: on some path", "%r3 at line 5: never"}));
}

TEST(UndefinedReads, AWriteUnderAGuardIsAWrite) {
  EXPECT_EQ(undefined("setp.eq.u32 %p1, 0, 0; @%p1 mov.u32 %r1, 1; @%p1 mov.u32 %r2, %r1; ret;"),
            Lines{});
}

TEST(UndefinedReads, ALaterRoundOfALoopMayHaveWritten) {
  EXPECT_EQ(undefined("L: add.u32 %r1, %r1, 1;\nbra L;"), Lines{"%r1 at line 1: on some path"});
}

TEST(UndefinedReads, TextThatNothingLeadsToReadsNothing) {
  EXPECT_EQ(undefined("bra END; mov.u32 %r1, %r2; END: ret;"), Lines{});
}

}  // namespace
}  // namespace rung::vgpu
