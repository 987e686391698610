// Every text ends in a result, a hazard or an error: texts that once did not, and a few thousand
// generated ones.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/tests/fuzz/ptx_case.hpp"
#include "vgpu/tests/fuzz/ptx_generator.hpp"

namespace rung::vgpu {
namespace {

namespace fs = std::filesystem;

/// The stored texts, in the order of their names.
std::vector<std::string> texts_of_compilers() {
  std::map<std::string, std::string> texts;
  for (const auto& entry : fs::directory_iterator(fs::path(RUNG_FUZZ_CORPUS) / "ptx")) {
    std::ifstream file(entry.path(), std::ios::binary);
    texts[entry.path().filename()] = {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<std::string> sorted;
  for (auto& [name, text] : texts) sorted.push_back(std::move(text));
  return sorted;
}

constexpr const char* tile = ".shared .align 16 .b8 tile[64];";

/// A kind of mistake that once ended the process, or was taken for something else.
struct OnceFatal {
  std::string instruction, message;
  std::string variable = tile;
  std::string function = "";

  std::string text() const {
    return "// The first line.\n.version 8.3\n.target sm_90a\n.address_size 64\n" + function +
           ".visible .entry k()\n{\n  .reg .pred %p<4>;\n  .reg .b16 %rs<4>;\n  .reg .b32 %r<8>;\n"
           "  .reg .b64 %rd<4>;\n  .reg .f32 %f<4>;\n  " +
           variable + "\n  .param .b32 narrow;\n  .param .b64 wide;\nhere:\n  " + instruction +
           "\n  ret;\ntable: .branchtargets here;\n}\n";
  }
};

const OnceFatal once_fatal[] = {
    {"add.u32 ;", "fuzz.ptx:16: add.u32 has 0 operands: it takes 3"},
    {"add.u32 %r1, [%rd1], %r2;",
     "fuzz.ptx:16: add.u32 operand 2: expected a register or a constant"},
    {"red.global.add.u32 [%rd1];", "fuzz.ptx:16: red.global.add.u32 has 1 operand: it takes 2"},
    {"atom %r1, [%rd1], %r2;", "fuzz.ptx:16: atom is not known to the virtual GPU"},
    {"bar.sync ;", "fuzz.ptx:16: bar.sync has 0 operands: it takes 1"},
    {"bra ;", "fuzz.ptx:16: bra has 0 operands: it takes 1"},
    {"brx.idx %r1;", "fuzz.ptx:16: brx.idx has 1 operand: it takes 2"},
    {"call (narrow);", "fuzz.ptx:16: call names no function"},
    {"call (narrow), vprintf, (narrow, narrow);",
     "fuzz.ptx:17: call expected a .param variable of 8 bytes", tile,
     ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"},
    {"cp.async.ca.shared.global [%rd1], [%rd2], 12;",
     "fuzz.ptx:16: cp.async.ca.shared.global copies 4, 8 or 16 bytes"},
    {"cp.async.ca.shared.global [%rd1], [%rd2], 0;",
     "fuzz.ptx:16: cp.async.ca.shared.global operand 3: 0 is not from 4 to 16"},
    {"@%r1 add.u32 %r1, %r2, %r3;",
     "fuzz.ptx:16: add.u32 has the guard %r1, which is no predicate"},
    {"mov.u32 %r1, {%r2};", "fuzz.ptx:16: mov.u32 is not known to the virtual GPU"},
    {"ld.global.u32 %r1, [%rd2, {%r2}];",
     "fuzz.ptx:16: ld.global.u32 operand 2: expected an address in brackets"},
    {"ld.global.v2.u32 {%r1, %rd1}, [%rd2];",
     "fuzz.ptx:16: ld.global.v2.u32 operand 1: the registers in braces differ in width"},
    {"ld.global.u32.u64 %rd1, [%rd2];",
     "fuzz.ptx:16: ld.global.u32.u64 is not known to the virtual GPU"},
    {"ld.global.v2.v4.u32 {%r1, %r2}, [%rd2];",
     "fuzz.ptx:16: ld.global.v2.v4.u32 is not known to the virtual GPU"},
    {"lop3.b32 %r1, %r2, %r3, %r1, 256;",
     "fuzz.ptx:16: lop3.b32 operand 5: 256 is not from 0 to 255"},
    {"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%rd1, %rd2}, [%r1];",
     "fuzz.ptx:16: ldmatrix.sync.aligned.m8n8.x2.shared.b16 operand 1: register %rd1 has 64 bits, "
     ".b32 takes 32"},
    {"mov.u32 ;", "fuzz.ptx:16: mov.u32 has 0 operands: it takes 2"},
    {"bar.red.popc.u32 %r1, 0;", "fuzz.ptx:16: bar.red.popc.u32 has 2 operands: it takes 3"},
    {"selp.b32 ;", "fuzz.ptx:16: selp.b32 has 0 operands: it takes 4"},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile], "
     "[%rd1, {%r1}], [tile];",
     "fuzz.ptx:16: "
     "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes operand 2: "
     "has 1 coordinates of 2"},
    {"mov.u32 %r1, tile;",
     "fuzz.ptx:12: 4294967296 bytes of local memory up to 'tile': at most 524288",
     ".local .align 16 .b8 tile[4294967296];"},
    {"mov.u32 %r1, tile;",
     "fuzz.ptx:12: 4294967296 bytes of shared memory up to 'tile': at most 16777216",
     ".shared .align 16 .b8 tile[4294967296];"},
    {"cp.async.wait_group %r1;",
     "fuzz.ptx:16: cp.async.wait_group operand 1: expected an integer constant"},
};

TEST(PtxCorpus, TextsThatWereOnceFatalAreErrors) {
  for (const OnceFatal& once : once_fatal) {
    const PtxCase result = run_ptx_case(once.text());
    EXPECT_EQ(result.violation, "") << once.instruction;
    EXPECT_LT(result.outcome, PtxOutcome::faulted) << once.instruction;
    EXPECT_EQ(result.message, once.message) << once.instruction;
  }
}

TEST(PtxGenerator, MakesTheSameTextForTheSameNumber) {
  PtxGenerator one({"  add.u32 %r1, %r2, %r3;\n"}), other({"  add.u32 %r1, %r2, %r3;\n"});
  one.make(7);
  EXPECT_EQ(one.make(8), other.make(8));
  EXPECT_NE(one.make(8), one.make(9));
}

TEST(PtxGenerator, TextsThatAreAlmostRightEndInAResultOrAnError) {
  PtxGenerator generator(texts_of_compilers());
  std::vector<int> outcomes(5, 0);
  for (std::uint64_t number = 0; number < 3000; ++number) {
    const std::string text = generator.make(number);
    const PtxCase result = run_ptx_case(text);
    ASSERT_EQ(result.violation, "") << "number " << number << ": " << result.message << "\n"
                                    << text;
    ++outcomes[static_cast<std::size_t>(result.outcome)];
  }
  // With fewer of these, the test would cover the parser alone.
  EXPECT_GT(outcomes[static_cast<std::size_t>(PtxOutcome::not_loaded)], 300);
  EXPECT_GT(outcomes[static_cast<std::size_t>(PtxOutcome::finished)], 300);
}

}  // namespace
}  // namespace rung::vgpu
