// The rung that multiplies groups, by element type, architecture and mode.

#include <gtest/gtest.h>

#include <string>

#include "select/cuda/select.hpp"

namespace rung {
namespace {

TEST(CudaGroupedChoice, IsByTypeArchitectureAndMode) {
  const auto choice = [](Dtype dtype, int arch, std::int64_t rows = 64,
                         ComputeMode mode = ComputeMode::standard) {
    GemmCall call = {};
    call.dtype = dtype;
    call.m = 4 * rows;
    call.n = call.k = 64;
    call.a.row_stride = call.b.row_stride = call.c.row_stride = 64;
    call.a.col_stride = call.b.col_stride = call.c.col_stride = 1;
    call.b.batch_stride = 64 * 64;
    call.batch = 4;
    call.compute_mode = mode;
    const GroupedCall grouped = {call, {}};
    const auto chosen = choose_cuda_groups(grouped, arch);
    return chosen ? std::string(chosen->id) : "none";
  };
  EXPECT_EQ(choice(Dtype::bf16, 90), "gemm/cuda/grouped");
  EXPECT_EQ(choice(Dtype::bf16, 80), "gemm/cuda/small_mma");
  EXPECT_EQ(choice(Dtype::tf32, 90), "gemm/cuda/grouped");
  EXPECT_EQ(choice(Dtype::tf32, 80), "gemm/cuda/batched_tiles");
  EXPECT_EQ(choice(Dtype::i8, 80), "none");
  EXPECT_EQ(choice(Dtype::f32, 90), "gemm/cuda/batched_tiles");
  EXPECT_EQ(choice(Dtype::f32, 80, 8), "gemm/cuda/small_matrices");
  EXPECT_EQ(choice(Dtype::f64, 90), "gemm/cuda/batched_mma_f64");
  EXPECT_EQ(choice(Dtype::f64, 80), "gemm/cuda/small_matrices");
  EXPECT_EQ(choice(Dtype::f32, 75), "none");
  constexpr ComputeMode invariant = ComputeMode::batch_invariant;
  EXPECT_EQ(choice(Dtype::f32, 90, 64, invariant), "gemm/cuda/batched_tiles");
  EXPECT_EQ(choice(Dtype::bf16, 80, 64, invariant), "none");
  EXPECT_EQ(choice(Dtype::tf32, 80, 64, invariant), "none");
  EXPECT_EQ(choice(Dtype::f64, 90, 64, invariant), "none");
  EXPECT_EQ(choice(Dtype::f32, 90, 64, ComputeMode::reproducible), "none");
  EXPECT_EQ(choice(Dtype::i32, 90, 64, ComputeMode::reproducible), "gemm/cuda/small_matrices");
}

}  // namespace
}  // namespace rung
