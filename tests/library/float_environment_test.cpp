// The caller's floating-point environment: modes that promise bits ignore it, standard products use
// it on every thread, and calls do not change it.

#include <fenv.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "../float_modes.hpp"
#include "core/random.hpp"
#include "rung/rung.h"
#include "rung/rung.hpp"

namespace rung::float_environment {
namespace {

using cpu::ScopedFloatControl;
using Bytes = std::string;

constexpr std::int64_t n = 96;  // large enough for two threads

struct Call {
  std::string name;
  std::function<Bytes(int threads)> run;
};

template <class T>
Bytes bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// The same numbers in every environment. Products of tiny ones are subnormal.
template <class T>
const std::vector<T>& elements(std::int64_t count, std::uint64_t seed, bool is_tiny = false) {
  static std::map<std::tuple<std::int64_t, std::uint64_t, bool>, std::vector<T>> made;
  std::vector<T>& values = made[{count, seed, is_tiny}];
  if (!values.empty()) return values;
  const ScopedFloatControl usual(cpu::default_float_control);
  for (std::int64_t i = 0; i < count; ++i) {
    const T value = random_element<T>(Values::reals, seed, i);
    if constexpr (std::is_same_v<T, double>) {
      values.push_back(is_tiny ? value * 0x1p-1035 : value);
    } else {
      constexpr float tiny = std::is_same_v<T, float16> ? 0x1p-18f : 0x1p-133f;
      values.push_back(is_tiny ? T(static_cast<float>(value) * tiny) : value);
    }
  }
  return values;
}

template <class T>
using Result = std::conditional_t<std::is_same_v<T, double>, double, float>;

template <class T>
Bytes product(ComputeMode mode, bool is_tiny, int threads) {
  const auto &a = elements<T>(n * n, 1, is_tiny), &b = elements<T>(n * n, 2);
  auto c = elements<Result<T>>(n * n, 3, is_tiny);
  gemm(Result<T>(1.5), row_major(a.data(), n, n), row_major(b.data(), n, n), Result<T>(0.7),
       row_major(c.data(), n, n), {.threads = threads, .compute_mode = mode});
  return bytes_of(c);
}

Bytes batch(ComputeMode mode, int threads) {
  const auto &a = elements<float>(n * n, 1, true), &b = elements<float>(n * n, 2);
  std::vector<float> c(n * n);
  constexpr std::int64_t size = n / 4;
  const auto matrices = [](auto* data) {
    return strided(row_major(data, size, size), 16, size * size);
  };
  gemm_batched(0.7f, matrices(a.data()), matrices(b.data()), 0.0f, matrices(c.data()),
               {.threads = threads, .compute_mode = mode});
  return bytes_of(c);
}

Bytes groups(ComputeMode mode, int threads) {
  const auto &a = elements<float>(n * n, 1, true), &b = elements<float>(2 * n * n, 2);
  std::vector<float> c(n * n);
  const std::int32_t offsets[] = {0, 17, n};
  gemm_grouped(0.7f, row_major(a.data(), n, n), strided(row_major(b.data(), n, n), 2, n * n), 0.0f,
               row_major(c.data(), n, n), offsets, {.threads = threads, .compute_mode = mode});
  return bytes_of(c);
}

Bytes epilogue(ComputeMode mode, int threads) {
  const auto &a = elements<float>(n * n, 1, true), &b = elements<float>(n * n, 2);
  const auto& bias = elements<float16>(n, 3);
  auto c = elements<float16>(n * n, 4);
  gemm_epilogue(0.1, row_major(a.data(), n, n), row_major(b.data(), n, n), 0.3,
                row_major(c.data(), n, n),
                {.column_bias = {bias.data(), n}, .activation = Activation::gelu_tanh},
                {.threads = threads, .compute_mode = mode});
  return bytes_of(c);
}

Bytes mixed(ComputeMode mode, int threads) {
  const auto& a = elements<bfloat16>(n * n, 1, true);
  const auto& b = elements<float>(n * n, 2);
  std::vector<float> c(n * n);
  gemm(0.7f, row_major(a.data(), n, n), row_major(b.data(), n, n), 0.0f, row_major(c.data(), n, n),
       {.threads = threads, .compute_mode = mode});
  return bytes_of(c);
}

Bytes block_scaled(ComputeMode mode, int threads) {
  std::vector<float8_e4m3> a;
  for (const float element : elements<float>(n * n, 1)) a.emplace_back(element);
  const auto& scales = elements<float>(n, 2);
  std::vector<bfloat16> c(n * n);
  const BlockScaledMatrix left = {row_major<const float8_e4m3>(a.data(), n, n),
                                  row_major<const float>(scales.data(), n, 1)};
  const BlockScaledMatrix right = {left.elements, row_major<const float>(scales.data(), 1, 1)};
  gemm_block_scaled(0.7f, left, right, 0, row_major(c.data(), n, n),
                    {.threads = threads, .compute_mode = mode});
  return bytes_of(c);
}

/// Calls the C interface, which rounds alpha to the type of the sums.
Bytes tensors(int mode, int threads) {
  const auto &a = elements<float>(n * n, 1, true), &b = elements<float>(n * n, 2);
  std::vector<float> c(n * n);
  const std::int64_t shape[] = {n, n};
  const auto tensor = [&shape](const float* data) {
    return rung_tensor{const_cast<float*>(data), RUNG_DEVICE_CPU, 0,      2,
                       RUNG_DTYPE_F32,           shape,           nullptr};
  };
  const rung_tensor of_a = tensor(a.data()), of_b = tensor(b.data()), of_c = tensor(c.data());
  rung_tensor_options options = RUNG_TENSOR_OPTIONS_INIT;
  options.threads = threads;
  options.compute_mode = mode;
  EXPECT_EQ(rung_gemm(&of_a, &of_b, &of_c, 0.1, 0, &options), RUNG_OK) << rung_last_error();
  return bytes_of(c);
}

template <class T>
Bytes sum(DotMode mode, bool is_tiny, int threads) {
  const auto &x = elements<T>(100'003, 1, is_tiny), &y = elements<T>(100'003, 2);
  const Result<T> result =
      dot(std::span<const T>(x), std::span<const T>(y), {.threads = threads, .mode = mode});
  return bytes_of(std::vector<Result<T>>{result});
}

template <class T>
void add_sums(std::vector<Call>& calls, const std::string& type) {
  for (const DotMode mode : {DotMode::deterministic, DotMode::compensated, DotMode::reproducible}) {
    for (const bool is_tiny : {false, true}) {
      calls.push_back({"dot " + type + " mode " + std::to_string(static_cast<int>(mode)),
                       [=](int threads) { return sum<T>(mode, is_tiny, threads); }});
    }
  }
}

/// Every entry point in every mode that promises bits.
std::vector<Call> calls_that_promise_bits() {
  constexpr auto exact = ComputeMode::reproducible, invariant = ComputeMode::batch_invariant;
  std::vector<Call> calls;
  for (const bool is_tiny : {false, true}) {
    calls.push_back({"reproducible", [=](int t) { return product<float>(exact, is_tiny, t); }});
    calls.push_back({"f32", [=](int t) { return product<float>(invariant, is_tiny, t); }});
    calls.push_back({"f64", [=](int t) { return product<double>(invariant, is_tiny, t); }});
    calls.push_back({"bf16", [=](int t) { return product<bfloat16>(invariant, is_tiny, t); }});
    calls.push_back({"f16", [=](int t) { return product<float16>(invariant, is_tiny, t); }});
  }
  for (const ComputeMode mode : {exact, invariant}) {
    const std::string name = std::to_string(static_cast<int>(mode));
    calls.push_back({"batch, mode " + name, [=](int t) { return batch(mode, t); }});
    calls.push_back({"groups, mode " + name, [=](int t) { return groups(mode, t); }});
    calls.push_back({"epilogue, mode " + name, [=](int t) { return epilogue(mode, t); }});
    calls.push_back({"mixed, mode " + name, [=](int t) { return mixed(mode, t); }});
    calls.push_back({"C, mode " + name, [=](int t) { return tensors(static_cast<int>(mode), t); }});
  }
  for (const ComputeMode mode : {ComputeMode::standard, invariant}) {
    calls.push_back({"block scales", [=](int t) { return block_scaled(mode, t); }});
  }
  add_sums<float>(calls, "f32");
  add_sums<double>(calls, "f64");
  add_sums<bfloat16>(calls, "bf16");
  add_sums<float16>(calls, "f16");
  return calls;
}

/// The results of all calls in a process whose first calls are made in this environment, in which
/// one-time setup, including that of workers, takes place.
Bytes results_after(const FloatMode& first) {
  const auto calls = calls_that_promise_bits();
  std::vector<Bytes> expected;
  for (const Call& call : calls) {
    const ScopedFloatControl of_first(first.control);
    expected.push_back(call.run(2));
  }
  for (const FloatMode& mode : float_modes) {
    for (const int threads : {1, 2}) {
      for (std::size_t i = 0; i < calls.size(); ++i) {
        const ScopedFloatControl of_caller(mode.control);
        EXPECT_TRUE(calls[i].run(threads) == expected[i])
            << calls[i].name << ", " << threads << " threads, " << mode.name << " after "
            << first.name;
        EXPECT_EQ(cpu::float_control(), mode.control) << calls[i].name;
      }
    }
  }
  Bytes all;
  for (const Bytes& bytes : expected) all += bytes;
  return all;
}

/// Runs `body` in a new process. Returns true if it returned and no expectation failed.
template <class Body>
bool holds_in_child(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(FloatEnvironment, DoesNotChangePromisedBits) {
  std::vector<std::size_t> digests;
  for (const FloatMode& first : float_modes) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    EXPECT_TRUE(holds_in_child([&] {
      const std::size_t digest = std::hash<Bytes>()(results_after(first));
      EXPECT_EQ(write(ends[1], &digest, sizeof digest), ssize_t{sizeof digest});
    })) << first.name;
    close(ends[1]);
    std::size_t digest = 0;
    EXPECT_EQ(read(ends[0], &digest, sizeof digest), ssize_t{sizeof digest});
    close(ends[0]);
    digests.push_back(digest);
  }
  for (const std::size_t digest : digests) EXPECT_EQ(digest, digests.front());
}

TEST(FloatEnvironment, IsRestoredAfterAnException) {
  const std::vector<float> a(6);
  std::vector<float> c(4);
  const ScopedFloatControl of_caller(float_modes[1].control);
  EXPECT_THROW(gemm(row_major(a.data(), 2, 3), row_major(a.data(), 2, 3), row_major(c.data(), 2, 2),
                    {.compute_mode = ComputeMode::reproducible}),
               Error);
  EXPECT_EQ(cpu::float_control(), float_modes[1].control);
}

#if defined(__x86_64__) || defined(__aarch64__)
/// The number of elements of a size x size product that are larger when rounded upward than when
/// rounded downward.
int elements_that_differ(std::int64_t size, int threads) {
  const auto &a = elements<double>(size * size, 1), &b = elements<double>(size * size, 2);
  std::vector<double> up(a.size()), down(a.size());
  const auto multiply = [&](cpu::FloatControl direction, std::vector<double>& c) {
    const ScopedFloatControl of_caller(cpu::default_float_control | direction);
    gemm(row_major(a.data(), size, size), row_major(b.data(), size, size),
         row_major(c.data(), size, size), {.threads = threads});
  };
  multiply(upward, up);
  multiply(downward, down);
  int differ = 0;
  for (std::size_t i = 0; i < up.size(); ++i) differ += up[i] > down[i] ? 1 : 0;
  return differ;
}

TEST(FloatEnvironment, BoundsStandardProductsOnEveryThread) {
  for (const int size : {5, 40, 300}) {
    for (const int threads : {1, 2}) {
      EXPECT_EQ(elements_that_differ(size, threads), size * size) << size << ", " << threads;
    }
  }
}
#endif

template <class T>
std::vector<float> all_values() {
  std::vector<float> values;
  for (std::uint32_t bits = 0; bits < 1u << (8 * sizeof(T)); ++bits) {
    T element;
    element.bits = static_cast<decltype(element.bits)>(bits);
    values.push_back(static_cast<float>(element));
  }
  return values;
}

/// Floats that are not representable in the type, and beyond both ends of its range.
template <class T>
std::vector<T> narrowed_values() {
  std::vector<T> narrow;
  for (std::uint32_t bits = 0; bits < 0x7F800000u; bits += 12'289) {
    narrow.emplace_back(std::bit_cast<float>(bits));
  }
  return narrow;
}

Bytes all_conversions() {
  return bytes_of(all_values<float16>()) + bytes_of(all_values<float8_e4m3>()) +
         bytes_of(all_values<float8_e5m2>()) + bytes_of(narrowed_values<bfloat16>()) +
         bytes_of(narrowed_values<float16>()) + bytes_of(narrowed_values<float8_e4m3>()) +
         bytes_of(narrowed_values<float8_e5m2>());
}

/// Exact sums, rounded to the type of C.
template <class Out>
Bytes rounded_sums() {
  const auto& a = elements<float16>(n * n, 1);
  std::vector<float16> one(n * n);
  for (int i = 0; i < n; ++i) one[static_cast<std::size_t>(i * n + i)] = float16(1.0f);
  std::vector<Out> c(n * n);
  gemm_epilogue(37, row_major(a.data(), n, n), row_major(one.data(), n, n), 0,
                row_major(c.data(), n, n), {});
  return bytes_of(c);
}

TEST(FloatEnvironment, DoesNotChangeConversions) {
  const auto all = [] {
    return all_conversions() + rounded_sums<float16>() + rounded_sums<bfloat16>() +
           rounded_sums<float8_e4m3>() + rounded_sums<std::int8_t>() + rounded_sums<std::int32_t>();
  };
  const Bytes expected = all();
  for (const FloatMode& mode : float_modes) {
    const ScopedFloatControl of_caller(mode.control);
    EXPECT_TRUE(all() == expected) << mode.name;
  }
}

#if defined(__GLIBC__) && defined(__x86_64__)
template <class Mode>
void overflow(Mode mode, int threads) {
  const std::vector<float> a(300 * 300, 1e30f);
  if constexpr (std::is_same_v<Mode, DotMode>) {
    EXPECT_EQ(dot(a, a, {.threads = threads, .mode = mode}), INFINITY);
  } else {
    std::vector<float> c(a.size());
    gemm(row_major(a.data(), 300, 300), row_major(a.data(), 300, 300),
         row_major(c.data(), 300, 300), {.threads = threads, .compute_mode = mode});
    EXPECT_EQ(c, std::vector<float>(a.size(), INFINITY));
  }
}

TEST(FloatEnvironment, PromisedBitsNeverTrap) {
  EXPECT_TRUE(holds_in_child([] {
    feenableexcept(FE_DIVBYZERO | FE_INEXACT | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW);
    for (const int threads : {1, 2}) {
      overflow(DotMode::deterministic, threads);
      overflow(DotMode::compensated, threads);
      overflow(DotMode::reproducible, threads);
      overflow(ComputeMode::batch_invariant, threads);
      overflow(ComputeMode::reproducible, threads);
    }
  }));
}

TEST(FloatEnvironment, StandardProductsTrapInTheCallingThread) {
  for (const int threads : {1, 2}) {
    EXPECT_TRUE(holds_in_child([threads] {
      std::signal(SIGFPE, [](int) { _exit(gettid() == getpid() ? 0 : 1); });
      feenableexcept(FE_OVERFLOW);
      overflow(ComputeMode::standard, threads);
      EXPECT_TRUE(false) << "no trap";
    })) << threads;
  }
}

TEST(FloatEnvironment, WorkersDoNotTrapLater) {
  EXPECT_TRUE(holds_in_child([] {
    const std::vector<float> a(300 * 300, 1.0f);
    std::vector<float> c(a.size());
    feenableexcept(FE_OVERFLOW);
    gemm(row_major(a.data(), 300, 300), row_major(a.data(), 300, 300),
         row_major(c.data(), 300, 300), {.threads = 2});
    fedisableexcept(FE_ALL_EXCEPT);
    feclearexcept(FE_ALL_EXCEPT);
    overflow(ComputeMode::standard, 2);
    EXPECT_TRUE(fetestexcept(FE_OVERFLOW));
  }));
}
#endif

}  // namespace
}  // namespace rung::float_environment
