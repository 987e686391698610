// Parts of the diagnosis that need no launch: names of the source, machine code, the line about the
// bound.

#include <gtest/gtest.h>

#include <cstring>

#include "tools/analysis/diagnosis/dataflow.hpp"
#include "tools/analysis/diagnosis/source_names.hpp"
#include "tools/analysis/diagnosis/time.hpp"
#include "tools/analysis/machine_code.hpp"
#include "vgpu/ptx/opcodes.hpp"
#include "vgpu/ptx/parser.hpp"

namespace rung::analysis::diagnosis {
namespace {

TEST(SourceNames, AnArrayOfTheThreadIsNamed) {
  const char* file =
      "__global__ void k(const float* in) {\n  __shared__ float tile[64];\n  float v[64], w[2];\n"
      "  tile[q] = v[q + 1];\n";
  EXPECT_EQ(array_in_line("  tile[q] = v[q + 1];", file), "v");
  EXPECT_EQ(array_in_line("  in[3] = 1;", file), "");
}

TEST(SourceNames, MembersOfElements) {
  EXPECT_TRUE(accesses_member("p[i].x += dt;"));
  EXPECT_TRUE(accesses_member("sum += p->x;"));
  EXPECT_FALSE(accesses_member("y[i] = x[i] * .5f;"));
}

TEST(Dataflow, ALinkDeterminesItsOwnNextAddress) {
  const auto text = vgpu::ptx::parse(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k() {
  .reg .b64 %rd<4>;
  .reg .pred %p<2>;
L:
  ld.global.u64 %rd1, [%rd1+8];
  ld.global.u64 %rd2, [%rd1];
  add.u64 %rd3, %rd3, %rd2;
  setp.ne.u64 %p1, %rd2, 0;
  @%p1 bra L;
  ret;
}
)",
                                     "k.ptx");
  const auto loads = [](const vgpu::ptx::Instruction& i) { return i.is_load(); };
  EXPECT_EQ(lines_with_own_address(text, loads), (std::set<int>{8}));
  EXPECT_EQ(lines_with_address_from(text, loads), (std::set<int>{8, 9}));
  EXPECT_EQ(branches_decided_by(text, loads), (std::set<int>{12}));
}

// Two logical operations become LOP3, and a third one does not fit; two additions become IADD3; a shift that
// two additions use stays.
TEST(Dataflow, InstructionsThatPtxasMerges) {
  const auto text = vgpu::ptx::parse(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k() {
  .reg .b32 %r<20>;
  .reg .b64 %rd<4>;
  xor.b32 %r1, %r10, %r11;
  and.b32 %r2, %r1, %r12;
  or.b32 %r3, %r2, %r13;
  add.s32 %r4, %r10, %r11;
  add.s32 %r5, %r4, %r12;
  shl.b32 %r6, %r10, 2;
  add.s32 %r7, %r6, %r11;
  add.s32 %r8, %r6, %r12;
  mul.wide.s32 %rd1, %r10, 4;
  add.s64 %rd2, %rd3, %rd1;
  ret;
}
)",
                                     "k.ptx");
  EXPECT_EQ(merged_lines(text), (std::set<int>{7, 10, 15}));
}

/// An ELF file with one section of code, and its section of names.
std::string cubin(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& code) {
  const std::string names = std::string("\0.names\0.text.k\0", 16);
  const std::size_t bytes = 16 * code.size(), names_at = 64 + bytes,
                    table = names_at + names.size();
  std::string file(table + 3 * 64, '\0');
  const auto put = [&](std::size_t at, auto value) {
    std::memcpy(file.data() + at, &value, sizeof value);
  };
  std::memcpy(file.data(),
              "\x7f"
              "ELF",
              4);
  put(0x28, std::uint64_t{table});
  put(0x3c, std::uint16_t{3});
  put(0x3e, std::uint16_t{1});
  for (std::size_t i = 0; i < code.size(); ++i) {
    put(64 + 16 * i, code[i].first);
    put(64 + 16 * i + 8, code[i].second);
  }
  std::memcpy(file.data() + names_at, names.data(), names.size());
  const auto section = [&](std::size_t index, std::uint32_t name, std::uint64_t at,
                           std::uint64_t size) {
    put(table + 64 * index, name);
    put(table + 64 * index + 24, at);
    put(table + 64 * index + 32, size);
  };
  section(1, 1, names_at, names.size());
  section(2, 8, 64, bytes);
  return file;
}

// Instructions as ptxas encodes them for sm_90 (nvcc 13): FFMA, LDL, STL of 8 bytes, and a branch
// over three instructions back.
constexpr std::pair<std::uint64_t, std::uint64_t> ffma = {0x223, 0}, ldl = {0x983, 4 << 9},
                                                  stl64 = {0x387, 5 << 9},
                                                  back = {0xfffffffc00f00947, 0x383ffff};

TEST(MachineCode, LocalAccessesAreCountedByLoop) {
  const auto code = code_by_depth(cubin({stl64, ffma, ldl, ffma, back}), "k", 90);
  ASSERT_TRUE(code.has_value());
  ASSERT_EQ(code->size(), 2u);
  EXPECT_EQ(code->at(0).local_stores, 2);
  EXPECT_EQ(code->at(0).local_loads, 0);
  EXPECT_EQ(code->at(1).local_loads, 1);
  EXPECT_EQ(code->at(1).anchors, 2);
  EXPECT_EQ(local_words(*code), 3);
  EXPECT_FALSE(code_by_depth("no ELF", "k", 90).has_value());
  EXPECT_FALSE(code_by_depth(cubin({ffma}), "other", 90).has_value());
}

TEST(Bound, TheLineSaysHowFar) {
  Time time;
  time.seconds = 22.9e-6;
  time.parts = {{"issue", 5e-6}, {"DRAM", 22.1e-6}};
  time.bound = {"DRAM", 22.1e-6};
  EXPECT_EQ(bound_text(time), "DRAM 22.1 of 22.9 us: at the bound");
  time.bound = {"FMA", 9.5e-6};
  EXPECT_EQ(bound_text(time),
            "2.4 times above the FMA bound of 9.5 us; of the rest, DRAM 22.1 us, issue 5 us, "
            "partly at once");
}

}  // namespace
}  // namespace rung::analysis::diagnosis
