// The library's environment disappears: a context, the driver, or the process that opened it.

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.hpp"
#include "product.hpp"

namespace rung {
namespace {

using Refusal = std::pair<Status, std::string>;

class CudaLife : public CudaLibrary {
 protected:
  static Refusal refused() {
    const float* const nothing = nullptr;
    auto* const result = reinterpret_cast<float*>(std::uintptr_t{64});
    return refusal([&] { dot(0, nothing, 1, nothing, 1, result, default_stream); });
  }
};

TEST_F(CudaLife, AChildOfForkIsToldSo) {
  cuda::Product<float, float> product(api, {5, 6, 7});
  product.run(default_stream);
  const pid_t child = fork();
  if (child == 0) {
    alarm(300);  // ends a child that hangs
    const Refusal expected = {Status::unavailable,
                              "rung: the CUDA driver cannot be used in a child of fork() where the "
                              "parent has used it; start a new program in the child"};
    const bool is_clear = refused() == expected &&
                          refusal([] { release_cuda_workspace(default_stream); }) == expected;
    _exit(is_clear ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  product.poison();
  product.run(default_stream);
  EXPECT_TRUE(product.is_right());
}

TEST_F(CudaLife, ADriverThatHasShutDownIsNamed) {
  // Not even cuGetErrorName works then.
  static cuda::DriverApi gone = cuda::tested_driver();
  gone.cuCtxGetCurrent = [](cuda::Context*) { return cuda::Result::deinitialized; };
  gone.cuGetErrorName = [](cuda::Result, const char**) { return cuda::Result::deinitialized; };
  static const cuda::Driver driver{.api = &gone, .takes_cubin = false};
  cuda::use_driver(&driver);
  const Refusal expected = {
      Status::device_error,
      "rung: cuCtxGetCurrent: CUDA_ERROR_DEINITIALIZED (driver shutting down)"};
  EXPECT_EQ(refused(), expected);
  EXPECT_EQ(refusal([] { release_cuda_workspace(default_stream); }), expected);
}

TEST_F(CudaLife, ADestroyedContextIsAnError) {
  cuda::Context other = nullptr;
  ASSERT_EQ(api.cuDevicePrimaryCtxReset(0), cuda::Result::success);
  EXPECT_EQ(refused(), Refusal(Status::device_error,
                               "rung: cuCtxGetId: CUDA_ERROR_CONTEXT_IS_DESTROYED (context is "
                               "destroyed)"));
  ASSERT_EQ(api.cuDevicePrimaryCtxRetain(&other, 0), cuda::Result::success);
  cuda::Product<float, float> product(api, {5, 6, 7});
  product.run(default_stream);
  EXPECT_TRUE(product.is_right());
}

// State kept for a context is released when another context has its handle.
TEST_F(CudaLife, ResetsDoNotGrow) {
  const auto reset_and_call = [&] {
    ASSERT_EQ(api.cuDevicePrimaryCtxReset(0), cuda::Result::success);
    ASSERT_EQ(api.cuDevicePrimaryCtxRetain(&context, 0), cuda::Result::success);
    release_cuda_workspace(default_stream);
  };
  for (int i = 0; i < 5; ++i) reset_and_call();
  const std::size_t before = mallinfo2().uordblks;
  constexpr int resets = 50;
  for (int i = 0; i < resets; ++i) reset_and_call();
  EXPECT_LT(mallinfo2().uordblks, before + resets * sizeof(cuda::Function) * 1000);
}

TEST_F(CudaLife, ManyCallsDoNotGrow) {
  cuda::Product<float, float> product(api, {2, 2, 2});
  const cuda::DotProduct<float, float> sum(api, 10);
  const auto call = [&] {
    product.run(default_stream);
    EXPECT_EQ(sum.returned(default_stream), sum.expected());
  };
  for (int i = 0; i < 100; ++i) call();
  const std::size_t before = mallinfo2().uordblks;
  std::size_t free = 0, free_after = 0, total = 0;
  ASSERT_EQ(api.cuMemGetInfo(&free, &total), cuda::Result::success);
  constexpr int more = 500;
  for (int i = 0; i < more; ++i) call();
  ASSERT_EQ(api.cuMemGetInfo(&free_after, &total), cuda::Result::success);
  EXPECT_EQ(free_after, free);
  EXPECT_LT(mallinfo2().uordblks, before + more * 8);
}

}  // namespace
}  // namespace rung
