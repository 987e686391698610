// rung::dot on device memory: correct for every type, mode and increment, with the bits that each
// mode promises, in the caller's stream and context.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <thread>

#include "../public_call.hpp"
#include "backends/cuda/dot_operands.hpp"
#include "backends/cuda/virtual_gpu.hpp"
#include "core/ill_conditioned.hpp"
#include "core/standard_cases.hpp"
#include "core/verify.hpp"
#include "device/cuda/entry/launch.hpp"
#include "fixture.hpp"
#include "library/cuda/launch_dot.hpp"
#include "rung/cuda.hpp"
#include "rung/rung.h"
#include "select/cuda/tables.hpp"

namespace rung {
namespace {

using Floats = std::vector<float>;
constexpr DotMode modes[] = {DotMode::fast, DotMode::deterministic, DotMode::compensated,
                             DotMode::reproducible};

class CudaDot : public CudaLibrary {
 protected:
  /// The result of a call on the device.
  template <class In, class Out = decltype(dot(std::vector<In>(), std::vector<In>()))>
  Out on_gpu(const std::vector<In>& x, const std::vector<In>& y, DotMode mode,
             cuda::Stream stream = nullptr) {
    Out* const result = on_device(std::vector<Out>{-1});
    dot(std::ssize(x), on_device(x), 1, on_device(y), 1, result, CudaStream(stream),
        {.mode = mode});
    return from_device(result, 1).front();
  }
};

class CudaDotCases : public CudaDot,
                     public testing::WithParamInterface<std::tuple<Dtype, DotMode>> {
 protected:
  static double run(cuda::Gpu& gpu, const DotCall& call, DotMode mode) {
    return visit_dot(call.dtype, [&]<class In, class Out>(Elements<In, Out>) -> double {
      if constexpr (std::is_integral_v<In>) {
        throw std::invalid_argument("dot has no i32");
      } else {
        Out sum = -1;
        const cuda::DotOperands operands(gpu, call, &sum);
        DotCall on_device = call;
        on_device.x = operands.x();
        on_device.y = operands.y();
        const auto lowest = [&](const void* first, std::int64_t increment) {
          const auto* const element = static_cast<const In*>(first);
          return increment < 0 && call.n > 0 ? element + (call.n - 1) * increment : element;
        };
        dot(call.n, lowest(operands.x(), call.incx), call.incx, lowest(operands.y(), call.incy),
            call.incy, static_cast<Out*>(operands.result().data()), default_stream, {.mode = mode});
        operands.download();
        return static_cast<double>(sum);
      }
    });
  }
};

TEST_P(CudaDotCases, AreRight) {
  const auto [dtype, mode] = GetParam();
  cuda::VirtualGpu gpu(api, std::nullopt, true, {});
  refuse_hazards();
  const Accuracy accuracy = mode == DotMode::compensated    ? Accuracy::compensated
                            : mode == DotMode::reproducible ? Accuracy::exact
                                                            : Accuracy::plain;
  for (const DotSpec& spec : standard_dot_cases(dtype, accuracy, Effort::quick)) {
    DotCase problem(spec);
    const Verdict verdict = verify(
        problem, [&](const DotCall& call) { return run(gpu, call, std::get<1>(GetParam())); });
    EXPECT_TRUE(verdict.right) << verdict.message;
  }
}

std::string dtype_and_mode(const testing::TestParamInfo<CudaDotCases::ParamType>& instance) {
  constexpr std::string_view names[] = {"fast", "deterministic", "compensated", "reproducible"};
  const auto [dtype, mode] = instance.param;
  return std::string(name(dtype)).append("_").append(names[static_cast<int>(mode)]);
}

INSTANTIATE_TEST_SUITE_P(
    Virtual, CudaDotCases,
    testing::Combine(testing::Values(Dtype::f32, Dtype::f64, Dtype::bf16, Dtype::f16),
                     testing::Values(DotMode::deterministic, DotMode::compensated,
                                     DotMode::reproducible)),
    dtype_and_mode);

template <class T>
std::vector<T> random_vector(std::int64_t n, std::uint64_t seed) {
  std::vector<T> values(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) values[i] = random_element<T>(Values::reals, seed, i);
  return values;
}

template <class T>
auto bits(T value) {
  return std::bit_cast<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>(value);
}

/// A launch of the reproducible rung with `blocks` blocks.
template <int blocks, class In, class Out>
cuda::DotLaunch on_blocks(const Dot<In>&, int) {
  return {{.grid = {blocks}, .block = {256}, .workspace_bytes = cuda::semaphores_bytes}};
}

class CudaReproducibleDot : public CudaDot {
 protected:
  static constexpr DotOptions on_cpu = {.mode = DotMode::reproducible};

  template <class T>
  void expect_bits_of_cpu(const std::vector<T>& x, const std::vector<T>& y) {
    const auto expected = bits(dot(x, y, on_cpu));
    EXPECT_EQ(bits(on_gpu(x, y, DotMode::reproducible)), expected);
    expect_bits_on_blocks<1>(x, y, expected);
    expect_bits_on_blocks<2>(x, y, expected);
    expect_bits_on_blocks<7>(x, y, expected);
  }

  template <class T>
  void expect_bits_of_random_vectors() {
    for (const std::int64_t n : {1, 7, 257, 5003}) {
      expect_bits_of_cpu(random_vector<T>(n, 1), random_vector<T>(n, 2));
    }
  }

 private:
  template <int blocks, class T, class Bits>
  void expect_bits_on_blocks(const std::vector<T>& x, const std::vector<T>& y, Bits expected) {
    using Out = decltype(dot(x, y));
    static const cuda::DotRung rung = {
        "dot_cuda_reproducible",
        {on_blocks<blocks, float, float>, on_blocks<blocks, double, double>, nullptr,
         on_blocks<blocks, bfloat16, float>, on_blocks<blocks, float16, float>}};
    Out* const result = on_device(std::vector<Out>{-1});
    const CudaDotChoice choice = {static_cast<std::size_t>(cuda::DotRungIndex::dot_reproducible),
                                  "dot/cuda/reproducible", &rung};
    const Dot<T> problem = {std::ssize(x), on_device(x), 1, on_device(y), 1};
    cuda::launch_dot({cuda::current_context(), nullptr, nullptr, 0}, choice, problem, result);
    EXPECT_EQ(bits(from_device(result, 1).front()), expected) << x.size() << " on " << blocks;
  }
};

TEST_F(CudaReproducibleDot, HasTheBitsOfTheCpuOnAnyGrid) {
  expect_bits_of_random_vectors<float>();
  expect_bits_of_random_vectors<double>();
  expect_bits_of_random_vectors<bfloat16>();
  expect_bits_of_random_vectors<float16>();
}

TEST_F(CudaReproducibleDot, HasTheBitsOfTheCpuWhereIllConditioned) {
  for (const double condition : {1e8, 1e16}) {
    std::vector<float> x(1000), y(1000);
    make_ill_conditioned<float>(x, y, condition, 1);
    expect_bits_of_cpu(x, y);
  }
  for (const double condition : {1e16, 1e50, 1e150}) {
    std::vector<double> x(1000), y(1000);
    make_ill_conditioned<double>(x, y, condition, 2);
    expect_bits_of_cpu(x, y);
  }
}

TEST_F(CudaReproducibleDot, HasTheBitsOfTheCpuWhateverTheExponents) {
  auto x = random_vector<double>(2000, 1), y = random_vector<double>(2000, 2);
  auto u = random_vector<float>(2000, 3), v = random_vector<float>(2000, 4);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = std::ldexp(x[i], static_cast<int>(random_below(2000, 5, i)) - 1050);
    y[i] = i % 5 == 0 ? 0 : std::ldexp(y[i], static_cast<int>(random_below(2000, 6, i)) - 1050);
    u[i] = std::ldexp(u[i], static_cast<int>(random_below(250, 7, i)) - 149);
    v[i] = std::ldexp(v[i], static_cast<int>(random_below(250, 8, i)) - 149);
  }
  expect_bits_of_cpu(x, y);
  expect_bits_of_cpu(u, v);
}

TEST_F(CudaReproducibleDot, InfinityAndNanAreThoseOfIeee) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto& [first, second] : std::vector<std::pair<float, float>>{
           {infinity, 1}, {-infinity, -infinity}, {infinity, -infinity}, {-nan, infinity}}) {
    auto x = random_vector<float>(1000, 1);
    x[77] = first;
    x[900] = second;
    expect_bits_of_cpu(x, Floats(1000, 1));
    std::vector<double> wide(x.begin(), x.end());
    expect_bits_of_cpu(wide, std::vector<double>(1000, 1));
  }
  // An infinity times 0, the value that also pads the end of a vector.
  EXPECT_TRUE(std::isnan(on_gpu<double>({1, 0}, {1, infinity}, DotMode::reproducible)));
  EXPECT_EQ(on_gpu<double>({1e300, -2}, {1e300, 1}, DotMode::reproducible), infinity);
  EXPECT_EQ(on_gpu<double>({1e300, 3, -1e300}, {1e300, 5, 1e300}, DotMode::reproducible), 15);
}

TEST_F(CudaDot, BitsAreTheSameFromCallToCall) {
  const auto x = random_vector<float>(50'001, 1), y = random_vector<float>(50'001, 2);
  for (const DotMode mode : {DotMode::deterministic, DotMode::compensated}) {
    const float first = on_gpu(x, y, mode);
    for (int call = 0; call < 3; ++call) EXPECT_EQ(on_gpu(x, y, mode, new_stream()), first);
  }
}

TEST_F(CudaDot, GivesTheResultToTheHost) {
  const double* const x = on_device(std::vector<double>{1, 2, 3, 4});
  for (const DotMode mode : modes) {
    EXPECT_EQ(dot(2, x, 2, x + 2, -1, default_stream, {.mode = mode}), 13);
  }
  const auto y = random_vector<float>(20'000, 1);
  EXPECT_EQ(dot(20'000, on_device(y), 1, on_device(y), 1, CudaStream(new_stream())),
            on_gpu(y, y, DotMode::deterministic));
}

TEST_F(CudaDot, OfNothingIsZero) {
  const float16* const nothing = nullptr;
  for (const DotMode mode : modes) {
    float* const result = on_device(Floats{-1});
    dot(0, nothing, 0, nothing, 0, result, default_stream, {.mode = mode});
    EXPECT_EQ(from_device(result, 1), Floats{0});
    EXPECT_EQ(dot(0, nothing, -1, nothing, 1, default_stream, {.mode = mode}), 0.0f);
  }
}

TEST_F(CudaDot, NeitherAllocatesNorSynchronisesOnceItsKernelIsThere) {
  const auto x = random_vector<float>(100'000, 1);
  const float* const on_gpu = on_device(x);
  float* const result = on_device(Floats(1));
  const cuda::Stream stream = new_stream();
  for (const DotMode mode : modes) {
    const auto call = [&] {
      dot(100'000, on_gpu, 1, on_gpu, 1, result, CudaStream(stream), {.mode = mode});
    };
    call();
    cuda::driver_calls().clear();
    call();
    // The last two calls locate the workspace.
    const std::map<std::string, int> expected = {{"cuCtxGetCurrent", 1},
                                                 {"cuCtxGetId", 1},
                                                 {"cuStreamGetCaptureInfo", 1},
                                                 {"cuStreamGetId", 1},
                                                 {"cuLaunchKernel", 1}};
    EXPECT_EQ(cuda::driver_calls(), expected);
    EXPECT_EQ(cuda::last_stream(), stream);
  }
}

TEST_F(CudaDot, WaitsOnceForAResultOnTheHost) {
  const float* const x = on_device(Floats{1, 2, 3});
  EXPECT_EQ(dot(3, x, 1, x, 1, default_stream), 14);
  cuda::driver_calls().clear();
  EXPECT_EQ(dot(3, x, 1, x, 1, default_stream), 14);
  const std::map<std::string, int> expected = {
      {"cuCtxGetCurrent", 1},        {"cuCtxGetId", 1},
      {"cuStreamGetCaptureInfo", 2}, {"cuStreamGetId", 1},
      {"cuLaunchKernel", 1},         {"cuMemcpyDtoHAsync", 1},
      {"cuStreamSynchronize", 1},    {"cuThreadExchangeStreamCaptureMode", 4}};
  EXPECT_EQ(cuda::driver_calls(), expected);
}

TEST_F(CudaDot, TakesTheCallersWorkspace) {
  const auto x = random_vector<float>(100'000, 1);
  const float* const on_gpu = on_device(x);
  void* const workspace = on_device(std::vector<char>(1 << 20));
  cuda::driver_calls().clear();
  for (const DotMode mode : modes) {
    const CudaDotOptions own = {.mode = mode}, given = {mode, workspace, 1 << 20};
    const float expected = dot(100'000, on_gpu, 1, on_gpu, 1, default_stream, given);
    EXPECT_EQ(cuda::driver_calls()["cuMemAlloc"], 0);
    EXPECT_EQ(dot(100'000, on_gpu, 1, on_gpu, 1, default_stream, own), expected);
    cuda::driver_calls().clear();
    release_cuda_workspace(default_stream);
  }
}

TEST_F(CudaDot, MayBeCalledFromSeveralThreads) {
  const auto x = random_vector<float>(20'000, 1);
  const float* const on_gpu = on_device(x);
  const float expected = dot(20'000, on_gpu, 1, on_gpu, 1, default_stream);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, stream = new_stream()] {
      api.cuCtxSetCurrent(context);
      for (int call = 0; call < 3; ++call) {
        EXPECT_EQ(dot(20'000, on_gpu, 1, on_gpu, 1, CudaStream(stream)), expected);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CudaDot, CanBeCapturedInAGraph) {
  const auto x = random_vector<float>(20'000, 1);
  float* const on_gpu = on_device(x);
  float* const result = on_device(Floats(1));
  const cuda::Stream stream = new_stream();
  const auto sum = [&] { dot(20'000, on_gpu, 1, on_gpu, 1, result, CudaStream(stream)); };
  sum();
  const Floats expected = from_device(result, 1);
  cuda::Graph graph = nullptr;
  cuda::GraphExec exec = nullptr;
  ASSERT_EQ(api.cuStreamBeginCapture(stream, cuda::CaptureMode::global), cuda::Result::success);
  sum();
  ASSERT_EQ(api.cuStreamEndCapture(stream, &graph), cuda::Result::success);
  ASSERT_EQ(api.cuGraphInstantiate(&exec, graph, 0), cuda::Result::success);
  for (int i = 0; i < 2; ++i) {
    const auto address = reinterpret_cast<cuda::DevicePointer>(result);
    ASSERT_EQ(api.cuMemsetD8(address, 0, sizeof(float)), cuda::Result::success);
    EXPECT_EQ(api.cuGraphLaunch(exec, stream), cuda::Result::success);
    EXPECT_EQ(from_device(result, 1), expected);
  }
}

TEST_F(CudaDot, WrongArgumentsReachNoDriver) {
  const auto refused = [](std::int64_t n, const float* x, float* result,
                          const CudaDotOptions& options = {}) {
    return refusal([&] { dot(n, x, 1, x, 1, result, default_stream, options); });
  };
  const auto invalid = [](const char* message) {
    return std::pair(Status::invalid_argument, std::string(message));
  };
  float some = 0;
  EXPECT_EQ(refused(-1, &some, &some), invalid("rung: dot: n is -1; it must be at least 0"));
  EXPECT_EQ(refused(5, nullptr, &some),
            invalid("rung: dot: x is null; it must point to 5 elements"));
  EXPECT_EQ(refused(0, nullptr, nullptr),
            invalid("rung: dot: result is null; it must point to a number"));
  EXPECT_EQ(refused(1, &some, &some, {.mode = static_cast<DotMode>(7)}).first,
            Status::invalid_argument);
  EXPECT_EQ(refused(1, &some, &some, {.workspace_bytes = 5}),
            invalid("rung: dot: the workspace is null; it must point to 5 bytes"));
  void* const aligned = reinterpret_cast<void*>(std::uintptr_t{4096});
  EXPECT_EQ(refused(1, &some, &some, {.workspace = aligned, .workspace_bytes = 4096}),
            invalid("rung: dot: the workspace has 4096 bytes; it must have at least 1048576"));
  EXPECT_TRUE(cuda::driver_calls().empty());
}

TEST_F(CudaDot, FailedWorkIsADeviceError) {
  vgpu::set_launch_observer({});
  const auto* const nowhere = reinterpret_cast<const float*>(64);
  const auto [status, message] = refusal([&] { dot(4, nowhere, 1, nowhere, 1, default_stream); });
  EXPECT_EQ(status, Status::device_error);
  EXPECT_NE(message.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << message;
}

TEST_F(CudaDot, ComesFromC) {
  const std::vector<float> x = {1, 2, 3};
  const float* const on_gpu = on_device(x);
  float* const result = on_device(Floats(1));
  float sum = 0;
  rung_cuda_dot_options options = RUNG_CUDA_DOT_OPTIONS_INIT;
  EXPECT_EQ(rung_cuda_dot_f32(3, on_gpu, 1, on_gpu, -1, result, nullptr, nullptr), RUNG_OK);
  EXPECT_EQ(from_device(result, 1).front(), 10);
  options.mode = RUNG_DOT_REPRODUCIBLE;
  options.result_on_host = 1;
  EXPECT_EQ(rung_cuda_dot_f32(3, on_gpu, 1, on_gpu, 1, &sum, nullptr, &options), RUNG_OK);
  EXPECT_EQ(sum, 14);
}

TEST(CudaDotRules, LeaveASumInOneLaunchWithinTheLeastWorkspace) {
  constexpr int many_multiprocessors = 1000;
  for (const CudaDotRule& rule : tuned::cuda_dot_rules) {
    const cuda::NamedDotRung& named = cuda::dot_rungs.at(static_cast<std::size_t>(rule.use));
    for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1} << 20, std::int64_t{1} << 45}) {
      const Dot<double> problem = {n, nullptr, 0, nullptr, 0};
      const auto [launch, finish, sums] =
          named.rung->launches.of<double>()(problem, many_multiprocessors);
      EXPECT_EQ(finish, cuda::Finish::none) << named.id;
      EXPECT_EQ(sums, 1);
      EXPECT_GE(launch.grid.count(), 1);
      EXPECT_LE(launch.grid.count(), std::numeric_limits<int>::max());
      EXPECT_LE(launch.workspace_bytes + 256, cuda::least_dot_workspace_bytes);
    }
  }
}

TEST(CudaDotRules, SomeOneFitsEveryDot) {
  for (const DotMode mode : modes) {
    for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::bf16, Dtype::f16}) {
      for (const std::int64_t n : {std::int64_t{0}, any_size}) {
        const std::string id(choose_cuda_dot({dtype, n, mode, 75}).id);
        EXPECT_EQ(id.ends_with("compensated"), mode == DotMode::compensated);
        EXPECT_EQ(id.ends_with("reproducible"), mode == DotMode::reproducible);
      }
    }
  }
}

}  // namespace
}  // namespace rung
