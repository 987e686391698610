// Programs that call CUDA's libraries, and what few programs call of the driver and runtime API.

#include <gtest/gtest.h>

#include "emu_program.hpp"

namespace rung {
namespace {

TEST(Libraries, BlasLevels) {
  expect_output(
      "blas_levels.cu",
      "-5 11, 5.0000, 13, 3\n5 0.60 0.80, 1: 0.5333 0.8000\n2 12 4 16, 0.5 0.25\n0 wrong, 7\n");
}

TEST(Libraries, EigenvaluesAndSingularValues) {
  expect_output("cusolver_spectral.cu",
                "1.000000 3.000000 0.000000\n0 6.7082 0.0000 1 1\n3 5 2 7\n");
}

TEST(Libraries, ReadNoOperandWithoutPart) { expect_output("cublas_unread.cu", "0 wrong, 1\n"); }

TEST(Libraries, RefuseUnknownValues) { expect_output("library_enumerations.cu", "0 accepted\n"); }

// Mapped twice: not supported. Freed while something is mapped there: invalid.
TEST(Libraries, MemoryLinkerAndArraysOfTheDriver) {
  expect_output("driver_memory.cu",
                "7 0 ''\n2 5 801 3 1 0 0 1\n5 6 9 10, 2 1\n1 65536 801 0 801\n");
}

TEST(Libraries, ChangedNodesOfGraphs) {
  expect_output("graph_changes.cu",
                "6 9, 1, 1\n107 407, 11, 16 1\n8 11, 4 1 1 1 cudaErrorNotSupported\n1 1, 1 4\n");
}

TEST(Libraries, ConditionalNodesOfGraphs) {
  expect_output("graph_conditions.cu", "1 2 2 2 9 \n3 9 \n1 2 9 \n1 4 4 9 \n1 1 801 13 1\n");
}

}  // namespace
}  // namespace rung
