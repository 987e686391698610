// Rows of the frame: the frame is small, and two values that are live at the same time never share
// a row.

#include "vgpu/program/allocation.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "vgpu/lowering/inline.hpp"
#include "vgpu/program/operands.hpp"
#include "vgpu/program/rows.hpp"
#include "vgpu/ptx/opcodes.hpp"
#include "vgpu/tests/program_text.hpp"

namespace rung::vgpu {
namespace {

struct Allocated {
  ptx::Function function;
  Cfg cfg;
  RowAllocation rows;

  std::uint32_t offset(const std::string& name) const {
    return rows.offset.at(static_cast<std::size_t>(register_named(function, name)));
  }
};

Allocated allocate(ptx::Function function) {
  Cfg cfg = control_flow(function);
  RowAllocation rows = allocate_rows(function, cfg, live_registers(function, cfg));
  return {std::move(function), std::move(cfg), std::move(rows)};
}

Allocated allocate(const std::string& body) { return allocate(entry(body)); }

/// Simulates the text and records, for each register, if another register has been written to its
/// row since. Does not use liveness.
class Checker {
 public:
  explicit Checker(const Allocated& allocated)
      : function_(allocated.function), cfg_(allocated.cfg), offset_(allocated.rows.offset) {
    for (int reg = 0; reg < static_cast<int>(function_.registers.size()); ++reg) {
      sharers_[offset(reg)].push_back(reg);
    }
  }

  /// Describes the first read of a row that holds another value; empty if all reads are right.
  std::string run() {
    const RegisterSet none(function_.registers.size());
    std::vector<RegisterSet> lost(cfg_.blocks.size(), none);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < cfg_.blocks.size(); ++i) {
        RegisterSet now = lost[i];
        const CfgBlock& block = cfg_.blocks[i];
        for (std::size_t at = block.first; at < block.first + block.count; ++at) {
          step(function_.body[at], now);
        }
        for (const int successor : block.successors) {
          if (successor == to_exit) continue;
          changed = lost[static_cast<std::size_t>(successor)].insert(now, none) || changed;
        }
      }
    }
    return wrong_;
  }

 private:
  std::uint32_t offset(int reg) const { return offset_[static_cast<std::size_t>(reg)]; }

  void step(const ptx::Instruction& instruction, RegisterSet& lost) {
    std::vector<int> sources, destinations;
    for_each_use(instruction, [&](int reg) { sources.push_back(reg); });
    for_each_definition(instruction, [&](int reg) { destinations.push_back(reg); });
    for (const int reg : sources) {
      if (lost.contains(reg)) fail(instruction, reg, "is read after its row was written to");
    }
    if (copies_in_its_row(instruction)) {
      // The row is not changed, so its other registers keep their values.
      if (!lost.contains(instruction.operands[1].reg)) lost.erase(destinations[0]);
      return;
    }
    for (const int reg : destinations) {
      for (const int other : sources) {
        const bool may_share = other != instruction.guard && works_in_place(instruction);
        if (!may_share && other != reg && offset(other) == offset(reg)) {
          fail(instruction, reg, "has the row of an operand");
        }
      }
      for (const int other : destinations) {
        if (other != reg && offset(other) == offset(reg)) fail(instruction, reg, "is not alone");
      }
      for (const int other : sharers_.at(offset(reg))) {
        if (other != reg) lost.insert(other);
      }
      if (instruction.guard < 0) lost.erase(reg);
    }
  }

  bool copies_in_its_row(const ptx::Instruction& instruction) const {
    if (instruction.opcode != ptx::Opcode::mov || instruction.guard >= 0) return false;
    const ptx::Operand &to = instruction.operands[0], &from = instruction.operands[1];
    return to.kind == ptx::Operand::Kind::reg && from.kind == ptx::Operand::Kind::reg &&
           offset(to.reg) == offset(from.reg);
  }

  void fail(const ptx::Instruction& instruction, int reg, const char* what) {
    if (!wrong_.empty()) return;
    wrong_ = fmt::format("{}:{}: {} {}", function_.name, instruction.line,
                         function_.registers[static_cast<std::size_t>(reg)].name, what);
  }

  const ptx::Function& function_;
  const Cfg& cfg_;
  const std::vector<std::uint32_t>& offset_;
  std::map<std::uint32_t, std::vector<int>> sharers_;
  std::string wrong_;
};

std::string wrong_with(const Allocated& allocated) { return Checker(allocated).run(); }

TEST(Allocation, TheCheckerFindsASharedRow) {
  Allocated found = allocate(R"(
    mov.u32 %r1, 1; mov.u32 %r2, 2; add.u32 %r3, %r1, %r2; st.global.u32 [%rd1], %r3; ret;)");
  EXPECT_EQ(wrong_with(found), "");
  found.rows.offset[static_cast<std::size_t>(register_named(found.function, "%r2"))] =
      found.offset("%r1");
  EXPECT_EQ(wrong_with(found), "k:2: %r1 is read after its row was written to");
}

TEST(Allocation, RowsHaveTheirWidthAndPredicatesLieTogether) {
  const Allocated found = allocate(R"(
    mov.b64 %rd1, 0; mov.b32 %r1, 0; mov.b16 %rs1, 0;
    setp.eq.u32 %p1, %r1, 0; setp.ne.u32 %p2, %r1, 0;
    @%p1 st.global.u32 [%rd1], %r1;
    @%p2 st.global.u16 [%rd1], %rs1;
    ret;)");
  EXPECT_EQ(found.offset("%p1"), 64u);
  EXPECT_EQ(found.offset("%p2"), 68u);
  EXPECT_EQ(found.offset("%rs1"), 128u);
  EXPECT_EQ(found.offset("%r1"), 192u);
  EXPECT_EQ(found.offset("%rd1"), 320u);
  EXPECT_EQ(found.rows.frame_bytes, 576u);
}

TEST(Allocation, ADestinationTakesTheRowOfADyingOperandInPlaceOnly) {
  const Allocated found = allocate(R"(
    mov.u32 %r1, 1; add.u32 %r2, %r1, 1;
    shfl.sync.down.b32 %r3, %r2, 1, 31, -1;
    mov.b64 %rd1, {%r3, %r3};
    st.global.u32 [%rd1], 0;
    ret;)");
  EXPECT_EQ(found.offset("%r1"), found.offset("%r2"));
  EXPECT_NE(found.offset("%r2"), found.offset("%r3"));
}

TEST(Allocation, SeveralDestinationsAreNoSources) {
  const Allocated found = allocate(R"(
    mov.u32 %r1, 1;
    ld.shared.v2.u32 {%r2, %r3}, [%r1];
    st.shared.v2.u32 [%r2], {%r2, %r3};
    ret;)");
  EXPECT_NE(found.offset("%r1"), found.offset("%r2"));
  EXPECT_NE(found.offset("%r1"), found.offset("%r3"));
  EXPECT_NE(found.offset("%r2"), found.offset("%r3"));
}

TEST(Allocation, AnAccumulatorStaysInItsRowRoundTheLoop) {
  const Allocated found = allocate(R"(
    mov.f32 %f1, 0f00000000;
    mov.f32 %f9, 0f00000000;
    LOOP: ld.shared.f32 %f3, [As];
    fma.rn.f32 %f2, %f3, %f3, %f1;
    fma.rn.f32 %f8, %f2, %f3, %f9;
    mov.f32 %f1, %f2;
    mov.f32 %f9, %f8;
    @%p1 bra LOOP;
    st.global.v2.f32 [%rd1], {%f2, %f8};
    ret;)");
  EXPECT_EQ(found.offset("%f1"), found.offset("%f2"));
  EXPECT_EQ(found.offset("%f9"), found.offset("%f8"));
  EXPECT_EQ(wrong_with(found), "");
}

/// The inner loop of a kernel with 8 x 8 sums per thread, as clang writes it: a register for every
/// value, and copies at the end of the loop.
std::string register_tile_loop() {
  constexpr int sums = 64, steps = 8;
  std::string text = ".reg .f32 %s<9999>; .reg .f32 %x<9999>;\n";
  for (int i = 0; i < sums; ++i) text += fmt::format("mov.f32 %s{}, 0f00000000;\n", i);
  text += "LOOP:\n";
  for (int k = 0; k < steps; ++k) {
    for (int i = 0; i < 16; ++i)
      text += fmt::format("ld.shared.f32 %x{}, [%r1+{}];\n", 16 * k + i, 64 * k + 4 * i);
    for (int i = 0; i < sums; ++i) {
      text += fmt::format("fma.rn.f32 %s{}, %x{}, %x{}, %s{};\n", sums * (k + 1) + i,
                          16 * k + i / 8, 16 * k + 8 + i % 8, sums * k + i);
    }
  }
  for (int i = 0; i < sums; ++i) text += fmt::format("mov.f32 %s{}, %s{};\n", i, sums * steps + i);
  text += "@%p1 bra LOOP;\n";
  for (int i = 0; i < sums; ++i) text += fmt::format("st.global.f32 [%rd1+{}], %s{};\n", 4 * i, i);
  return text + "ret;\n";
}

TEST(Allocation, ARegisterTileTakesItsSumsAndOneStepsOperands) {
  const Allocated found = allocate(register_tile_loop());
  EXPECT_EQ(wrong_with(found), "");
  // 64 sums, 16 operands and an address of 128 bytes, an address of 256 bytes, a predicate, and
  // reserved bytes.
  EXPECT_EQ(found.rows.frame_bytes, (64u + 16 + 1) * 128 + 256 + 64 + 64);
}

TEST(Allocation, IsRightOnWhatCompilersWrite) {
  int kernels = 0;
  for (const auto& file : std::filesystem::directory_iterator(RUNG_PTX_CORPUS)) {
    std::stringstream text;
    text << std::ifstream(file.path()).rdbuf();
    const ptx::Module module = ptx::parse(text.str(), file.path().filename().string());
    for (const ptx::Function& function : module.functions) {
      const Allocated found = allocate(function);
      EXPECT_EQ(wrong_with(found), "") << file.path().filename() << ": " << function.name;
      ++kernels;
    }
  }
  EXPECT_GT(kernels, 20);
}

/// Random instructions of every kind that matters here, including branches.
std::string random_text(std::mt19937& random) {
  const auto pick = [&](int count) {
    return static_cast<int>(random() % static_cast<unsigned>(count));
  };
  const auto r = [&] { return fmt::format("%r{}", pick(6)); };
  const auto rd = [&] { return fmt::format("%rd{}", pick(3)); };
  const auto p = [&] { return fmt::format("%p{}", pick(3)); };
  const int lines = 4 + pick(30);
  std::string text;
  for (int i = 0; i < lines; ++i) {
    text += fmt::format("L{}: ", i);
    if (pick(4) == 0) text += fmt::format("@{}{} ", pick(2) == 0 ? "!" : "", p());
    switch (pick(9)) {
      case 0:
      case 1: text += fmt::format("mov.u32 {}, {};\n", r(), r()); break;
      case 2: text += fmt::format("mad.lo.u32 {}, {}, {}, {};\n", r(), r(), r(), r()); break;
      case 3: text += fmt::format("setp.lt.u32 {}, {}, {};\n", p(), r(), r()); break;
      case 4: text += fmt::format("ld.global.u32 {}, [{}];\n", r(), rd()); break;
      case 5:
        text += fmt::format("mov.b64 {{%r{}, %r{}}}, {};\n", pick(3), 3 + pick(3), rd());
        break;
      case 6: text += fmt::format("add.u64 {}, {}, {};\n", rd(), rd(), rd()); break;
      case 7: text += fmt::format("mov.pred {}, {};\n", p(), p()); break;
      default: text += fmt::format("bra L{};\n", pick(lines)); break;
    }
  }
  return text + "ret;\n";
}

TEST(Allocation, IsRightOnAnyText) {
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    const std::string text = random_text(random);
    ASSERT_EQ(wrong_with(allocate(text)), "") << text;
  }
}

TEST(Allocation, ACopyKeepsItsRowAsLongAsBothAreTheSame) {
  const Allocated same = allocate(R"(
    ld.shared.f32 %f1, [As];
    mov.f32 %f2, %f1;
    st.shared.v2.f32 [Bs], {%f1, %f2};
    ret;)");
  EXPECT_EQ(same.offset("%f1"), same.offset("%f2"));
  const Allocated changed = allocate(R"(
    ld.shared.f32 %f1, [As];
    mov.f32 %f2, %f1;
    add.f32 %f2, %f2, %f2;
    st.shared.v2.f32 [Bs], {%f1, %f2};
    ret;)");
  EXPECT_NE(changed.offset("%f1"), changed.offset("%f2"));
  const Allocated guarded = allocate(R"(
    ld.shared.f32 %f1, [As]; ld.shared.f32 %f2, [Bs];
    @%p1 mov.f32 %f2, %f1;
    st.shared.v2.f32 [Bs], {%f1, %f2};
    ret;)");
  EXPECT_NE(guarded.offset("%f1"), guarded.offset("%f2"));
}

TEST(Allocation, UnusedRegistersTakeNothing) {
  const Allocated found = allocate(".reg .b32 %unused; ret;");
  EXPECT_EQ(found.rows.frame_bytes, reserved_frame_bytes);
}

}  // namespace
}  // namespace rung::vgpu
