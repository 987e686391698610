// Programs that call CUDA's libraries.

#include <gtest/gtest.h>

#include "emu_program.hpp"

namespace rung::emu {
namespace {

TEST(Libraries, BlasLevels) {
  expect_output("blas_levels.cu",
                "-5 11, 5.0000, 13, 3\n5 0.60 0.80, 1: 0.5333 0.8000\n0 wrong, 7\n");
}

}  // namespace
}  // namespace rung::emu
