// Calls that are refused on a GPU: before any launch, or with the driver's message.

#include <gtest/gtest.h>

#include "fixture.hpp"
#include "library/cuda/launch.hpp"

namespace rung {
namespace {

using Refusal = std::pair<Status, std::string>;

class CudaError : public CudaLibrary {
 protected:
  MatrixView<const float> a = row_major<const float>(on_nothing(), 2, 3);
  MatrixView<const float> b = row_major<const float>(on_nothing(), 3, 4);
  MatrixView<float> c = row_major(on_nothing() + 64, 2, 4);
  CudaOptions options;

  static float* on_nothing() { return reinterpret_cast<float*>(64); }

  Refusal refused() {
    return refusal([&] { gemm(1.0f, a, b, 0.0f, c, default_stream, options); });
  }
};

TEST_F(CudaError, WrongArgumentsReachNoDriver) {
  const auto invalid = [](const char* message) {
    return Refusal(Status::invalid_argument, message);
  };
  b.ld = 3;
  EXPECT_EQ(refused(),
            invalid("rung: gemm: B: the leading dimension is 3; it must be at least 4, the columns "
                    "(row-major)"));
  b = row_major<const float>(on_nothing(), 2, 4);
  EXPECT_EQ(refused(),
            invalid("rung: gemm: A is 2 x 3, B is 2 x 4, C is 2 x 4; they must be m x k, "
                    "k x n and m x n"));
  b = row_major<const float>(on_nothing(), 3, 4);
  a.data = reinterpret_cast<const float*>(std::uintptr_t{66});
  EXPECT_EQ(refused(), invalid("rung: gemm: an operand begins at an address of 2 modulo 4; it must "
                               "be aligned to its elements of 4 bytes"));
  a.data = on_nothing();
  b = row_major<const float>(nullptr, 3, 4);
  EXPECT_EQ(refused(), invalid("rung: gemm: B is null; it must point to 3 x 4 elements"));
  options.workspace_bytes = 100;
  EXPECT_EQ(refused(), invalid("rung: gemm: the workspace is null; it must point to 100 bytes"));
  options.workspace = reinterpret_cast<void*>(std::uintptr_t{4096 + 16});
  EXPECT_EQ(refused(), invalid("rung: gemm: the workspace is at an address of 16 modulo 256; it "
                               "must be aligned to 256 bytes"));
  EXPECT_TRUE(cuda::driver_calls().empty());
}

TEST_F(CudaError, OverlapReachesNoDriver) {
  const Refusal overlap = {Status::invalid_argument,
                           "rung: gemm: C overlaps A or B; it must have memory of its own"};
  for (const int from : {-7, 0, 11}) {
    c = row_major(on_nothing() + from, 2, 4);
    EXPECT_EQ(refused(), overlap);
  }
  EXPECT_EQ(refusal([&] {
              gemm_epilogue(1, a, b, 0, row_major(on_nothing() + 64, 2, 4),
                            {.column_bias = {on_nothing() + 70, ElementType::f32, 4}},
                            default_stream);
            }).second,
            "rung: gemm_epilogue: C overlaps column_bias; it must have memory of its own");
  EXPECT_EQ(refusal([&] {
              gemm_batched(1, strided(a, 2, 6), strided(b, 2, 12), 0, strided(c, 2, 8),
                           default_stream);
            }).second,
            "rung: gemm_batched: C overlaps A or B; it must have memory of its own");
  EXPECT_TRUE(cuda::driver_calls().empty());
}

TEST_F(CudaError, InvalidPointersShowAtTheNextSynchronisation) {
  vgpu::set_launch_observer({});
  EXPECT_EQ(refused().first, Status::ok);
  EXPECT_EQ(api.cuCtxSynchronize(), cuda::Result::illegal_address);
  // The context is unusable from then on, and the library returns the driver's error.
  const auto [status, message] = refused();
  EXPECT_EQ(status, Status::device_error);
  EXPECT_NE(message.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << message;
}

/// Runs a rung with the entry of another and its own launch on a problem of 1 x 1 x 1.
void run(cuda::GemmLaunch<float, float> launch) {
  const cuda::GemmRung rung = {.entry = "gemm_cuda_00_naive", .launches = {launch}, .tiles = {}};
  const GemmCall problem = {Dtype::f32,     1, 1, 1, 1, {nullptr, 1, 1}, {nullptr, 1, 1}, 0,
                            {nullptr, 1, 1}};
  cuda::launch_gemm({cuda::current_context(), nullptr, nullptr, 0},
                    {0, "gemm/cuda/00_naive", &rung}, problem, 1);
}

TEST_F(CudaError, LaunchesThatAreRefusedNameTheRung) {
  const Refusal refused = {Status::device_error,
                           "rung: gemm/cuda/00_naive: CUDA_ERROR_INVALID_VALUE (invalid "
                           "argument)"};
  EXPECT_EQ(refusal([] {
              run([](const Gemm<float>&, const cuda::GemmConfig&) -> cuda::Launch {
                return {{1}, {2048}};
              });
            }),
            refused);
  // 2^32 blocks, which would be 0 in 32 bits.
  EXPECT_EQ(refusal([] {
              run([](const Gemm<float>&, const cuda::GemmConfig&) -> cuda::Launch {
                return {{std::int64_t{1} << 32}, {32}};
              });
            }),
            refused);
}

TEST_F(CudaError, MoreSharedMemoryThanThereIsIsRefused) {
  const auto [status, message] = refusal([] {
    run([](const Gemm<float>&, const cuda::GemmConfig&) -> cuda::Launch {
      return {.grid = {1}, .block = {32}, .shared_bytes = 1 << 20};
    });
  });
  EXPECT_EQ(status, Status::device_error);
  EXPECT_EQ(message.find("rung: gemm/cuda/00_naive: CUDA_ERROR_INVALID_VALUE"), 0u) << message;
}

TEST_F(CudaError, AKernelThatIsNotThereIsSaidToBeMissing) {
  if (cuda::on_real_gpu()) GTEST_SKIP() << "the GPU takes machine code";
  static const cuda::Driver cubin_alone{
      .api = &api, .takes_cubin = false, .wanted = cuda::Code::cubin};
  cuda::use_driver(&cubin_alone);
  EXPECT_EQ(refused(), Refusal(Status::unavailable,
                               "rung: this build has no code for gemm/cuda/skinny on sm_90"));
}

}  // namespace
}  // namespace rung
