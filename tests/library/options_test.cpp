// Every entry point for CPUs with every option: it is honoured, or refused with a one-line message.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "entry_points.hpp"

namespace rung::entry {
namespace {

constexpr int modes = 4;
constexpr int thread_counts[] = {1, 3};

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

struct Result {
  rung_status status;
  std::vector<double> values;
};

/// A refused call must leave the result unchanged, and name the mode.
Result result_of(const Call& call, int threads, int mode) {
  std::ranges::fill(call.result, std::byte{0x11});
  const rung_status status = call.run(threads, mode);
  if (status == RUNG_OK) return {status, call.values()};
  EXPECT_TRUE(std::ranges::all_of(call.result, [](std::byte b) { return b == std::byte{0x11}; }));
  const std::string message = rung_last_error();
  EXPECT_TRUE(message.starts_with("rung: ") && !has(message, "\n")) << message;
  EXPECT_TRUE(has(message, "mode is " + std::to_string(mode))) << message;
  return {status, {}};
}

bool is_dot(const EntryPoint& entry) { return std::string(entry.function).starts_with("rung_dot"); }

/// True for modes supported by a function with separate rules.
bool has_mode(const EntryPoint& entry, int mode) {
  const std::string function = entry.function;
  if (function == "rung_gemm_weight_only") return mode == RUNG_COMPUTE_STANDARD;
  if (function == "rung_gemm_block_scaled") {
    return mode == RUNG_COMPUTE_STANDARD || mode == RUNG_COMPUTE_BATCH_INVARIANT;
  }
  if (function == "rung_gemm" && mode == RUNG_COMPUTE_REPRODUCIBLE && !has(entry.variant, "by")) {
    return entry.variant.starts_with("f32") || entry.variant.starts_with("i");
  }
  return true;
}

/// True if the mode promises the same bits with any number of threads.
bool fixes_bits(const EntryPoint& entry, int mode) {
  return is_dot(entry) ? mode != RUNG_DOT_FAST : mode >= RUNG_COMPUTE_REPRODUCIBLE;
}

void expect_near(const std::vector<double>& values, const std::vector<double>& expected) {
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_NEAR(values[i], expected[i], 0.02 * (1 + std::abs(expected[i]))) << i;
  }
}

std::vector<Problem> problems() {
  std::vector<Problem> all;
  for (int layouts = 0; layouts < 8; ++layouts) {
    all.push_back({.m = 5,
                   .n = 7,
                   .k = 520,
                   .count = 3,
                   .a_by_columns = (layouts & 1) != 0,
                   .b_by_columns = (layouts & 2) != 0,
                   .c_by_columns = (layouts & 4) != 0,
                   .padding = layouts % 3,
                   .integers = false,
                   .seed = 7});
  }
  all.push_back({.m = 3, .n = 4, .k = 5, .count = 2, .alpha = 0});
  all.push_back({.m = 3, .n = 4, .k = 0, .count = 2});
  all.push_back({.m = 70, .n = 40, .k = 200, .count = 6, .integers = false, .seed = 8});
  return all;
}

void expect_honoured_or_refused(const EntryPoint& entry, const Problem& problem) {
  const Call call = entry.make(problem, allocate);
  const Call reference =
      (entry.reference == nullptr ? entry : *entry.reference).make(problem, allocate);
  const Result standard = result_of(call, 1, RUNG_COMPUTE_STANDARD);
  ASSERT_EQ(standard.status, RUNG_OK) << rung_last_error();
  for (int mode = 0; mode < modes; ++mode) {
    SCOPED_TRACE(testing::Message() << "mode " << mode);
    Result expected = result_of(reference, 1, mode);
    if (entry.reference == nullptr) {
      EXPECT_EQ(expected.status == RUNG_OK, has_mode(entry, mode));
    }
    // Some entry points compute only the first product.
    if (expected.values.size() > standard.values.size()) {
      expected.values.resize(standard.values.size());
    }
    for (const int threads : thread_counts) {
      const Result result = result_of(call, threads, mode);
      ASSERT_EQ(result.status, expected.status) << threads << rung_last_error();
      if (result.status != RUNG_OK) continue;
      expect_near(result.values, standard.values);
      if (fixes_bits(entry, mode)) {
        EXPECT_EQ(result.values, expected.values) << threads;
      }
    }
  }
}

TEST(Options, AreHonouredOrRefused) {
  for (const EntryPoint& entry : entry_points()) {
    SCOPED_TRACE(entry.name());
    for (const Problem& problem : problems()) expect_honoured_or_refused(entry, problem);
  }
}

void expect_wrong_ones_refused(const EntryPoint& entry) {
  const Call call = entry.make({.m = 3, .n = 4, .k = 5}, allocate);
  const std::vector<std::byte> before(call.result.begin(), call.result.end());
  for (const int mode : {-1, 4, 1 << 30}) {
    EXPECT_EQ(call.run(1, mode), RUNG_INVALID_ARGUMENT) << mode;
    EXPECT_TRUE(has(rung_last_error(), "mode is " + std::to_string(mode)));
  }
  EXPECT_EQ(call.run(-1, 0), RUNG_INVALID_ARGUMENT);
  EXPECT_TRUE(has(rung_last_error(), "threads is -1; it must be at least 0"));
  EXPECT_EQ(std::vector<std::byte>(call.result.begin(), call.result.end()), before);
}

TEST(Options, WrongOnesAreRefused) {
  for (const EntryPoint& entry : entry_points()) {
    SCOPED_TRACE(entry.name());
    expect_wrong_ones_refused(entry);
  }
}

TEST(EntryPoints, GiveZeroForSumsOfNothing) {
  Problem problem = {.m = 3, .n = 4, .k = 0, .count = 2};
  problem.alpha = std::numeric_limits<double>::infinity();
  for (const EntryPoint& entry : entry_points()) {
    SCOPED_TRACE(entry.name());
    const Call call = entry.make(problem, allocate);
    if (call.run(1, 0) == RUNG_INVALID_ARGUMENT) {
      EXPECT_TRUE(has(rung_last_error(), "for integers it must be a whole number of 32 bits"));
      continue;
    }
    for (const double value : call.values()) EXPECT_EQ(value, 0);
  }
}

TEST(EntryPoints, NeedNoMemoryForNoProducts) {
  const auto none = [](std::size_t bytes) { return bytes == 0 ? nullptr : allocate(bytes); };
  for (const EntryPoint& entry : entry_points()) {
    const Call call = entry.make({.m = 3, .n = 4, .k = 5, .count = 0}, none);
    EXPECT_EQ(call.run(1, 0), RUNG_OK) << entry.name() << rung_last_error();
  }
}

/// Functions of rung.h that compute on CPUs: those with pointers to operands.
std::set<std::string> declared_functions() {
  std::ifstream file(std::string(RUNG_HEADERS) + "/rung.h");
  std::stringstream text;
  text << file.rdbuf();
  const std::string header = text.str();
  std::set<std::string> names;
  const std::regex function("RUNG_C_API rung_status (rung_\\w+)\\([^;]*\\*");
  for (std::sregex_iterator at(header.begin(), header.end(), function), end; at != end; ++at) {
    const std::string name = (*at)[1];
    if (!name.starts_with("rung_cuda_") && name != "rung_packed_weights_bytes") names.insert(name);
  }
  return names;
}

TEST(EntryPoints, AreAllOfTheHeader) {
  std::set<std::string> listed;
  for (const EntryPoint& entry : entry_points()) listed.insert(entry.function);
  EXPECT_EQ(listed, declared_functions());
}

}  // namespace
}  // namespace rung::entry
