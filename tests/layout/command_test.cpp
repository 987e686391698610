// rung layout and rung trace --tiles, as scripts call them.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "program.hpp"

namespace rung {
namespace {

/// The text with single spaces: notes are folded anywhere.
std::string words(const std::string& text) {
  std::istringstream stream(text);
  std::string result;
  for (std::string word; stream >> word;) result += (result.empty() ? "" : " ") + word;
  return result;
}

TEST(LayoutCommand, ATmaBox) {
  const Output output = run_rung("layout tma --type bf16 --box 64x128 --swizzle 128");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  EXPECT_NE(output.out.find("TMA box of 64 x 128 bf16, swizzle 128 B: 16384 bytes"),
            std::string::npos)
      << output.out;
  EXPECT_NE(output.out.find("  128     1,8     1,0    1,24    1,16"), std::string::npos)
      << output.out;
  EXPECT_EQ(run_rung("layout tma --box 64x128 --at 3,17").out,
            "row 3, column 17: byte 402 (0x192), in bank 4, chunk 1 of line 3\n");
  EXPECT_EQ(run_rung("layout tma --box 64x128 --byte 0x192").out,
            "byte 402 (0x192): row 3, column 17\n");
}

TEST(LayoutCommand, ADescriptor) {
  const Output fits = run_rung("layout wgmma --shape m64n128k16 --operand B --k-step 1");
  ASSERT_EQ(fits.exit_code, 0) << fits.err;
  EXPECT_NE(words(fits.out).find(
                "descriptor 0x4000004000010002: start 0x20, LBO 16 (not used), SBO 1024"),
            std::string::npos)
      << fits.out;
  EXPECT_NE(fits.out.find("fits: all 256 chunks"), std::string::npos) << fits.out;
  const Output wrong = run_rung("layout wgmma m64n128k16 --operand B --sbo 512");
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_NE(words(wrong.out).find("does not fit: 240 of 256 chunks"), std::string::npos)
      << wrong.out;
  EXPECT_NE(words(wrong.out).find("in this tile: SBO 1024"), std::string::npos) << wrong.out;
}

TEST(LayoutCommand, Blackwell) {
  const Output fits = run_rung("layout tcgen05 m128n256k16 --operand B --k-step 3");
  ASSERT_EQ(fits.exit_code, 0) << fits.err;
  EXPECT_NE(words(fits.out).find("descriptor 0x4000404000010006: start 0x60"), std::string::npos)
      << fits.out;
  EXPECT_EQ(run_rung("layout tcgen05 --descriptor 0x4000404000010000 --k-step 1").exit_code, 1);
  EXPECT_EQ(run_rung("layout tcgen05 --descriptor 0x4000004000010000").exit_code, 2);
  EXPECT_EQ(run_rung("layout tmem 16x256b.x1 --at 9,3").out,
            "row 9, column 3: lane 5, register 3\n");
}

TEST(LayoutCommand, TensorMemory) {
  // Layouts A, B and F of 9.7.16.10.5, and scales of 9.7.16.10.7.
  EXPECT_EQ(run_rung("layout tcgen05 m256n128k16 --operand D --blocks 2 --at 200,5").out,
            "row 200, column 5: lane 200, column 5\n");
  EXPECT_EQ(run_rung("layout tcgen05 m128n128k16 --operand D --blocks 2 --at 70,100").out,
            "row 70, column 100: lane 198, column 36\n");
  EXPECT_EQ(run_rung("layout tcgen05 m64n128k16 --operand D --at 20,100").out,
            "row 20, column 100: lane 36, column 100\n");
  EXPECT_EQ(run_rung("layout tcgen05 m64n128k16 --operand D --ws --at 20,100").out,
            "row 20, column 100: lane 84, column 36\n");
  EXPECT_EQ(run_rung("layout tcgen05 --operand SA --scales 4 --at 40,2").out,
            "row 40, column 2: lane 8, column 1, element 2 from the low bits\n");
  EXPECT_EQ(run_rung("layout tcgen05 --operand SB --scales 6 --first-byte 2 --at 40,3").out,
            "row 40, column 3: lane 8, column 5, element 1 from the low bits\n");
  EXPECT_EQ(run_rung("layout tcgen05 m48n128k16 --operand D").exit_code, 2);
  // Each block of a pair has half of B's columns.
  const Output pair = run_rung("layout tcgen05 m256n128k16 --operand B --blocks 2");
  EXPECT_EQ(pair.exit_code, 0) << pair.err;
  EXPECT_NE(pair.out.find("fits: all 128 chunks"), std::string::npos) << pair.out;
}

TEST(LayoutCommand, SparseFragmentsAndScales) {
  // 9.7.14.6.2: m16n8k32 of 16 bits has metadata of half of k in each thread of a pair; 9.7.14.3.
  EXPECT_EQ(run_rung("layout mma m16n8k32 --sparse --type f16 --operand E --at 9,5").out,
            "row 9, column 5: lane 5, register 0, element 5 from the low bits\n");
  EXPECT_EQ(run_rung("layout mma m16n8k32 --sparse --type f16 --operand A --at 9,5").out,
            "row 9, column 5: lane 6, register 1, element 1 from the low bits\n");
  EXPECT_EQ(run_rung("layout mma --operand SB --scales 4 --at 5,2").out,
            "row 5, column 2: lane 20, register 0, element 2 from the low bits\n");
  EXPECT_EQ(run_rung("layout mma m16n8k8 --sparse --type f16").exit_code, 2);
}

TEST(LayoutCommand, ColumnsOfPixels) {
  // Output (w, h) = (1, 2) of a 3 x 3 filter with padding 1, at position (2, 1), is pixel (2, 2): the 19th of 9 x 5.
  const std::string images =
      "layout tma --type bf16 --image 9x5x3 --box 64x64 --lower=-1,-1 --upper=-1,-1 --filter 2,1";
  EXPECT_EQ(run_rung(images + " --swizzle none --at 0,2,2,8").out,
            "image 0, h 2, w 2, channel 8: byte 2448 (0x990), in bank 4, chunk 1 of line 19\n");
  EXPECT_EQ(run_rung(images + " --from 9,0,0").exit_code, 2);
}

TEST(LayoutCommand, Registers) {
  EXPECT_EQ(run_rung("layout mma m16n8k16 --type bf16 --operand A --at 9,11").out,
            "row 9, column 11: lane 5, register 3, element 1 from the low bits\n");
  EXPECT_EQ(run_rung("layout wgmma m64n128k16 --operand D --lane 127 --register 63").out,
            "thread 127, register 63: (63, 127)\n");
  EXPECT_EQ(run_rung("layout simdgroup --type f32 --lane 31 --register 1").out,
            "lane 31, register 1: (7, 7)\n");
  const auto json =
      nlohmann::json::parse(run_rung("layout wmma m16n16k16 --type f16 --json -").out);
  EXPECT_EQ(json.at("registers").size(), 512u) << "elements of f16 are in two registers";
}

TEST(LayoutCommand, CopiesOfMatrices) {
  const std::string conflicts = run_rung("layout ldmatrix x4 --trans --pitch 128").out;
  EXPECT_NE(conflicts.find("32 passes through the banks; 4 would do: bank conflicts"),
            std::string::npos)
      << conflicts;
  const std::string none = run_rung("layout ldmatrix x4 --trans --swizzle 128").out;
  EXPECT_NE(none.find("4 passes through the banks; 4 would do\n"), std::string::npos) << none;
  EXPECT_EQ(run_rung("layout stmatrix x2 --lane 5 --register 1").out,
            "lane 5, register 1: (9, 2) (9, 3)\n");
  const std::string banks = run_rung("layout banks --address 'lane * 132'").out;
  EXPECT_NE(banks.find("1 pass through the 32 banks"), std::string::npos) << banks;
}

TEST(LayoutCommand, ErrorsNameTheArgument) {
  const auto error = [](const std::string& arguments) {
    const Output output = run_rung("layout " + arguments);
    EXPECT_EQ(output.exit_code, 2) << arguments << output.out;
    return output.err;
  };
  EXPECT_NE(error("mmb").find("INSTRUCTION: 'mmb' is not one of tma, wgmma, tcgen05"),
            std::string::npos);
  EXPECT_NE(error("tma --swizzle 96").find("--swizzle: '96' is not one of none, 32, 64, 128"),
            std::string::npos);
  EXPECT_NE(error("tma --box 128x64").find("--box: "), std::string::npos);
  EXPECT_NE(error("mma --box 64x64").find("--box: mma has no use for it"), std::string::npos);
  EXPECT_NE(error("mma m16n8k32").find("it has m16n8k8, m16n8k16"), std::string::npos);
  EXPECT_NE(error("mma --lane 32").find("--lane: '32' is not an integer from 0 to 31"),
            std::string::npos);
  EXPECT_NE(error("tma --at 64,0").find("--at: '64,0' is not among"), std::string::npos);
  EXPECT_NE(error("wgmma --operand B --major mn --type e4m3 --shape m64n64k32")
                .find("--major: 'mn' is for elements of 16 bits"),
            std::string::npos);
  EXPECT_NE(error("banks --address 'lane *'").find("--address: "), std::string::npos);
}

TEST(LayoutCommand, ImportsTheTilesOfAKernel) {
  const Output output = run_rung("trace gemm/cuda/24 --m 128 --n 128 --k 128 --tiles --json -");
  ASSERT_EQ(output.exit_code, 0) << output.err;
  const auto kernels = nlohmann::json::parse(output.out).at("kernels");
  int boxes = 0, operands = 0;
  for (const auto& kernel : kernels) {
    for (const auto& tile : kernel.at("tiles")) {
      EXPECT_TRUE(tile.at("fits").get<bool>()) << tile.dump();
      (tile.at("finding") == "" ? boxes : operands) += 1;
    }
  }
  EXPECT_GT(boxes, 0) << output.err;
  EXPECT_GT(operands, 0) << output.err;
}

}  // namespace
}  // namespace rung
