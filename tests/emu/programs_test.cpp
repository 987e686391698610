// Whole programs, as they would be written for a GPU: their output, and what is counted.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "emu_program.hpp"
#include "vgpu/tests/working_nvcc.hpp"

namespace rung {
namespace {

const auto& counters(const EmuOutput& output, std::size_t launch) {
  return output.json.at("kernels").at(launch).at("counters");
}

TEST(Programs, VectorAdd) {
  const EmuOutput output = expect_output("vector_add.cu", "1000 elements, 0 wrong, timed: yes\n");
  const auto& kernel = output.json.at("kernels").at(0);
  EXPECT_EQ(kernel.at("name"), "add");
  EXPECT_EQ(kernel.at("grid").dump(), "[4,1,1]");
  EXPECT_EQ(kernel.at("block").dump(), "[256,1,1]");
  EXPECT_EQ(kernel.at("hazards").size(), 0u);
  // 31 full warps and one of 8 threads; a warp reads 128 bytes of a and of b.
  EXPECT_EQ(counters(output, 0).at("global_load_requests"), 64);
  EXPECT_EQ(counters(output, 0).at("global_load_sectors"), 2 * (31 * 4 + 1));
  EXPECT_EQ(counters(output, 0).at("global_store_requests"), 32);
  EXPECT_EQ(counters(output, 0).at("global_store_sectors"), 31 * 4 + 1);
}

TEST(Programs, ArgumentsAndCompilerOptionsAreHandedOn) {
  expect_output(
      "vector_add.cu", "33 elements, 0 wrong, timed: yes\n",
      "-O2 -save-temps -Ofc max -std c++20 -DUNUSED=1 -I /tmp --threads 1 --extended-lambda "
      "--define-macro ALSO_UNUSED --ptxas-options -v",
      "33");
}

TEST(Programs, Reduction) { expect_output("reduction.cu", "30021 30021 30021\n"); }

TEST(Programs, TiledMatmul) {
  const EmuOutput output = expect_output("tiled_matmul.cu", "70 x 50 x 33, largest error 0\n");
  EXPECT_EQ(output.json.at("kernels").at(0).at("name"), "matmul<16>");
  // Every thread of 5 x 4 blocks multiplies over 3 tiles of 16.
  EXPECT_EQ(counters(output, 0).at("ffma"), 5 * 4 * 256 * 48);
  // A barrier for each of 8 warps, twice a tile.
  EXPECT_EQ(counters(output, 0).at("barriers"), 5 * 4 * 8 * 3 * 2);
}

TEST(Programs, CopiesOfVectorsAreOneAccess) {
  const EmuOutput output = expect_output("vector_copies.cu", "256\n");
  // One warp; the compiler loads the vector once. `odd` is one more in shared memory.
  EXPECT_EQ(counters(output, 0).at("global_load_requests"), 1);
  EXPECT_EQ(counters(output, 0).at("global_store_requests"), 2);
  EXPECT_EQ(counters(output, 0).at("shared_load_requests"), 3 + 1);
  EXPECT_EQ(counters(output, 0).at("shared_store_requests"), 3 + 1);
}

TEST(Programs, LanguageFeatures) {
  expect_output("language.cu",
                "127 1\n30\n4321 42 16 1\n"
                "hello from block 0, thread 0: 0.50 ok\nhello from block 0, thread 1: 0.50 ok\n"
                "hello from block 1, thread 0: 0.50 ok\nhello from block 1, thread 1: 0.50 ok\n"
                "cudaSuccess\n");
}

TEST(Programs, RuntimeCalls) {
  expect_output("runtime_api.cu",
                "1 0 NVIDIA H200 (virtual) 9.0 32 1 1024 65535\n1 1\n"
                "invalid device ordinal\ncudaErrorInvalidDevice\ncudaSuccess\n"
                "invalid configuration argument\ninvalid configuration argument\n"
                "cudaErrorInvalidValue\ncudaErrorMemoryAllocation\n"
                "104 cudaSuccess\n109 1\n1 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx--\n8 1 1024 1024\n7\n"
                "cudaSuccess\n");
}

TEST(Programs, LocksInLoops) { expect_output("locks_in_loops.cu", "256 256 128\n"); }
TEST(Programs, Atomics) { expect_output("atomics.cu", "0 wrong; 63 0 255 -64 2016 32 63\n"); }

/// Expects the output with clang and, in a second test that skips without a toolkit, with nvcc.
#define RUNG_BY_BOTH_COMPILERS(Name, program, expected)                  \
  TEST(Programs, Name) { expect_output(program, expected); }             \
  TEST(Programs, Name##ByNvcc) {                                         \
    if (working_nvcc().empty()) GTEST_SKIP() << "nvcc is not installed"; \
    expect_output(program, expected, "--compiler nvcc");                 \
  }

RUNG_BY_BOTH_COMPILERS(Reductions, "reductions.cu", "528 1 32 64 63 32 392 -176 -21 10 no error\n")
RUNG_BY_BOTH_COMPILERS(EarlyEnds, "early_ends.cu", "0 wrong\n")

// The values that code compiled by nvcc 13.0 prints.
constexpr const char* undefined_values =
    "10 120 15\n44 44 30050 -68 45340\n2147483647 0 9223372036854775807 0 2147483647\n"
    "no yes yes yes 3\n1\ncudaSuccess\n";

RUNG_BY_BOTH_COMPILERS(ValuesThatCppLeavesUndefined, "undefined_values.cu", undefined_values)

TEST(Programs, ValuesThatCppLeavesUndefinedInRelocatableCode) {
  expect_output("undefined_values.cu", undefined_values, "-rdc=true");
}

TEST(Programs, EndlessLoopsAreKept) {
  const EmuOutput output = run_emu("programs/endless_loop.cu", "--limit 100000");
  EXPECT_EQ(output.out, "cudaErrorLaunchTimeout\n") << output.err;
}

TEST(Programs, Padding) {
  const EmuOutput output = expect_output("padding.cu", "a60z 60\nb120y\n");
  EXPECT_TRUE(output.json.at("reports").empty()) << output.err;
}

TEST(Programs, SpeculatedLoads) { expect_output("speculated_loads.cu", "1481\n"); }

TEST(Programs, Managed) { expect_output("managed.cu", "40 105 105 6 157.5 1\n"); }

TEST(Programs, TheHeapInKernels) { expect_output("device_heap.cu", "7\n"); }
TEST(Programs, InstancesAndArraysAsNvccTakesThem) {
  expect_output("instances.cu", "12 3\n0 0 0 4\n");
}

TEST(Programs, LaunchesThatTheCompilerChooses) {
  const char* const expected = "121 3021 36 78\n15.25 15.25 4\n7 7\n3 6 cudaSuccess\n";
  expect_output("chosen_launches.cu", expected);
  expect_output("chosen_launches.cu", expected, "-rdc=true");
}

TEST(Programs, MatricesAtGenericAddresses) { expect_output("matrix_addresses.cu", "0 wrong\n"); }

TEST(Programs, ReadingsOfTheClock) { expect_output("clocks.cu", "0 wrong\n"); }

TEST(Programs, OddPiecesOfSharedMemory) { expect_output("odd_pieces.cu", "0 wrong\n"); }

TEST(Programs, AsNvccTakesThem) {
  expect_output("as_nvcc.cu", "lane 31 62\n0 wrong\n", "-std=c++11");
}

TEST(Programs, DeclarationsAsNvccTakesThem) {
  const std::string expected =
      "2031 2131 2031 2131\nthree blocks are no clusters of two\n42 1\n1 63\n";
  expect_output("declarations.cu", expected);
  expect_output("declarations.cu", expected, "-rdc=true");
  expect_output("nvcc_declares.cu", "64 0 7 3\n3 5 7 text 20001 2.5\n");
}

TEST(Programs, NamesWithoutTheirKeywords) {
  expect_output("dependent_names.cu", "8 42 1 16\n");
  expect_output("dependent_names.cu", "8 42 1 16\n", "-rdc=true");
}

TEST(Programs, ValuesThatOneLaneHas) { expect_output("one_lane.cu", "100 rows, 0 wrong\n"); }

TEST(Programs, SharedMemoryOfOtherBlocks) {
  expect_output("cluster_memory.cu", "0 wrong, neighbours 1 2 3 0\n");
}

TEST(Programs, TablesOfSharedAddresses) { expect_output("shared_tables.cu", "1 61\n128 128\n"); }

TEST(Programs, RemovedNamesOfLibraries) {
  if (working_nvcc().empty()) GTEST_SKIP() << "no toolkit with CUB and Thrust";
  expect_output("removed_names.cu", "63 385 0\n");
}

TEST(Programs, BarriersInSharedMemory) {
  if (working_nvcc().empty()) GTEST_SKIP() << "no toolkit with libcu++";
  expect_output("shared_barrier.cu", "3 2 cudaSuccess\n");
}

TEST(Programs, GraphMemory) {
  expect_output("graph_memory.cu", "4160 1 cudaErrorInvalidValue\n6432 512\n");
}

TEST(Programs, DriverEntryPoints) { expect_output("driver_entry_points.cu", "1 0 1 1 1\n"); }

// The last line begins with the solution of 3 x + y = 3, 2 y = 5.
TEST(Programs, DenseSolvers) { expect_output("cusolver.cu", "1 1 1 1 1 0\n0.167 2.500 2 2 3 1\n"); }

TEST(Programs, SolversThatAreToldTheTypes) {
  const std::string of_type = "1 1 220\n1 1 1 1 0\n1 0\n";
  expect_output("cusolver_generic.cu", of_type + of_type + "9 3 1 9\n");
}

TEST(Programs, CublasLuAndProductsFromTheHost) {
  expect_output("cublas_lu.cu", "0 2 -0.125 0.5 0.25 0 2 1 0\n0 7 24 42 0\n7 8 7\n");
}

TEST(Programs, Nvml) {
  expect_output("nvml.cu",
                "1 NVIDIA H200 (virtual) 1 1 1\nUninitialized, Invalid Argument, Not Supported\n");
}

TEST(Programs, CapturesOfTheDriver) { expect_output("driver_capture.cu", "1 0 192\n"); }

TEST(Programs, RefusedLaunches) {
  const EmuOutput output = run_emu("programs/refused_launches.cu");
  EXPECT_NE(output.err.find("cudaErrorInvalidConfiguration: launch of k at "
                            "refused_launches.cu:5: a grid of 0x1x1 blocks"),
            std::string::npos)
      << output.err;
  EXPECT_NE(output.err.find("at refused_launches.cu:6: blocks of 2048x1x1 = 2048 threads"),
            std::string::npos)
      << output.err;
}

TEST(Programs, SizesAreRefusedAndNotCut) {
  expect_output("large_sizes.cu", "1 1 1 1 1\n2 2 1 1 1\n1 1 0\n1 1\n0 0\n1\n");
}

TEST(Programs, GroupsAndHalf) {
  expect_output("groups_and_half.cu", "1520 39 11 104\n1 32.5 947.438\n0.199951 4\n");
}

TEST(Programs, Wmma) {
  const EmuOutput output = expect_output("wmma.cu", "0 and 0 of 6144 elements wrong\n");
  for (const auto& kernel : output.json.at("kernels")) EXPECT_EQ(kernel.at("hazards").size(), 0u);
  // 6 x 4 tiles of C and 5 of K: 8 loads of A and B for each tile of K, and finally 4 of C.
  EXPECT_EQ(counters(output, 0).at("global_load_requests"), 6 * 4 * (5 * 8 + 4));
  // ldmatrix does not take these generic addresses: four loads each for A and B.
  EXPECT_EQ(counters(output, 1).at("shared_load_requests"), 6 * 4 * 5 * 2 * 4);
  // The padding avoids bank conflicts for both.
  EXPECT_EQ(counters(output, 1).at("shared_load_wavefronts"), 6 * 4 * 5 * 2 * 4);
}

TEST(Programs, WmmaTypes) {
  std::string expected;
  for (const char* shape : {"16x16x16", "32x8x16", "8x32x16"}) {
    for (const char* type : {"half", "half to half", "bfloat16", "s8", "u8"}) {
      expected += std::string(type) + " " + shape + ": 0 wrong\n";
    }
  }
  expect_output("wmma_types.cu", expected + "tf32 16x16x8: 0 wrong\ndouble 8x8x4: 0 wrong\n");
}

TEST(Programs, PrintfKeepsTheNewestOutput) {
  expect_output("printf_ring.cu",
                "cudaSuccess 1048576\ncudaSuccess\ncudaSuccess 35\n"
                "line 19997\nline 19998\nline 19999\n"
                "cudaErrorInvalidValue\ncudaErrorInvalidValue\n");
}

TEST(Programs, StaticNames) { expect_output("static_names.cu", "10 12 14 16\n"); }

TEST(Programs, Mathematics) { expect_output("mathematics.cu", "float close, double close\n"); }

TEST(Programs, Cublas) {
  expect_output("cublas.cu", "CUBLAS_STATUS_SUCCESS 22 28 36 44 60\nCUBLAS_STATUS_INVALID_VALUE\n");
}

TEST(Programs, OtherDevices) {
  const EmuOutput output = run_emu("programs/runtime_api.cu", "--gpu t4");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_NE(output.out.find(" 7.5 32 1 1024"), std::string::npos) << output.out;
}

TEST(Programs, WithoutChecksNothingIsCounted) {
  const EmuOutput output =
      expect_output("vector_add.cu", "1000 elements, 0 wrong, timed: yes\n", "--no-check");
  EXPECT_EQ(counters(output, 0).at("global_load_sectors"), 0);
}

TEST(Programs, LinesOfTheSource) {
  const EmuOutput output =
      expect_output("vector_add.cu", "1000 elements, 0 wrong, timed: yes\n", "--lines");
  // The loads and the store of 32 warps are on one line.
  bool is_found = false;
  for (const auto& line : output.json.at("kernels").at(0).at("lines")) {
    if (line.at("global_requests") == 0) continue;
    EXPECT_FALSE(is_found);
    is_found = true;
    EXPECT_EQ(line.at("global_requests"), 96);
    EXPECT_EQ(line.at("global_sectors"), 3 * (31 * 4 + 1));
    EXPECT_NE(line.at("text").get<std::string>().find("c[i] = a[i] + b[i]"), std::string::npos);
    EXPECT_NE(output.err.find(line.at("text")), std::string::npos) << output.err;
  }
  EXPECT_TRUE(is_found);
}

TEST(Programs, LinesAreAsLongAsTheTerminalAllows) {
  const auto longest = [](const char* columns) {
    setenv("COLUMNS", columns, 1);
    const std::string text = run_emu("programs/tiled_matmul.cu", "--lines").err;
    unsetenv("COLUMNS");
    const std::size_t begin = text.find("instructions  ");
    std::size_t most = 0;
    std::istringstream lines(text.substr(begin));
    for (std::string line; std::getline(lines, line);) most = std::max(most, line.size());
    return most;
  };
  EXPECT_EQ(longest("60"), 60u);
  EXPECT_GT(longest("160"), 80u);
}

TEST(Programs, DeviceCodeOfNvcc) {
  const std::filesystem::path nvcc = working_nvcc();
  if (nvcc.empty()) GTEST_SKIP() << "nvcc is not installed";
  const std::string path = std::getenv("PATH");
  setenv("PATH", (nvcc.parent_path().string() + ":" + path).c_str(), 1);
  const EmuOutput output =
      expect_output("wmma.cu", "0 and 0 of 6144 elements wrong\n", "--compiler nvcc");
  // nvcc sees that A and B are in shared memory, and loads each with one ldmatrix.
  EXPECT_EQ(counters(output, 1).at("shared_load_requests"), 6 * 4 * 5 * 2);
  expect_output("static_names.cu", "10 12 14 16\n", "--compiler nvcc -std=c++20");
}

TEST(Programs, TableHasALineForEachKernel) {
  const EmuOutput output = run_emu("programs/reduction.cu");
  EXPECT_NE(output.err.find("\ntree<256u>"), std::string::npos) << output.err;
  EXPECT_NE(output.err.find("\nshuffles"), std::string::npos) << output.err;
}

}  // namespace
}  // namespace rung
