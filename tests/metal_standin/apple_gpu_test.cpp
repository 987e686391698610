// The host code for Apple's GPUs, on the stand-in for metal-cpp.

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../rungs/rungs_under_test.hpp"
#include "backends/metal/apple/apple_gpu.hpp"
#include "backends/metal/images.hpp"
#include "backends/rungs/metal.hpp"
#include "core/case.hpp"
#include "core/kernel_error.hpp"
#include "core/verify.hpp"
#include "standin.hpp"
#include "tools/measure/timing.hpp"

namespace rung::metal {
namespace {

constexpr int threads = 2;
constexpr std::array dtypes = {Dtype::f32, Dtype::i32, Dtype::bf16, Dtype::f16};
constexpr std::string_view naive = "gemm/metal/00_naive";

const Backend& gpu() { return *find_backend("gpu", "metal"); }

/// The message of the KernelError that `action` throws.
std::string failure_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const KernelError& error) {
    return error.what();
  }
  return "nothing went wrong";
}

class AppleGpu : public testing::Test {
 protected:
  void TearDown() override { metal_standin::faults() = {}; }
};

class AppleGpuRungs : public testing::TestWithParam<RungAndDtype> {
 protected:
  void SetUp() override {
    const auto why_not = gpu().why_not(rung_, dtype_);
    if (why_not) GTEST_SKIP() << *why_not;
  }

  const RungInfo& rung_ = *std::get<0>(GetParam());
  const Dtype dtype_ = std::get<1>(GetParam());
};

class AppleGpuGemm : public AppleGpuRungs {};

TEST_P(AppleGpuGemm, IsRight) {
  std::vector<GemmSpec> specs = {
      {.m = 64, .n = 48, .k = 32},
      {.m = 80, .n = 16, .k = 16, .a_transposed = true, .c_padding = 3, .beta = 2, .offset = 4},
      {.m = 7, .n = 67, .k = 19, .b_transposed = true, .a_padding = 5, .alpha = 3, .beta = -1},
      {.m = 65, .n = 1, .k = 0, .beta = 2},
      {.m = 0, .n = 4, .k = 4}};
  int run_here = 0;
  for (GemmSpec& spec : specs) {
    spec.dtype = dtype_;
    GemmCase problem(spec);
    if (gpu().why_not(rung_, problem.call())) continue;  // not a multiple of the tile
    const Verdict verdict =
        verify(problem, [&](const GemmCall& call) { run(gpu(), rung_, call, threads); });
    EXPECT_TRUE(verdict.right) << verdict.message;
    ++run_here;
  }
  EXPECT_GE(run_here, 2);
}

INSTANTIATE_TEST_SUITE_P(StandIn, AppleGpuGemm,
                         testing::Combine(testing::ValuesIn(rungs_under_test("gemm", "metal")),
                                          testing::ValuesIn(dtypes)),
                         test_name);

class AppleGpuDot : public AppleGpuRungs {};

TEST_P(AppleGpuDot, IsRight) {
  for (const std::int64_t n : {0, 1, 513, 4099}) {
    DotCase problem({.dtype = dtype_, .n = n, .incx = n == 513 ? -2 : 1});
    const Verdict verdict =
        verify(problem, [&](const DotCall& call) { return run(gpu(), rung_, call, threads); });
    EXPECT_TRUE(verdict.right) << verdict.message;
  }
}

INSTANTIATE_TEST_SUITE_P(StandIn, AppleGpuDot,
                         testing::Combine(testing::ValuesIn(rungs_under_test("dot", "metal")),
                                          testing::ValuesIn(dtypes)),
                         test_name);

TEST_F(AppleGpu, IsDescribed) {
  EXPECT_EQ(gpu().absent(), std::nullopt);
  EXPECT_EQ(gpu().device(), "gpu stand-in for Metal");
  EXPECT_EQ(gpu().code(*select({std::string(naive)}).front()), "source, which Metal compiles");
}

TEST_F(AppleGpu, MayBeAbsent) {
  metal_standin::faults().no_device = true;
  const auto backend = make_backend("gpu", {}, "metal");
  EXPECT_EQ(backend->absent(), "no device of Metal");
  EXPECT_EQ(backend->why_not(*select({std::string(naive)}).front(), Dtype::f32),
            "no device of Metal");
}

TEST_F(AppleGpu, MayBeTooOld) {
  metal_standin::faults().old_device = true;
  EXPECT_EQ(make_backend("gpu", {}, "metal")->absent(),
            "stand-in for Metal is no GPU of Apple's family 7 (M1) or later");
}

TEST_F(AppleGpu, RunsManyCallsInOrder) {
  constexpr int calls = 300;  // more than are in flight at once
  const GemmSpec spec = {.m = 5, .n = 3, .k = 2, .beta = 1, .values = Values::integers};
  GemmCase on_gpu(spec), on_cpu(spec);
  const BoundCall batch = gpu().bind(*select({std::string(naive)}).front(), on_gpu.call(), threads);
  batch.run(calls);
  batch.download();
  const Backend& cpu = *find_backend("cpu");
  cpu.bind(*select({"gemm/cpu/00"}).front(), on_cpu.call(), 1).run(calls);
  EXPECT_EQ(on_gpu.c().fingerprint(), on_cpu.c().fingerprint());
}

/// A product of 1 x 1 matrices in f32: c = a b.
struct OneByOne {
  explicit OneByOne(Device& on) : device(on), numbers(on.allocate(3 * sizeof(float))) {
    const float values[] = {2, 3, 0};
    numbers->write(0, values, sizeof values);
  }

  void dispatch(Launch launch = {{1}, {16, 16}}, std::int64_t c_offset = 2 * sizeof(float)) {
    const Argument arguments[] = {{.bytes = std::as_bytes(std::span(&scalars, 1))},
                                  {{}, numbers.get(), 0},
                                  {{}, numbers.get(), sizeof(float)},
                                  {{}, numbers.get(), c_offset}};
    device.dispatch(device.pipeline(naive, "gemm_metal_00_naive_f32"), launch, arguments, threads);
  }
  float result() const {
    float value = 0;
    numbers->read(&value, 2 * sizeof value, sizeof value);
    return value;
  }

  Device& device;
  std::unique_ptr<Buffer> numbers;
  GemmScalars<float> scalars = {.m = 1,
                                .n = 1,
                                .k = 1,
                                .a_row_stride = 1,
                                .a_col_stride = 1,
                                .b_row_stride = 1,
                                .b_col_stride = 1,
                                .c_row_stride = 1,
                                .alpha = 1,
                                .beta = 0,
                                .a_is_aligned = 0,
                                .b_is_aligned = 0,
                                .c_is_aligned = 0};
};

TEST_F(AppleGpu, HasResultsOnceItIsWaitedFor) {
  const auto device = open_apple_gpu().device;
  OneByOne product(*device);
  product.dispatch();
  EXPECT_EQ(product.result(), 0);
  device->wait();
  EXPECT_EQ(product.result(), 6);
  EXPECT_EQ(device->seconds(), metal_standin::command_seconds);
  product.dispatch();
  device->set_to_zero(*product.numbers, 2 * sizeof(float), sizeof(float));
  device->wait();
  EXPECT_EQ(product.result(), 0);
}

/// The device time of `calls` calls of a dot product with 513 terms.
std::optional<double> seconds_of_dot(const std::string& rung, std::int64_t calls) {
  const DotCase problem({.n = 513});
  float result = 0;
  const BoundCall batch = gpu().bind(*select({rung}).front(), problem.call(), threads, &result);
  batch.run(calls);
  return batch.device_seconds();
}

TEST_F(AppleGpu, IsTimedByItsOwnClock) {
  const RungInfo& rung = *select({std::string(naive)}).front();
  const GemmCase problem({.m = 5, .n = 3, .k = 2});
  const BoundCall batch = gpu().bind(rung, problem.call(), threads);
  EXPECT_EQ(time_batch(batch, 1), metal_standin::command_seconds);
  EXPECT_EQ(time_batch(batch, 300), 300 * metal_standin::command_seconds);
  batch.wait();  // no work is pending
  EXPECT_EQ(batch.device_seconds(), std::nullopt);

  const GemmCase empty({.m = 0, .n = 3, .k = 2});
  const BoundCall nothing = gpu().bind(rung, empty.call(), threads);
  nothing.run(1);
  EXPECT_EQ(nothing.device_seconds(), std::nullopt);

  EXPECT_EQ(seconds_of_dot("dot/metal/00", 2), std::nullopt);  // the CPU computes the sum
  EXPECT_EQ(seconds_of_dot("dot/metal/01", 2), std::nullopt);
  // A fill and a dispatch, or two dispatches.
  EXPECT_EQ(seconds_of_dot("dot/metal/02", 3), 6 * metal_standin::command_seconds);
  EXPECT_EQ(seconds_of_dot("dot/metal/03", 3), 6 * metal_standin::command_seconds);
}

TEST_F(AppleGpu, HoldsNothingInTheEnd) {
  const std::int64_t before = metal_standin::live_objects();
  {
    const auto device = open_apple_gpu().device;
    OneByOne product(*device);
    for (int i = 0; i < 100; ++i) product.dispatch();
    device->set_to_zero(*product.numbers, 0, sizeof(float));
    product.dispatch();
    device->wait();
    for (int i = 0; i < 100; ++i) product.dispatch();  // without a wait
  }
  EXPECT_EQ(metal_standin::live_objects(), before);
}

TEST_F(AppleGpu, SaysWhatTheCompilerSays) {
  metal_standin::faults().compiler_says = "unknown type name 'flaot'";
  const auto device = open_apple_gpu().device;
  const auto compile = [&] { device->pipeline(naive, "gemm_metal_00_naive_f32"); };
  EXPECT_EQ(failure_of(compile),
            "gemm/metal/00_naive does not compile: program_source:1:1: error: unknown type name "
            "'flaot'");
  metal_standin::faults() = {};
  EXPECT_NO_THROW(compile());
}

TEST_F(AppleGpu, TakesMetallibs) {
  const std::string folder = testing::TempDir();
  ASSERT_EQ(setenv("RUNG_METALLIBS", folder.c_str(), 1), 0);
  const auto device = open_apple_gpu().device;
  ASSERT_EQ(unsetenv("RUNG_METALLIBS"), 0);
  const std::string path = folder + "/gemm_metal_00_naive.metallib";
  std::ofstream(path) << texts().front().text;
  EXPECT_EQ(device->code(naive), "metallib of " + folder);
  OneByOne product(*device);
  product.dispatch();
  device->wait();
  EXPECT_EQ(product.result(), 6);
  EXPECT_EQ(failure_of([&] { device->pipeline("dot/metal/00_multiply", "none"); }),
            folder + "/dot_metal_00_multiply.metallib: no library in the file");
  std::remove(path.c_str());
}

TEST_F(AppleGpu, KnowsItsKernels) {
  const auto device = open_apple_gpu().device;
  EXPECT_EQ(failure_of([&] { device->pipeline(naive, "gemm_metal_00_naive_f64"); }),
            "gemm_metal_00_naive_f64: no such kernel");
  EXPECT_EQ(failure_of([&] { device->pipeline("gemm/metal/99_none", "none"); }),
            "gemm/metal/99_none: no such rung");
}

TEST_F(AppleGpu, SaysWhichCommandBufferFailed) {
  const auto device = open_apple_gpu().device;
  OneByOne product(*device);
  product.dispatch({{1}, {16, 16}}, std::int64_t{1} << 20);
  const std::string failure = failure_of([&] { device->wait(); });
  EXPECT_EQ(failure.find("gemm_metal_00_naive_f32: the command buffer failed: "), 0u) << failure;
  EXPECT_NE(failure.find("out of bounds"), std::string::npos) << failure;
  product.dispatch();  // the device remains usable
  device->wait();
  EXPECT_EQ(product.result(), 6);
}

TEST_F(AppleGpu, RefusesThreadgroupsThatAreTooLarge) {
  const auto device = open_apple_gpu().device;
  OneByOne product(*device);
  EXPECT_EQ(failure_of([&] { product.dispatch({{1}, {64, 32}}); }),
            "gemm_metal_00_naive_f32: a threadgroup of 2048 threads; of this kernel it can have at "
            "most 1024");
  EXPECT_EQ(failure_of([&] { product.dispatch({{1}, {16, 16}, {20000, 0, 20000}}); }),
            "gemm_metal_00_naive_f32: 40000 bytes of threadgroup memory; this GPU has 32768");
  product.dispatch({{1}, {16, 16}, {1000, 0, 1000}});
  device->wait();
  EXPECT_EQ(product.result(), 6);
}

TEST_F(AppleGpu, RefusesGridsBeyondThirtyTwoBits) {
  const auto device = open_apple_gpu().device;
  const std::int64_t most = std::int64_t{1} << 28;
  EXPECT_EQ(device->why_not({{most - 1, 1}, {16, 16}}), std::nullopt);
  EXPECT_EQ(device->why_not({{1, most}, {16, 16}}),
            "1x268435456x1 threadgroups of 16x16x1 threads; Metal has at most 4294967295 each way");
}

TEST_F(AppleGpu, HasNoMemoryWithoutEnd) {
  const auto device = open_apple_gpu().device;
  EXPECT_THROW(device->allocate(std::int64_t{1} << 60), std::bad_alloc);
}

// At run time, Metal has no access to the files of the project, so the texts contain all their
// headers except those for the host (.hpp).
TEST_F(AppleGpu, IsGivenTextsWithAllHeadersInThem) {
  EXPECT_EQ(texts().size(), gemm_rungs.size() + dot_rungs.size());
  for (const auto& [id, text] : texts()) {
    EXPECT_EQ(text.data()[text.size()], '\0');
    EXPECT_NE(text.find("struct DotScalars {"), std::string_view::npos) << id;
    constexpr std::string_view include = "#include \"";
    for (std::size_t at = text.find(include); at != std::string_view::npos;
         at = text.find(include, at + 1)) {
      const std::string_view line = text.substr(at, text.find('\n', at) - at);
      EXPECT_TRUE(line.ends_with(".hpp\"")) << id << ": " << line;
    }
  }
}

}  // namespace
}  // namespace rung::metal
