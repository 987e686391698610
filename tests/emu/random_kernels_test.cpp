// Random kernels give on the virtual GPU what plain C++ gives, and raise no alarm.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "emu_program.hpp"
#include "random/kernel_generator.hpp"
#include "vgpu/tests/working_nvcc.hpp"

namespace rung {
namespace {

void expect_right(std::uint64_t seed, int kernels, int runs_of_each, const std::string& options,
                  Steps steps = Steps::mixed) {
  const auto path =
      std::filesystem::temp_directory_path() / ("rung_random_" + std::to_string(getpid()) + ".cu");
  std::ofstream(path) << random_kernels(seed, kernels, runs_of_each, steps);
  const EmuOutput output = run_emu(path.string(), options);
  std::filesystem::remove(path);
  EXPECT_EQ(output.exit_code, 0) << "seed " << seed << "\n" << output.err;
  EXPECT_EQ(output.out, std::to_string(kernels * runs_of_each) + " runs, 0 wrong\n")
      << "seed " << seed;
}

// 504 runs.
TEST(RandomKernels, ByClang) { expect_right(1, 36, 14, ""); }

TEST(RandomKernels, ThatPunTypes) { expect_right(3, 12, 14, "", Steps::puns); }

TEST(RandomKernels, ByNvcc) {
  if (working_nvcc().empty()) GTEST_SKIP() << "nvcc is not installed";
  expect_right(2, 10, 14, "--compiler nvcc");
}

}  // namespace
}  // namespace rung
