// Calls from several threads at the same time, each with its own problem, return exact results.

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "../cpu_dtypes.hpp"
#include "core/verify.hpp"
#include "public_call.hpp"

namespace rung {
namespace {

constexpr int callers = 8;

/// Runs body(caller) in 8 threads. Returns the error of each.
template <class Body>
std::vector<std::string> in_parallel(const Body& body) {
  std::vector<std::string> wrong(callers);
  std::vector<std::thread> threads;
  for (int caller = 0; caller < callers; ++caller) {
    threads.emplace_back([&, caller] { wrong[static_cast<std::size_t>(caller)] = body(caller); });
  }
  for (std::thread& thread : threads) thread.join();
  return wrong;
}

const std::vector<std::string> nothing_wrong(callers);

TEST(Concurrency, GemmsOfDifferentShapesAndTypes) {
  const auto wrong = in_parallel([](int caller) {
    GemmCase problem({.dtype = cpu_dtypes[static_cast<std::size_t>(caller) % cpu_dtypes.size()],
                      .m = 150 - 13 * caller,
                      .n = 70 + 11 * caller,
                      .k = 90 + 7 * caller,
                      .b_transposed = caller % 2 == 1,
                      .values = Values::integers,
                      .seed = static_cast<std::uint64_t>(caller) + 1});
    for (int repeat = 0; repeat < 10; ++repeat) {
      const Verdict verdict = verify(problem, [&](const GemmCall& call) {
        public_gemm(call, Form::row_major_c, GemmOptions{.threads = 1 + caller % 3});
      });
      if (!verdict.right) return verdict.message;
    }
    return std::string();
  });
  EXPECT_EQ(wrong, nothing_wrong);
}

TEST(Concurrency, DotsOfDifferentLengths) {
  const auto wrong = in_parallel([](int caller) {
    DotCase problem({.dtype = caller % 2 == 0 ? Dtype::f32 : Dtype::f64,
                     .n = 1'000 + 30'011 * caller,
                     .values = Values::integers,
                     .seed = static_cast<std::uint64_t>(caller) + 1});
    for (int repeat = 0; repeat < 10; ++repeat) {
      const auto mode = static_cast<DotMode>(repeat % 4);
      const Verdict verdict = verify(problem, [&](const DotCall& call) {
        return public_dot(call, {.threads = 2, .mode = mode});
      });
      if (!verdict.right) return verdict.message;
    }
    return std::string();
  });
  EXPECT_EQ(wrong, nothing_wrong);
}

}  // namespace
}  // namespace rung
