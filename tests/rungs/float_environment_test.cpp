// All threads of a rung compute in the floating-point environment of the call, regardless of that
// in which the threads were created.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include "../float_modes.hpp"
#include "backends/rungs/cpu.hpp"
#include "device/cpu/parallel.hpp"
#include "rung/types.hpp"

namespace rung {
namespace {

using cpu::ScopedFloatControl;

constexpr int threads = 3;
constexpr FloatMode modes[] = {float_modes[0], float_modes[1], float_modes[4]};

/// Creates the workers of this process if necessary, and wakes them: for the next microseconds,
/// they join a loop immediately.
void synchronize_workers() {
  std::atomic<int> arrived = 0;
  cpu::parallel_for(threads, threads, [&](std::int64_t) {
    ++arrived;
    for (int wait = 0; wait < 100'000 && arrived < threads; ++wait) std::this_thread::yield();
  });
}

/// Terms of sums of two exact products, rounded once in any order.
struct Terms {
  double first, second;
};

template <class In>
Terms inexact_sum() {
  return {1.25, sizeof(In) == 8 ? 0x1p-40 : 0x1p-24};
}
template <class In>
Terms subnormal_sum() {
  return {sizeof(In) == 8 ? 0x1.8p-520 : 0x1.8p-66, 0};
}

template <class Out>
Out rounded_sum(const Terms& terms) {
  // Keeps the compiler from rounding to nearest.
  volatile double first = terms.first, second = terms.second;
  return static_cast<Out>(first * first) + static_cast<Out>(second * second);
}

/// The number of elements of an n x 2 by 2 x n product that differ from the sum in the caller's
/// environment.
template <class In>
int wrong_elements(const cpu::GemmRung& rung, const Terms& terms, int threads_of_call) {
  using Out = std::conditional_t<std::is_same_v<In, double>, double, float>;
  constexpr std::int64_t n = 128;
  std::vector<In> a;
  for (std::int64_t i = 0; i < n; ++i) {
    a.push_back(In(static_cast<Out>(terms.first)));
    a.push_back(In(static_cast<Out>(terms.second)));
  }
  std::vector<Out> c(n * n, Out{-1});
  const Gemm<In, Out> product = {
      n, n, 2, 1, {a.data(), 2, 1}, {a.data(), 1, 2}, 0, {c.data(), n, 1}};
  if (threads_of_call > 1) synchronize_workers();
  rung.function<In, Out>()(product, threads_of_call);
  const Out expected = rounded_sum<Out>(terms);
  int wrong = 0;
  for (const Out element : c) wrong += element == expected ? 0 : 1;
  return wrong;
}

void expect_products_of_caller(const char* mode) {
  for (const auto& [name, rung] : cpu::gemm_rungs) {
    // Instructions for bfloat16 round to nearest and flush subnormals in every environment.
    for (const int count : {1, threads}) {
      EXPECT_EQ(wrong_elements<float>(*rung, inexact_sum<float>(), count), 0) << name << mode;
      EXPECT_EQ(wrong_elements<double>(*rung, inexact_sum<double>(), count), 0) << name << mode;
      EXPECT_EQ(wrong_elements<float16>(*rung, inexact_sum<float16>(), count), 0) << name << mode;
      EXPECT_EQ(wrong_elements<float>(*rung, subnormal_sum<float>(), count), 0) << name << mode;
      EXPECT_EQ(wrong_elements<double>(*rung, subnormal_sum<double>(), count), 0) << name << mode;
    }
  }
}

template <class In>
void expect_same_sum(const cpu::DotRung& rung, std::string_view name, const char* mode) {
  std::vector<In> x;
  for (int i = 0; i < 100'000; ++i) x.push_back(In(1 + static_cast<float>(i % 251) / 256));
  const Dot<In> dot = {static_cast<std::int64_t>(x.size()), x.data(), 1, x.data(), 1};
  const auto alone = rung.function<In>()(dot, 1);
  synchronize_workers();
  EXPECT_EQ(rung.function<In>()(dot, threads), alone) << name << mode;
}

void expect_dots_of_caller(const char* mode) {
  for (const auto& [name, rung] : cpu::dot_rungs) {
    expect_same_sum<float>(*rung, name, mode);
    expect_same_sum<double>(*rung, name, mode);
    expect_same_sum<bfloat16>(*rung, name, mode);
    expect_same_sum<float16>(*rung, name, mode);
  }
}

class FloatEnvironment : public testing::TestWithParam<FloatMode> {};

TEST_P(FloatEnvironment, OfAllThreadsIsTheCallers) {
  const pid_t child = fork();  // a process without workers
  if (child == 0) {
    {
      const ScopedFloatControl first(GetParam().control);
      synchronize_workers();
    }
    for (const FloatMode& mode : modes) {
      const ScopedFloatControl now(mode.control);
      expect_products_of_caller(mode.name);
      expect_dots_of_caller(mode.name);
    }
    _exit(HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
}

INSTANTIATE_TEST_SUITE_P(WorkersCreated, FloatEnvironment, testing::ValuesIn(modes),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace rung
