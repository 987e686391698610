// rung::gemm on device memory: correct for every type and layout, in the caller's stream and
// context.

#include "core/dtype.hpp"
#include "rung/cuda.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <thread>

#include "../public_call.hpp"
#include "backends/cuda/device_matrix.hpp"
#include "backends/cuda/virtual_gpu.hpp"
#include "core/standard_cases.hpp"
#include "core/verify.hpp"
#include "fixture.hpp"

namespace rung {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
using Floats = std::vector<float>;

class CudaGemm : public CudaLibrary {};

class CudaGemmCases : public CudaLibrary,
                      public testing::WithParamInterface<std::tuple<Dtype, Form>> {
 protected:
  std::unique_ptr<cuda::Gpu> gpu() const {
    if (cuda::on_real_gpu()) return std::make_unique<cuda::Gpu>(api, std::nullopt);
    return std::make_unique<cuda::VirtualGpu>(api, std::nullopt, true, nullptr);
  }

  /// Copies the operands of a call to the device, computes there, and copies the result back.
  static void run(cuda::Gpu& gpu, GemmCall call, Form form) {
    const auto in = static_cast<std::int64_t>(input_bytes(call.dtype));
    const auto out = static_cast<std::int64_t>(output_bytes(call.dtype));
    using cuda::DeviceMatrix, cuda::storage_of;
    const DeviceMatrix a(gpu, storage_of(call.a, call.m, call.k, in), call.a.data);
    const DeviceMatrix b(gpu, storage_of(call.b, call.k, call.n, in), call.b.data);
    const DeviceMatrix c(gpu, storage_of(call.c, call.m, call.n, out), call.c.data);
    call.a.data = reinterpret_cast<const void*>(a.data());
    call.b.data = reinterpret_cast<const void*>(b.data());
    call.c.data = reinterpret_cast<void*>(c.data());
    public_gemm(call, form, default_stream);
    c.download();
  }
};

TEST_P(CudaGemmCases, AreRight) {
  const auto [dtype, form] = GetParam();
  const std::unique_ptr<cuda::Gpu> gpu = this->gpu();
  refuse_hazards();
  for (const GemmSpec& spec : standard_gemm_cases(dtype, Effort::quick)) {
    GemmCase problem(spec);
    const Verdict verdict =
        verify(problem, [&](const GemmCall& call) { run(*gpu, call, std::get<1>(GetParam())); });
    EXPECT_TRUE(verdict.right) << verdict.message;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, CudaGemmCases,
                         testing::Combine(testing::ValuesIn(all_dtypes),
                                          testing::Values(Form::row_major_c, Form::col_major_c)),
                         [](const auto& test) {
                           return std::string(identifier(std::get<0>(test.param))) +
                                  (std::get<1>(test.param) == Form::row_major_c ? "_rows"
                                                                                : "_cols");
                         });

TEST_F(CudaGemm, DoesNotReadInputsThatAlphaOfZeroCancels) {
  float* const c = on_device(Floats{1, 2, 3, 4});
  const MatrixView<const float> nothing = row_major<const float>(nullptr, 2, 2);
  gemm(0.0f, nothing, nothing, 3.0f, row_major(c, 2, 2), default_stream);
  EXPECT_EQ(from_device(c, 4), (Floats{3, 6, 9, 12}));
}

TEST_F(CudaGemm, ScalesWhereThereIsNothingToSum) {
  const auto a = row_major<const float>(nullptr, 40, 0);
  const auto b = row_major<const float>(nullptr, 0, 33, 33);
  float* const c = on_device(Floats(40 * 50, 2.0f));
  gemm(1.0f, a, b, -1.0f, row_major(c, 40, 33, 50), default_stream);
  const Floats got = from_device(c, 40 * 50);
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], i % 50 < 33 ? -2.0f : 2.0f) << i;
}

TEST_F(CudaGemm, OverwritesWhatBetaOfZeroMustNotRead) {
  float* const c = on_device(Floats(6, nan));
  const auto none = row_major<const float>(nullptr, 2, 0);
  gemm(1.0f, none, row_major<const float>(nullptr, 0, 3, 3), 0.0f, row_major(c, 2, 3),
       default_stream);
  EXPECT_EQ(from_device(c, 6), Floats(6, 0.0f));
}

TEST_F(CudaGemm, LaunchesNothingWhereNothingChanges) {
  float* const c = on_device(Floats{1, 2, 3, 4});
  const auto any = row_major<const float>(c, 2, 2);
  gemm(0.0f, any, any, 1.0f, row_major(c, 2, 2), default_stream);
  gemm(row_major<const float>(nullptr, 0, 2), any, row_major<float>(nullptr, 0, 2), default_stream);
  EXPECT_TRUE(cuda::driver_calls().empty());
}

TEST_F(CudaGemm, ScalesIntegersModuloTwoToTheThirtyTwo) {
  auto* const c = on_device(std::vector<std::int32_t>{1 << 30, -5});
  const auto a = row_major<const std::int32_t>(nullptr, 1, 0);
  const auto b = row_major<const std::int32_t>(nullptr, 0, 2, 2);
  gemm(1, a, b, 4, row_major(c, 1, 2), default_stream);
  EXPECT_EQ(from_device(c, 2), (std::vector<std::int32_t>{0, -20}));
}

TEST_F(CudaGemm, UsesTheStreamOfTheCaller) {
  const float* const a = on_device(Floats{1, 2, 3, 4});
  float* const c = on_device(Floats(4));
  float* const d = on_device(Floats(4));
  const auto square = [](auto* data) { return row_major(data, 2, 2); };
  const cuda::Stream one = new_stream();
  const cuda::Stream other = new_stream();
  gemm(square(a), square(a), square(c), CudaStream(one));
  EXPECT_EQ(cuda::last_stream(), one);
  gemm(square(a), square(a), square(d), CudaStream(other));
  EXPECT_EQ(cuda::last_stream(), other);
  EXPECT_EQ(from_device(c, 4), (Floats{7, 10, 15, 22}));
  EXPECT_EQ(from_device(d, 4), (Floats{7, 10, 15, 22}));
}

TEST_F(CudaGemm, NeitherAllocatesNorSynchronisesOnceItsKernelIsThere) {
  const float* const a = on_device(Floats{1, 2, 3, 4});
  float* const c = on_device(Floats(4));
  const auto call = [&] {
    gemm(row_major(a, 2, 2), row_major(a, 2, 2), row_major(c, 2, 2), default_stream);
  };
  call();
  cuda::driver_calls().clear();
  call();
  const std::map<std::string, int> expected = {
      {"cuCtxGetCurrent", 1}, {"cuCtxGetId", 1}, {"cuLaunchKernel", 1}};
  EXPECT_EQ(cuda::driver_calls(), expected);
}

TEST_F(CudaGemm, TakesThePrimaryContextWhereNoneIsCurrent) {
  const float* const a = on_device(Floats{1, 2, 3, 4});
  float* const c = on_device(Floats(4));
  std::thread([&] {
    gemm(row_major(a, 2, 2), row_major(a, 2, 2), row_major(c, 2, 2), default_stream);
  }).join();
  EXPECT_EQ(from_device(c, 4), (Floats{7, 10, 15, 22}));
  EXPECT_EQ(api.cuDevicePrimaryCtxRelease(0), cuda::Result::success);  // the library's reference
}

TEST_F(CudaGemm, TellsContextsApart) {
  const auto compute = [&] {
    const float* const a = on_device(Floats{1, 2, 3, 4});
    float* const c = on_device(Floats(4));
    gemm(row_major(a, 2, 2), row_major(a, 2, 2), row_major(c, 2, 2), default_stream);
    EXPECT_EQ(from_device(c, 4), (Floats{7, 10, 15, 22}));
  };
  compute();
  cuda::Context other = nullptr;
  ASSERT_EQ(api.cuCtxCreate(&other, 0, 0), cuda::Result::success);  // also makes it current
  compute();
  ASSERT_EQ(api.cuCtxDestroy(other), cuda::Result::success);
  compute();
  // The handle of the primary context remains valid; the kernels loaded into it do not.
  ASSERT_EQ(api.cuDevicePrimaryCtxReset(0), cuda::Result::success);
  ASSERT_EQ(api.cuDevicePrimaryCtxRetain(&other, 0), cuda::Result::success);
  ASSERT_EQ(other, context);
  compute();
}

TEST_F(CudaGemm, MayBeCalledFromSeveralThreads) {
  const float* const a = on_device(Floats{1, 2, 3, 4});
  std::vector<float*> results;
  for (int i = 0; i < 4; ++i) results.push_back(on_device(Floats(4)));
  std::vector<std::thread> threads;
  for (float* const c : results) {
    threads.emplace_back([&, c, stream = new_stream()] {
      api.cuCtxSetCurrent(context);
      for (int call = 0; call < 3; ++call) {
        gemm(1.0f, row_major(a, 2, 2), row_major(a, 2, 2), 1.0f, row_major(c, 2, 2),
             CudaStream(stream));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const float* const c : results) EXPECT_EQ(from_device(c, 4), (Floats{21, 30, 45, 66}));
}

// Blocks that share a sum use the workspace of their own stream, and no other.
TEST_F(CudaGemm, CallsInSeveralStreamsDoNotMeet) {
  constexpr std::int64_t m = 40, n = 24, k = 8192;
  const std::size_t streams = 4;
  std::vector<Floats> expected;
  std::vector<float*> results;
  std::vector<const float*> inputs;
  const float* const ones = on_device(Floats(k * n, 1.0f));
  for (std::size_t i = 0; i < streams; ++i) {
    inputs.push_back(on_device(Floats(m * k, static_cast<float>(i + 1))));
    results.push_back(on_device(Floats(m * n)));
    expected.emplace_back(m * n, static_cast<float>(k * (i + 1)));
  }
  std::vector<CudaStream> queues;
  for (std::size_t i = 0; i < streams; ++i) queues.emplace_back(new_stream());
  const int rounds = cuda::on_real_gpu() ? 200 : 2;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < streams; ++i) {
      gemm(row_major(inputs[i], m, k), row_major(ones, k, n), row_major(results[i], m, n),
           queues[i]);
    }
  }
  ASSERT_EQ(api.cuCtxSynchronize(), cuda::Result::success);
  for (std::size_t i = 0; i < streams; ++i) EXPECT_EQ(from_device(results[i], m * n), expected[i]);
}

TEST_F(CudaGemm, CanBeCapturedInAGraph) {
  const float* const a = on_device(Floats{1, 2, 3, 4});
  float* const c = on_device(Floats(4));
  const cuda::Stream stream = new_stream();
  const auto add = [&] {
    gemm(1.0f, row_major(a, 2, 2), row_major(a, 2, 2), 1.0f, row_major(c, 2, 2),
         CudaStream(stream));
  };
  add();
  cuda::Graph graph = nullptr;
  cuda::GraphExec exec = nullptr;
  ASSERT_EQ(api.cuStreamBeginCapture(stream, cuda::CaptureMode::global), cuda::Result::success);
  add();
  ASSERT_EQ(api.cuStreamEndCapture(stream, &graph), cuda::Result::success);
  ASSERT_EQ(api.cuGraphInstantiate(&exec, graph, 0), cuda::Result::success);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(api.cuGraphLaunch(exec, stream), cuda::Result::success);
  EXPECT_EQ(from_device(c, 4), (Floats{21, 30, 45, 66}));
}

}  // namespace
}  // namespace rung
