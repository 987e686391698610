// What is refused on a GPU, and how: before anything is launched, or with the driver's own words.

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
  MatrixView<float> c = row_major(on_nothing(), 2, 4);
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
  b = row_major<const float>(nullptr, 3, 4);
  EXPECT_EQ(refused(), invalid("rung: gemm: B is null; it must point to 3 x 4 elements"));
  options.workspace_bytes = 100;
  EXPECT_EQ(refused(), invalid("rung: gemm: the workspace is null; it must point to 100 bytes"));
  options.workspace = reinterpret_cast<void*>(std::uintptr_t{4096 + 16});
  EXPECT_EQ(refused(), invalid("rung: gemm: the workspace is at an address of 16 modulo 256; it "
                               "must be aligned to 256 bytes"));
  EXPECT_TRUE(cuda::driver_calls().empty());
}

TEST_F(CudaError, InvalidPointersShowAtTheNextSynchronisation) {
  vgpu::set_launch_observer({});
  EXPECT_EQ(refused().first, Status::ok);
  EXPECT_EQ(api.cuCtxSynchronize(), cuda::Result::illegal_address);
  // The context is of no use from then on, and the library says what the driver says.
  const auto [status, message] = refused();
  EXPECT_EQ(status, Status::device_error);
  EXPECT_NE(message.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << message;
}

/// A rung with the entry of another and a launch of its own, run on a problem of 1 x 1 x 1.
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
  // 2^32 blocks, which 32 bits would take for none.
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
                               "rung: this build has no code for gemm/cuda/50_skinny on sm_90"));
}

}  // namespace
}  // namespace rung
