// Features that public programs use, each in a small program of its own.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "emu_program.hpp"

namespace rung {
namespace {

TEST(PublicNames, OfTheVendorsHeaders) {
  expect_output("vendor_names.cu",
                "1 1 1 1 1 32\n15 11 9 1 26 1 15\n0 4 4\n-5 10 3.14159 0.5\n"
                "cudaErrorInvalidTexture cudaErrorMpsConnectionFailed\n1 1\n");
}

TEST(PublicNames, TexturesAndSurfaces) {
  expect_output("textures.cu", "cudaSuccess\n256 389 256 0 256 0.2 44 0 5 5 0 266 788\n");
}

TEST(PublicNames, GraphsOfNodesAndMemoryPools) {
  expect_output("graphs_and_pools.cu", "3 1 12 105\n1 0 called\n");
}

TEST(PublicNames, CooperativeGroups) {
  expect_output("groups.cu", "2016 120 27 1113 6462 27 cudaSuccess 8 0\n");
}

TEST(PublicNames, RandomNumbers) {
  expect_output("random_numbers.cu",
                "xorwow 411501066 840616207 2247987386 2523967428 733451708 0.187731 -0.6824 "
                "0.414507\n"
                "philox 2453807473 3335834180 3360888980 2130046543 3153783959 0.048260 -0.2356 "
                "0.797445\n"
                "mrg32k3a 448969396 2689581677 1036290624 1188854005 2691936565 0.099200 0.8300 "
                "0.648438\n1 1 1\n");
}

TEST(PublicNames, RandomNumbersByFours) {
  expect_output("random_fours.cu",
                "0.74723 0.72617 1.41192 1.35508 3.57841 3.61790 0.56999 0.51284 1\n");
}

TEST(PublicNames, DriverApi) {
  expect_output("driver_api.cu", "0 0 42 9.0 CUDA_ERROR_NOT_FOUND 1\n");
}

TEST(PublicNames, SmallFloats) {
  expect_output("small_floats.cu", "1 0 1 -32 4 31743 31744 101 ffff 1 10 0 \n");
}

TEST(PublicNames, CublasCalls) {
  expect_output("cublas_calls.cu",
                "6 6 42 24\n5 36 7\n23 34 17 39\n7 22 67 106\nCUBLAS_STATUS_SUCCESS 0 110 7 122\n");
}

TEST(PublicNames, CallsByTheCallStack) { expect_output("call_stack.cu", "cudaSuccess 0 wrong\n"); }

TEST(PublicNames, SimdInAWord) {
  expect_output("simd_in_word.cu",
                "800101fe 80fffd00 800101fe 8001fffe 7ffffd00 8001fd00 c00000ff 4001817f 4000807f "
                "0001027f\n"
                "0001027f 7fff0081 00fffe81 0000017e 00008301 00000000 00000000 ffffffff 8000017f "
                "7fff0081\n");
}

TEST(PublicNames, SeveralDevices) {
  expect_output("devices.cu",
                "2 1 0 1\n1 1 cudaSuccess cudaErrorPeerAccessAlreadyEnabled "
                "cudaErrorInvalidDevice\n200 400 600 800\n",
                "--devices 2");
  const EmuOutput output = run_emu("programs/devices.cu", "--devices 17");
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_NE(output.err.find("--devices"), std::string::npos) << output.err;
}

TEST(PublicNames, Cufft) {
  if (void* const library = dlopen("libfftw3.so.3", RTLD_NOW)) {
    dlclose(library);
  } else {
    GTEST_SKIP() << "libfftw3.so.3 is not installed";
  }
  expect_output("cufft.cu", "0\nclose, sum 83, impulses 8 0 0 8\n3 1\n");
  expect_output("cufft_xt.cu",
                "0 36 -4.0000 9.6569\n0 far, 1\nin place 0 wrong\n0 36, 0 1, 1 1 1\n");
}

TEST(PublicNames, Cusparse) {
  expect_output("cusparse.cu",
                "24 32 116 \n488 96 628 696 \n1 2 0 3 4 11 \n0 2 3 5 \n0 2 1 0 2 \n"
                "5 14 9 14 77 \n1 2 1 \n"
                "CUSPARSE_STATUS_INVALID_VALUE CUSPARSE_STATUS_NOT_INITIALIZED\n"
                "CUSPARSE_STATUS_INVALID_VALUE CUSPARSE_STATUS_INVALID_VALUE\n");
}

TEST(PublicNames, CusparseByTypes) {
  expect_output("cusparse_conversions.cu",
                "0 0 1 2 2 \n1 3 0 1 2 \n4 1 2 3 0 \n0 2 3 5 \n0 0 1 2 2 \n"
                "0 1 3 4 5 \n1 0 2 2 0 \n3 1 4 5 2 \n"
                "0 2 4 6 \n1 3 0 2 1 2 \n2 4 16 10 8 10 \n1 2 3 1 2 3 \n3 4 5, 1 1\n"
                "3 3 3 3, 3 3, 3 3 3, 1, 0 0 0 0\n0 2 4 6 \n0 0 0 0 \n");
}

// The hash is that of the same program with the headers of CUDA 13.0.
TEST(PublicNames, NumbersOfEightBits) {
  expect_output("fp8.cu", "1821224 99817770d84e4adb, 0 wrong\n");
}

// So is this hash.
TEST(PublicNames, NumbersOfFourAndSixBits) {
  expect_output("tiny_floats.cu", "e73339ecdd12174e\n0 wrong\n");
}

TEST(PublicNames, FunctionsSinceCuda128) {
  expect_output("later_functions.cu", "5 96 9 7\n6 8, 8 15, 10 18\n0 1\n", "-arch=sm_100a");
}

TEST(PublicNames, KernelsLaunchKernels) {
  const EmuOutput output = run_emu("programs/device_launches.cu");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_EQ(output.out, "passed\n");
  // parent, fill, twice<8> to twice<1>, last, count_levels eleven times, count_tails 1001 times, allocate
  // and sum_and_free.
  EXPECT_EQ(output.json.at("kernels").size(), 1 + 1 + 4 + 1 + 11 + 1001 + 2u);
}

TEST(PublicNames, CublasInACapture) {
  expect_output("cublas_capture.cu", "0\n0\n1 0\n2: 64 80 120 176\n4: 368 480 720 1056\n");
}

TEST(PublicNames, TilesOfSeveralWarps) { expect_output("wide_tiles.cu", "cudaSuccess 0\n"); }

TEST(PublicNames, PaddingOfUndefinedValues) {
  expect_output("undefined_padding.cu", "0 126 198\n0 49\n");
  const EmuOutput used = run_emu("programs/undefined_padding.cu", "", "use");
  EXPECT_EQ(used.exit_code, 1);
  EXPECT_NE(used.err.find("uninitialised read: read by thread (0,0,0) of block (1,0,0) at "
                          "undefined_padding.cu:13"),
            std::string::npos)
      << used.err;
  EXPECT_NE(used.err.find("uninitialised read: use by thread (50,0,0) of block (0,0,0) at "
                          "undefined_padding.cu:27"),
            std::string::npos)
      << used.err;
}

TEST(PublicNames, Nvrtc) {
  expect_output("nvrtc.cu", "NVRTC_SUCCESS\n_Z3addIiEvPT_S0_ 114 117\nNVRTC_ERROR_COMPILATION 1\n");
}

TEST(PublicNames, LaunchesThatAreSkipped) {
  const EmuOutput output = run_emu("programs/repeated_launches.cu", "--launches 2");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_EQ(output.out, "2 1\n");
  EXPECT_EQ(output.json.at("kernels").size(), 3u);
  EXPECT_EQ(output.json.at("skipped").dump(),
            R"([{"kernel":"add","ran":2,"skipped":3,"left":"run"}])");
  EXPECT_NE(output.err.find("add: 3 launches skipped after 2 (--launches): results that need them"),
            std::string::npos)
      << output.err;
  EXPECT_EQ(run_emu("programs/repeated_launches.cu").out, "5 1\n");
  EXPECT_EQ(run_emu("programs/repeated_launches.cu", "--launches 0").exit_code, 2);
}

// Two runs show that a launch changes nothing: of each data and constant.
TEST(PublicNames, LaunchesThatRepeatOneThatChangedNothing) {
  const EmuOutput output = run_emu("programs/timing_loop.cu");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_EQ(output.out, "12 12\n");
  EXPECT_EQ(output.json.at("skipped").dump(),
            R"([{"kernel":"weigh","ran":6,"skipped":14,"left":"repeated run"}])");
  const auto& kernels = output.json.at("kernels");
  ASSERT_EQ(kernels.size(), 20u);
  for (const auto& kernel : kernels) {
    EXPECT_EQ(kernel.at("counters").dump(), kernels.at(0).at("counters").dump());
  }
  EXPECT_NE(output.err.find("weigh: of 20 launches, 14 repeated one that changed nothing"),
            std::string::npos)
      << output.err;
  const EmuOutput adds = run_emu("programs/timing_loop.cu", "-DADDS");
  EXPECT_EQ(adds.out, "20 20\n");
  EXPECT_EQ(adds.json.at("skipped").dump(), "[]");
}

TEST(PublicNames, RepeatedLaunchesRunUncheckedInCi) {
  const EmuOutput output = run_emu("programs/timing_loop.cu", "-DADDS --ci");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  EXPECT_EQ(output.out, "20 20\n");
  EXPECT_EQ(output.json.at("skipped").dump(),
            R"([{"kernel":"weigh","ran":3,"skipped":17,"left":"checks"}])");
  EXPECT_NE(output.err.find("weigh: 17 launches ran without checks and counters after 3 "),
            std::string::npos)
      << output.err;
}

TEST(PublicNames, GridConstantsAreNotCopied) {
  const EmuOutput output = run_emu("programs/grid_constant.cu");
  EXPECT_EQ(output.out, "1521\n") << output.err;
  const auto& kernels = output.json.at("kernels");
  EXPECT_NE(kernels.at(0).at("counters").at("local_store_requests"), 0);
  EXPECT_EQ(kernels.at(1).at("counters").at("local_store_requests"), 0);
}

TEST(PublicNames, CurandBringsTheRuntime) { expect_output("curand_alone.cpp", "0 0\n"); }

TEST(PublicNames, SeveralFilesWithRelocatableDeviceCode) {
  expect_output("several_files/main.cu", "157 19 cudaSuccess\n",
                "-rdc=true -D A -I" RUNG_EMU_PROGRAMS " " RUNG_EMU_PROGRAMS
                "/programs/several_files/device_part.cu " RUNG_EMU_PROGRAMS
                "/programs/several_files/host_part.cpp");
}

TEST(PublicNames, ADefinitionThatNoFileHasIsNamed) {
  const EmuOutput output =
      run_emu("programs/several_files/main.cu",
              "-rdc=true " RUNG_EMU_PROGRAMS "/programs/several_files/host_part.cpp");
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_NE(output.err.find("device code calls twice"), std::string::npos) << output.err;
}

}  // namespace
}  // namespace rung
